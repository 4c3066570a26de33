/** The routing of a request is kept with its generation. */
import { expect, test } from 'bun:test'
import { isObject } from '../../src/core/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { frames, sse, startUpstream, unary } from '../upstream.ts'

const upstream = startUpstream()
const entry = (slug: string, prompt: string) => ({
  slug,
  dialect: 'chat',
  base_url: upstream.baseUrl,
  models: [
    { id: 'tiny', upstream_id: `tiny-${slug}`, pricing: { prompt, completion: prompt } },
    ...(slug === 'first' ? [{ id: 'lone', pricing: { prompt, completion: prompt } }] : []),
  ],
})
const gateway = await gatewayOfFile(
  { providers: [entry('first', '0.000001'), entry('second', '0.000002'), entry('costly', '0.00009')] },
  upstream,
)

const BODY = { messages: [{ role: 'user', content: 'Hello' }] }
const STAGES = ['admit', 'plan', 'connect', 'first_byte', 'relay']

async function routingAfter(body: object, headers: Record<string, string> = {}) {
  const response = await gateway.call('/chat/completions', { ...BODY, ...body }, headers)
  await response.text()
  const record = await gateway.call(`/generation?id=${response.headers.get('x-generation-id')}`)
  return (await record.json()).data.routing
}

function checkTimings(timings: unknown, reached: readonly string[]): void {
  const measured = isObject(timings) ? timings : {}
  expect(Object.keys(measured)).toEqual(STAGES)
  for (const [stage, ms] of Object.entries(measured)) {
    if (reached.includes(stage)) expect(ms).toBeGreaterThanOrEqual(0)
    else expect(ms).toBeNull()
  }
}

const attempt = (endpoint: string, status: number, code: string | null = null) => ({
  endpoint,
  status,
  ms: expect.any(Number),
  code,
})

test('one attempt with nothing excluded: its endpoint, and the time of each stage', async () => {
  upstream.on('lone', unary('Hi'))
  const { timings, ...routing } = await routingAfter({ model: 'lone' })
  expect(routing).toEqual({
    strategy: 'direct',
    sticky: null,
    endpoints: 1,
    excluded: {},
    attempts: [attempt('first/lone', 200)],
  })
  checkTimings(timings, STAGES)
})

test('a stream has the same, and what makes its conversation prefer an endpoint', async () => {
  upstream.on('lone', () => sse(frames(['Hi'])))
  const { timings, ...routing } = await routingAfter({ model: 'lone', stream: true, session_id: 's' })
  expect(routing).toMatchObject({ sticky: 'session', endpoints: 1, attempts: [attempt('first/lone', 200)] })
  checkTimings(timings, STAGES)
})

test('a fail-over: every attempt in order', async () => {
  const error = { message: 'down', code: 'x'.repeat(60) }
  upstream.on('tiny-first', () => Response.json({ error }, { status: 503 }))
  upstream.on('tiny-second', unary('Hi'))
  const provider = { order: ['first', 'second', 'costly'] }
  const { timings, ...routing } = await routingAfter({ model: 'tiny', provider })
  expect(routing).toEqual({
    strategy: 'direct',
    sticky: null,
    endpoints: 3,
    excluded: {},
    attempts: [attempt('first/tiny', 503, 'x'.repeat(40)), attempt('second/tiny', 200)],
  })
  checkTimings(timings, STAGES)
})

test('exclusions are counted by their rule', async () => {
  upstream.on('tiny-second', unary('Hi'))
  const provider = { ignore: ['first'], max_price: { prompt: '50' } }
  expect(await routingAfter({ model: 'tiny', provider })).toMatchObject({
    endpoints: 3,
    excluded: { allowed_providers: 1, max_price: 1 },
    attempts: [attempt('second/tiny', 200)],
  })
})

test('a failed generation has it too, with null for the stages that it did not reach', async () => {
  upstream.on('lone', () => Response.json({ error: { message: 'no such thing' } }, { status: 400 }))
  const { timings, ...routing } = await routingAfter({ model: 'lone' })
  expect(routing).toMatchObject({ endpoints: 1, attempts: [attempt('first/lone', 400, 'caller')] })
  checkTimings(timings, ['admit', 'plan', 'connect'])
})

test('a cache hit has none: no provider was called', async () => {
  upstream.on('lone', unary('Hi'))
  const cached = { 'x-service-cache': 'true' }
  const body = { model: 'lone', seed: 7 }
  expect(await routingAfter(body, cached)).toMatchObject({ endpoints: 1 })
  expect(await routingAfter(body, cached)).toBeNull()
})

test('it takes at most 60 bytes of an ordinary row, and at most 300 on average', () => {
  const sizes = gateway
    .generations()
    .flatMap(({ routing }) => (typeof routing === 'string' ? [routing.length] : []))
  expect(sizes.length).toBeGreaterThanOrEqual(6)
  expect(Math.min(...sizes)).toBeLessThanOrEqual(60)
  expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeLessThanOrEqual(300)
})
