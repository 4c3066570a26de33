import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { t } from 'elysia'
import { zdrEndpoint } from '../../src/catalog/schema.ts'
import { isJsonObject, objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { type FakeUpstream, frames, sse, startUpstream } from '../upstream.ts'

let upstream: FakeUpstream
let gateway: Gateway
let now = Date.parse('2026-01-11T00:00:00Z')

const entry = (slug: string, models: string[]) => ({
  slug,
  base_url: upstream.baseUrl,
  models: models.map((id) => ({
    id,
    upstream_id: `${slug}-${id}`,
    pricing: { prompt: '0', completion: '0' },
  })),
})

beforeAll(async () => {
  upstream = startUpstream()
  gateway = await startGateway({ providers: [entry('lab', ['a/one', 'a/two'])], now: () => now })
  upstream.on('lab-a/one', () => {
    now += 250
    return sse(frames(['hello', ' there']))
  })
  upstream.on('lab-a/two', () => Response.json({ error: { message: 'boom' } }, { status: 500 }))
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const ask = async (model: string): Promise<string> => {
  const messages = [{ role: 'user', content: 'Hello' }]
  return (await gateway.call('/chat/completions', { model, stream: true, messages })).text()
}
const endpointOf = async (model: string): Promise<Record<string, unknown>> => {
  const response = await gateway.call(`/models/${model}/endpoints`)
  const { endpoints } = objectOf(objectOf(await response.json())['data'])
  return Array.isArray(endpoints) ? objectOf(endpoints[0]) : {}
}
const idsBy = async (sort: string): Promise<unknown[]> => {
  const body = objectOf(await (await gateway.call(`/models?sort=${sort}`)).json())
  return Array.isArray(body['data']) ? body['data'].filter(isJsonObject).map(({ id }) => id) : []
}

test('before any request there are no measurements', async () => {
  expect(await endpointOf('a/one')).toMatchObject({
    latency_last_30m: null,
    throughput_last_30m: null,
    uptime_last_5m: null,
    uptime_last_30m: null,
    uptime_last_1d: null,
  })
})

test('measurements of the gateway are shown by endpoint', async () => {
  await ask('a/one')
  await ask('a/two')
  const one = await endpointOf('a/one')
  expect(one).toMatchObject({
    latency_last_30m: { p50: 250, p75: 250, p90: 250, p99: 250 },
    throughput_last_30m: { p50: expect.any(Number) },
    uptime_last_5m: 100,
    uptime_last_1d: 100,
  })
  expect(await endpointOf('a/two')).toMatchObject({
    latency_last_30m: null,
    throughput_last_30m: null,
    uptime_last_30m: 0,
  })
  const zdr = objectOf(await (await gateway.call('/endpoints/zdr')).json())['data']
  expect([...Value.Errors(t.Array(zdrEndpoint), zdr)]).toEqual([])
  expect(zdr).toContainEqual(
    expect.objectContaining({ model_id: 'a/one', latency_last_30m: one['latency_last_30m'] }),
  )
})

test('sorts by measurements put models without one last', async () => {
  expect(await idsBy('latency-low-to-high')).toEqual(['a/one', 'a/two', 'sluice/demo'])
  await ask('sluice/demo')
  expect((await idsBy('throughput-high-to-low')).at(-1)).toBe('a/two')
  expect((await idsBy('latency-low-to-high')).at(-1)).toBe('a/two')
})
