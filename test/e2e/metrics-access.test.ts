import { afterAll, describe, expect, test } from 'bun:test'
import { labOf } from '../file-setup.ts'
import { API_KEY, type Gateway, type GatewayOptions, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { startUpstream, unary } from '../upstream.ts'
import { ask } from './replies.ts'

/** Who may read /metrics, and when. */

const TOKEN = 'a-token-for-metrics-0123456789abcdefgh'
const gateways: Gateway[] = []
const start = async (options: GatewayOptions): Promise<Gateway> => {
  const gateway = await startGateway({ listens: true, ...options })
  gateways.push(gateway)
  return gateway
}
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop()
})

const open = await start({})
const closed = await start({ environment: { SLUICE_METRICS_TOKEN: TOKEN, SLUICE_ADMIN_RATE_LIMIT: '1' } })

const read = (gateway: Gateway, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}/metrics`, { headers })
const statusOf = async (gateway: Gateway, headers?: Record<string, string>): Promise<number> => {
  const response = await read(gateway, headers)
  await response.text()
  return response.status
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('with a token', () => {
  test('a request without it gets a 401 in plain text', async () => {
    const response = await read(closed)
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('www-authenticate'),
    ]).toEqual([401, 'text/plain; charset=utf-8', 'Bearer'])
    expect(await response.text()).toMatch(/^Metrics need the token of SLUICE_METRICS_TOKEN.*\n$/)
  })

  test.each([
    ['the token', bearer(TOKEN), 200],
    ['another token of the same length', bearer(TOKEN.replace('a-', 'b-')), 401],
    ['a management key', bearer(MANAGEMENT_KEY), 200],
    ['an inference key', bearer(API_KEY), 403],
    ['no bearer', { authorization: `Basic ${btoa(TOKEN)}` }, 401],
  ] as const)('%s', async (_, headers, status) => expect(await statusOf(closed, headers)).toBe(status))

  test('the token opens nothing else', async () => {
    for (const path of ['/api/v1/keys', '/api/v1/key', '/api/v1/credits'])
      expect((await fetch(closed.url + path, { headers: bearer(TOKEN) })).status).toBe(401)
  })

  test('the rate limit of administration does not count scrapes', async () => {
    for (let index = 0; index < 5; index++) expect(await statusOf(closed, bearer(MANAGEMENT_KEY))).toBe(200)
  })
})

describe('without a token', () => {
  test('this machine may read them', async () => expect(await statusOf(open)).toBe(200))

  test.each([
    ['a wrong key', bearer('wrong')],
    ['a proxy on this machine', { 'x-forwarded-for': '203.0.113.7' }],
    ['a proxy that names itself', { via: '1.1 proxy' }],
    ['a web page under a foreign name', { host: 'attacker.example' }],
  ] as const)('but not with %s', async (_, headers) => expect(await statusOf(open, headers)).toBe(401))

  test.each([
    ['SLUICE_TRUSTED_PROXIES', '127.0.0.1'],
    ['SLUICE_PUBLIC_URL', 'https://ai.example.org'],
  ])('nor if %s shows that others reach the server', async (name, value) => {
    expect(await statusOf(await start({ environment: { [name]: value } }))).toBe(401)
  })

  test('nor if the server listens for other machines', async () => {
    const environment = { SLUICE_HOST: '0.0.0.0', SLUICE_SECRET_KEY: 'ab'.repeat(32) }
    const gateway = await start({ environment })
    expect(await statusOf(gateway)).toBe(401)
    expect(await statusOf(gateway, bearer(MANAGEMENT_KEY))).toBe(200)
  })
})

test('SLUICE_METRICS_SERIES=0 switches metrics off', async () => {
  const response = await read(await start({ environment: { SLUICE_METRICS_SERIES: '0' } }))
  expect([response.status, await response.text()]).toEqual([
    404,
    'Metrics are off: SLUICE_METRICS_SERIES is 0\n',
  ])
})

test('below a base path', async () => {
  const gateway = await start({ environment: { SLUICE_BASE_PATH: '/sluice' } })
  expect((await fetch(`${gateway.url}/sluice/metrics`)).status).toBe(200)
  expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404)
})

test('while the gateway drains, they are answered and show what still runs', async () => {
  const upstream = startUpstream()
  const gateway = await start({
    providers: [labOf(upstream, [{ id: 'm', pricing: { prompt: '0.000001', completion: '0.000001' } }])],
  })
  const gate = Promise.withResolvers<void>()
  upstream.on('m', async (seen, request) => {
    await gate.promise
    return unary('Hello')(seen, request)
  })
  const running = gateway.call('/chat/completions', ask('m', { max_tokens: 100 }))
  while (upstream.seen.length === 0) await new Promise(setImmediate)
  const drained = gateway.deps.run.running.drain(60_000)
  expect((await gateway.call('/chat/completions', ask('m'))).status).toBe(503)
  const text = await (await read(gateway)).text()
  expect(text).toContain('\nsluice_in_flight 1\n')
  expect(text).toContain('\nsluice_endpoint_in_flight{provider="lab",endpoint="lab/m"} 1\n')
  expect(text).toMatch(/\nsluice_held_usd 0\.000\d+\n/)
  expect(text).toContain('\nsluice_refusals_total{reason="draining"} 1\n')
  const ready = await fetch(`${gateway.url}/health/ready`)
  expect([ready.status, await ready.json()]).toMatchObject([
    503,
    {
      status: 'not ready',
      reasons: [{ reason: 'stopping', message: expect.stringContaining('shutting down') }],
    },
  ])
  gate.resolve()
  expect((await running).status).toBe(200)
  await drained
  await upstream.stop()
})
