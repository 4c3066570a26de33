import { expect, test } from 'bun:test'
import fc from 'fast-check'
import pino from 'pino'
import { badRequest } from '../../src/core/errors.ts'
import { newKey } from '../../src/core/keys.ts'
import { createAccessLog, logRequest, quoted } from '../../src/http/access-log.ts'
import { errorResponse } from '../../src/http/envelope.ts'
import { incomingOf } from '../incoming.ts'

function pathLogged(path: string): unknown {
  const lines: object[] = []
  const log = { request: (members: string) => void lines.push(JSON.parse(`{${members}}`)) }
  logRequest(log, incomingOf(new Request(`http://x${path}`)), 200)
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

test('the line of a refused request says where its fault is, without keys', () => {
  const lines: string[] = []
  const incoming = incomingOf(new Request('http://x/v1/chat/completions'))
  errorResponse(badRequest('must be a text', `messages[0].sk-${'a'.repeat(40)}`), incoming)
  logRequest({ request: (members) => void lines.push(members) }, incoming, 400)
  expect(JSON.parse(`{${lines[0]}}`)).toMatchObject({ status: 400, param: 'messages[0].…' })
})

test('health checks are not logged, and nothing passes for one by its query', () => {
  for (const path of ['/health/live', '/base/health/ready?verbose']) expect(pathLogged(path)).toBeUndefined()
  for (const path of ['/v1/keys?x=/health/live', '/v1/keys?/health/ready', '/health/lively'])
    expect(pathLogged(path)).toBe(path.replace(/\?.*/, ''))
})

test('other paths are logged as they came', () => {
  expect(pathLogged('/v1/keys/0123abcd?limit=1')).toBe('/v1/keys/0123abcd')
})

test('a line has the form of the other lines of the log', () => {
  const lines: string[] = []
  const log = createAccessLog(
    () => true,
    (line) => void lines.push(line),
  )
  log.request(`"path":${quoted('/v1/"models"\n')},"status":200`)
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => void lines.push(line) },
  )
  logger.info({ path: '/v1/"models"\n', status: 200 }, 'request')
  const [ours, theirs] = lines.map((line) => JSON.parse(line))
  expect({ ...ours, time: '' }).toEqual({ ...theirs, time: '' })
  expect(Object.keys(ours)).toEqual(Object.keys(theirs))
  expect(ours.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(Math.abs(Date.parse(ours.time) - Date.now())).toBeLessThan(60_000)
  expect(lines.every((line) => line.endsWith('}\n'))).toBe(true)
})

test('every text is written as JSON writes it', () => {
  const unit = fc.constantFrom(
    'a',
    '"',
    '\\',
    '\n',
    '\u0000',
    '\u007f',
    'é',
    '👋',
    '\ud800',
    ' ',
    '~',
    '[',
    ']',
    '#',
    '!',
  )
  fc.assert(
    fc.property(fc.string({ unit }), (text) => expect(quoted(text)).toBe(JSON.stringify(text))),
    { seed: 14 },
  )
})

test('a log of a higher level has no lines of requests', () => {
  const lines: string[] = []
  createAccessLog(
    () => false,
    (line) => void lines.push(line),
  ).request('"status":200')
  expect(lines).toEqual([])
})
