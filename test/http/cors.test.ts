import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'

const PAGE = 'https://app.example.org'
const OTHER = 'https://evil.example'
/** What the browser build of OpenAI's client asks for. */
const SDK_HEADERS =
  'authorization,content-type,x-stainless-arch,x-stainless-lang,x-stainless-os,x-stainless-package-version,x-stainless-retry-count,x-stainless-runtime,x-stainless-timeout,openai-organization,anthropic-beta'

const gateways: Gateway[] = []
async function start(origins?: string): Promise<Handler> {
  const gateway = await startGateway(
    origins === undefined ? {} : { environment: { SLUICE_CORS_ORIGINS: origins } },
  )
  gateways.push(gateway)
  return createApp(gateway.deps)
}
afterAll(() => Promise.all(gateways.map((gateway) => gateway.stop())))

const preflight = (
  app: Handler,
  origin: string,
  more: Record<string, string> = {},
  path = '/v1/chat/completions',
) =>
  app(
    new Request(`http://localhost${path}`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': SDK_HEADERS,
        ...more,
      },
    }),
  )
const chat = (app: Handler, origin: string | null, body: object, key = API_KEY) =>
  app(
    new Request('http://localhost/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...(origin === null ? {} : { origin }) },
      body: JSON.stringify({ model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    }),
  )
const corsOf = ({ headers }: Response): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))

describe('without the setting', () => {
  test('nothing is answered and nothing is marked', async () => {
    const app = await start()
    const asked = await preflight(app, PAGE)
    expect([asked.status, corsOf(asked), asked.headers.get('vary')]).toEqual([405, [], null])
    const reply = await chat(app, PAGE, {})
    expect([reply.status, corsOf(reply), reply.headers.get('vary')]).toEqual([200, [], null])
  })
})

describe('with a list', () => {
  let app: Handler
  beforeAll(async () => {
    app = await start(`${PAGE}/, http://LOCALHOST:5173, app://obsidian.md`)
  })

  test.each([PAGE, 'http://localhost:5173', 'app://obsidian.md'])('%s may ask', async (origin) => {
    const reply = await preflight(app, origin)
    expect([reply.status, await reply.text()]).toEqual([204, ''])
    const { headers } = reply
    expect(headers.get('access-control-allow-origin')).toBe(origin)
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
      expect(headers.get('access-control-allow-methods')).toContain(method)
    const allowed = headers.get('access-control-allow-headers')?.split(/,\s*/) ?? []
    for (const name of SDK_HEADERS.split(',')) expect(allowed).toContain(name)
    expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(600)
    expect(headers.get('vary')).toContain('Origin')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('a preflight for a gateway in a private network is answered as such', async () => {
    const reply = await preflight(app, PAGE, { 'access-control-request-private-network': 'true' })
    expect(reply.headers.get('access-control-allow-private-network')).toBe('true')
  })

  test('names that are none are not repeated', async () => {
    const reply = await preflight(app, PAGE, { 'access-control-request-headers': 'a b<script>' })
    expect(reply.headers.get('access-control-allow-headers')).toContain('x-api-key')
    expect(reply.headers.get('access-control-allow-headers')).not.toContain('script')
  })

  test.each([
    OTHER,
    'https://app.example.org.evil.example',
    'http://app.example.org',
    'null',
    `${PAGE}:8443`,
  ])('%s may not', async (origin) => {
    const asked = await preflight(app, origin)
    expect([asked.status, corsOf(asked)]).toEqual([405, []])
    const reply = await chat(app, origin, {})
    expect([corsOf(reply), reply.headers.get('vary')]).toEqual([[], 'Origin'])
  })

  const replies: [name: string, status: number, ask: () => Response | Promise<Response>][] = [
    ['an answer', 200, () => chat(app, PAGE, {})],
    ['a stream', 200, () => chat(app, PAGE, { stream: true })],
    ['a wrong key', 401, () => chat(app, PAGE, {}, 'wrong')],
    ['an unknown model', 404, () => chat(app, PAGE, { model: 'no/such' })],
    ['a malformed request', 400, () => chat(app, PAGE, { messages: 'none' })],
    ['no route', 404, () => app(new Request('http://localhost/v1/nothing', { headers: { origin: PAGE } }))],
    ['a bad path', 400, () => app(new Request('http://localhost/v1//keys', { headers: { origin: PAGE } }))],
  ]
  test.each(replies)('%s can be read', async (_, status, ask) => {
    const reply = await ask()
    await reply.text()
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([status, PAGE])
    expect(reply.headers.get('vary')).toBe('Origin')
    expect(reply.headers.get('access-control-allow-credentials')).toBeNull()
    for (const name of [
      'x-generation-id',
      'retry-after',
      'x-ratelimit-remaining',
      'x-request-id',
      'x-should-retry',
    ])
      expect(reply.headers.get('access-control-expose-headers')?.split(', ')).toContain(name)
  })

  test('a request without an origin is answered as before', async () => {
    const reply = await chat(app, null, {})
    expect([reply.status, corsOf(reply), reply.headers.get('vary')]).toEqual([200, [], 'Origin'])
  })
})

test('with * every page may call, and none with cookies', async () => {
  const app = await start('*')
  for (const origin of [OTHER, 'null']) {
    const asked = await preflight(app, origin)
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    const reply = await chat(app, origin, {})
    expect(reply.headers.get('access-control-allow-origin')).toBe('*')
    expect(reply.headers.get('access-control-allow-credentials')).toBeNull()
  }
})
