/** The routing metadata: which endpoints were considered, what was tried, and where the time went. */
import { expect, test } from 'bun:test'
import { isObject } from '../../src/core/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { dataLines, frames, sse, startUpstream, unary } from '../upstream.ts'

const upstream = startUpstream()
const entry = (slug: string, prompt: string, supported_parameters = ['seed']) => ({
  slug,
  name: slug.toUpperCase(),
  dialect: 'chat',
  base_url: upstream.baseUrl,
  api_key: `secret-of-${slug}`,
  models: [
    {
      id: 'tiny',
      upstream_id: `tiny-${slug}`,
      pricing: { prompt, completion: prompt },
      supported_parameters,
    },
  ],
})
const gateway = await gatewayOfFile(
  {
    providers: [
      entry('first', '0.000001'),
      entry('second', '0.000002'),
      entry('costly', '0.00009'),
      entry('blind', '0.000001', ['temperature']),
    ],
  },
  upstream,
)

const REQUEST = {
  model: 'tiny',
  messages: [{ role: 'user', content: 'Hello' }],
  provider: { order: ['first', 'second'], max_price: { prompt: '50' }, require_parameters: true },
  seed: 1,
}
const WANTED = { 'x-service-metadata': 'enabled' }
const PHASES = ['admit', 'plan', 'connect', 'first_byte', 'relay', 'commit']

upstream.on('tiny-first', () => Response.json({ error: { message: 'down' } }, { status: 503 }))

const explained = {
  requested: 'tiny',
  strategy: 'direct',
  summary: 'available=2, selected=SECOND',
  attempt: 2,
  sticky: 'session',
  endpoints: {
    total: 4,
    available: [
      { model: 'tiny', provider: 'FIRST', selected: false, rank: 1, score: 1, price: 1 },
      { model: 'tiny', provider: 'SECOND', selected: true, rank: 2, score: 0.25, price: 2 },
    ],
    excluded: [
      { model: 'tiny', provider: 'COSTLY', rule: 'max_price', reason: expect.stringContaining('costs more') },
      {
        model: 'tiny',
        provider: 'BLIND',
        rule: 'require_parameters',
        reason: expect.stringContaining('seed'),
      },
    ],
  },
  attempts: [
    { model: 'tiny', provider: 'FIRST', status: 503, ms: expect.any(Number), code: expect.any(String) },
    { model: 'tiny', provider: 'SECOND', status: 200, ms: expect.any(Number) },
  ],
}

function checkTimings(metadata: unknown): void {
  const timings = isObject(metadata) ? metadata['timings'] : undefined
  expect(Object.keys(isObject(timings) ? timings : {})).toEqual(PHASES)
  for (const ms of Object.values(isObject(timings) ? timings : {})) expect(ms).toBeGreaterThanOrEqual(0)
}

test('a complete reply lists every endpoint with its rank, or with the rule that excluded it', async () => {
  upstream.on('tiny-second', unary('Hi'))
  const response = await gateway.call('/chat/completions', { ...REQUEST, session_id: 's1' }, WANTED)
  const { service_metadata: metadata, openrouter_metadata: same } = await response.json()
  expect(metadata).toMatchObject(explained)
  expect(same).toEqual(metadata)
  checkTimings(metadata)
})

test('a stream has the same on its usage chunk', async () => {
  upstream.on('tiny-second', () => sse(frames(['Hi'])))
  const body = { ...REQUEST, stream: true, session_id: 's2' }
  const lines = await dataLines(await gateway.call('/chat/completions', body, WANTED))
  const chunks = lines.flatMap((line) => (line === '[DONE]' ? [] : [JSON.parse(line)]))
  const metadata = chunks.map(({ service_metadata }) => service_metadata).find(Boolean)
  expect(metadata).toMatchObject(explained)
  checkTimings(metadata)
})

test('without fallbacks, the other endpoints are listed as not permitted', async () => {
  const provider = { order: ['first'], allow_fallbacks: false }
  const response = await gateway.call('/chat/completions', { ...REQUEST, provider }, WANTED)
  expect(response.status).toBeGreaterThanOrEqual(500)
  const { service_metadata: metadata } = await response.json()
  expect(metadata).toMatchObject({
    summary: 'available=1, selected=none',
    sticky: null,
    endpoints: { available: [{ provider: 'FIRST', selected: false }] },
  })
  expect(metadata.endpoints.excluded.map(({ rule }: { rule: string }) => rule)).toEqual([
    'allowed_providers',
    'allowed_providers',
    'allowed_providers',
  ])
  expect(metadata.timings).not.toHaveProperty('first_byte')
})
