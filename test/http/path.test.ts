/** Paths as bytes on real sockets: the router, authentication, limits, the base path and the log see the same one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createApp } from '../../src/app.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'

let gateway: Gateway
let server: Bun.Server<undefined>
let lines: string[] = []

beforeAll(async () => {
  gateway = await startGateway({
    log: (line) => void lines.push(line),
  })
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: createApp(gateway.deps, '/base') })
})
afterAll(async () => {
  await server.stop(true)
  await gateway.stop()
})

interface Answer {
  status: number
  text: string
  /** Of the line in the log; undefined: no line. */
  logged: unknown
}

/** Sends the target as these bytes. */
async function ask(target: string, key: string | null = MANAGEMENT_KEY, port = server.port): Promise<Answer> {
  lines = []
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let text = ''
  const authorization = key === null ? '' : `Authorization: Bearer ${key}\r\n`
  const request = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${authorization}\r\n`
  const socket = connect(port ?? 0, '127.0.0.1', () => socket.write(Buffer.from(request, 'latin1')))
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  socket.on('close', () => resolve(text))
  socket.on('error', reject)
  await promise
  const line: { path?: unknown } | undefined = lines
    .map((each) => JSON.parse(each))
    .find(({ msg }) => msg === 'request')
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), text, logged: line?.path }
}

describe('what the server resolves before we see it is one path for all', () => {
  const rows: [target: string, path: string, status: number][] = [
    ['/base/v1/keys', '/base/v1/keys', 200],
    ['/base/v1/x/../keys', '/base/v1/keys', 200],
    ['/base/v1/./keys', '/base/v1/keys', 200],
    ['/base/v1/%2e/keys', '/base/v1/keys', 200],
    ['/base/v1/x/%2E%2e/keys', '/base/v1/keys', 200],
    ['/base/v1/x/.%2e/keys', '/base/v1/keys', 200],
    ['/base/v1\\keys', '/base/v1/keys', 200],
    ['/base/health/../v1/keys', '/base/v1/keys', 200],
    ['/base/v1/keys/../../health/live', '/base/health/live', 200],
    // Out of the base path there is nothing.
    ['/base/../v1/keys', '/v1/keys', 404],
    ['/base/%2e%2e/v1/keys', '/v1/keys', 404],
    ['/other/../base/v1/keys', '/base/v1/keys', 200],
    ['/base/v1/keys/../../../docs', '/docs', 404],
    ['http://elsewhere/base/v1/keys', '/base/v1/keys', 200],
  ]
  test.each(rows)('%s is %s', async (target, path, status) => {
    const isHealth = path.endsWith('/live')
    const answer = await ask(target)
    expect({ ...answer, text: '' }).toEqual({ status, text: '', logged: isHealth ? undefined : path })
    if (status !== 200 || isHealth) return
    // No way around the key, whatever the path began as.
    expect(await ask(target, null)).toMatchObject({ status: 401, logged: path })
    expect(await ask(target, 'wrong')).toMatchObject({ status: 401 })
    expect(await ask(target, API_KEY)).toMatchObject({ status: 403, logged: path })
  })

  test('limits count them as one', async () => {
    const limited = await startGateway({
      environment: { SLUICE_ADMIN_RATE_LIMIT: '60' },
      // A clock that stands still: nothing fills up again.
      now: () => 1_800_000_000_000,
    })
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: createApp(limited.deps, '/base') })
    const statuses: number[] = []
    for (let time = 0; time < 21; time++)
      for (const target of ['/base/v1/keys', '/base/v1/x/../keys', '/base\\v1\\keys'])
        statuses.push((await ask(target, MANAGEMENT_KEY, other.port)).status)
    await other.stop(true)
    await limited.stop()
    expect(statuses.filter((status) => status === 200)).toHaveLength(60)
    expect(statuses.filter((status) => status === 429)).toHaveLength(3)
  })
})

describe('what can be read in two ways is refused before anything else', () => {
  const rows: [target: string, words: string][] = [
    ['//base/v1/keys', 'two slashes'],
    ['/base//v1/keys', 'two slashes'],
    ['/base/v1//keys', 'two slashes'],
    ['/base/v1/keys//', 'two slashes'],
    ['/base/v1/keys#frag', 'fragment'],
    ['/base/health/live#/v1/keys', 'fragment'],
    ['/base/v1/keys%5c..%5ckeys', 'backslash'],
    ['/base/v1/keys%00', 'control character'],
    ['/base/v1/keys%0d%0aX:y', 'control character'],
    ['/base/v1/x%2f..%2fkeys', 'encoded dot segment'],
    ['/base/v1/..%2fkeys', 'encoded dot segment'],
    ['/base/v1/%2e%2e%2fkeys', 'encoded dot segment'],
    ['/base/v1/keys/%2e%2f', 'encoded dot segment'],
    ['/base/v1/keys/%zz', 'percent sign'],
    ['/base/v1/keys/%ff', 'percent sign'],
    ['/base/v1/keys/%c0%af', 'percent sign'],
  ]
  test.each(rows)('%s', async (target, words) => {
    for (const key of [MANAGEMENT_KEY, null]) {
      const { status, text } = await ask(target, key)
      expect([status, text]).toEqual([400, expect.stringContaining(words)])
      expect(text).toContain('"error":{"code":400')
    }
  })

  test.each(['/base/v1/ke\0ys', '/base/v1/ke\tys', 'base/v1/keys', '*'])(
    '%j is refused by the server',
    async (target) => {
      const { status } = await ask(target)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(lines).toEqual([])
    },
  )
})

test('an encoded slash is part of a name, and an encoded letter makes no other route', async () => {
  expect(await ask('/base/v1/keys/a%2Fb')).toMatchObject({ status: 404, logged: '/base/v1/keys/a%2Fb' })
  expect(await ask('/base/v1/k%65ys')).toMatchObject({ status: 404 })
})

test('a health check is one by its path alone, and a name below the API makes none', async () => {
  expect(await ask('/base/health/live')).toMatchObject({ status: 200, logged: undefined })
  expect(await ask('/base/v1/keys/health/live')).toMatchObject({
    status: 404,
    logged: '/base/v1/keys/health/live',
  })
})
