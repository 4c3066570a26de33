import { expect, test } from 'bun:test'
import { newKey } from '../../src/core/keys.ts'
import { logRequest } from '../../src/http/access-log.ts'

function pathLogged(path: string): unknown {
  const lines: object[] = []
  const log = { info: (fields: object) => void lines.push(fields) }
  logRequest(log, new Request(`http://x${path}`), new Response(), 1)
  return Object.fromEntries(Object.entries(lines[0] ?? {}))['path']
}

test.each(['inference', 'management'] as const)('a %s key in the path is not logged', (kind) => {
  const key = newKey(kind)
  expect(pathLogged(`/v1/keys/${key}/more?${key}`)).toBe(
    `/v1/keys/${kind === 'inference' ? 'sk-sl-v1-' : 'sk-sl-mgmt-v1-'}…/more`,
  )
})

test('a key of the settings in the place of a hash is not logged either', () => {
  expect(pathLogged(`/v1/keys/${'ab'.repeat(32)}`)).toBe('/v1/keys/abababababab…')
  expect(pathLogged('/v1/keys/a-key-of-the-operator-0123456789/x')).toBe('/v1/keys/a-key-of-the…/x')
})

test('health checks are not logged, and nothing passes for one by its query', () => {
  for (const path of ['/health/live', '/base/health/ready?verbose']) expect(pathLogged(path)).toBeUndefined()
  for (const path of ['/v1/keys?x=/health/live', '/v1/keys?/health/ready', '/health/lively'])
    expect(pathLogged(path)).toBe(path.replace(/\?.*/, ''))
})

test('other paths are logged as they came', () => {
  expect(pathLogged('/v1/keys/0123abcd?limit=1')).toBe('/v1/keys/0123abcd')
})
