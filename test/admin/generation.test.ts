import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { newGenerationId } from '../../src/core/ids.ts'
import { hashKey } from '../../src/core/keys.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import type { Handler } from '../../src/http/edge.ts'
import { prune } from '../../src/ledger/retention.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { PLAIN_RECORD } from '../ledger/plain-record.ts'
import { call, runScenarios } from '../scenario.ts'
import { addWorkspace, spend } from './fixtures.ts'

const NOW = Date.UTC(2026, 6, 15, 12)
let gateway: Gateway
let handler: Handler
let otherKey: string
let id: string

beforeAll(async () => {
  gateway = await startGateway({ now: () => NOW })
  handler = createApp(gateway.deps)
  otherKey = (await addWorkspace(gateway)).key
  id = await spend(gateway, hashKey(API_KEY), 1_234_567, {
    usage: { ...NO_USAGE, inputTokens: 10, cacheReadTokens: 4, outputTokens: 20, reasoningTokens: 3 },
    cacheDiscountNanoUsd: 1_000,
    httpReferer: 'https://app.example/x',
    origin: 'https://app.example',
    title: 'App',
    tries: [
      {
        endpointId: 'a/m',
        modelId: 'm',
        providerSlug: 'a',
        providerName: 'A',
        upstreamId: null,
        status: 503,
        code: null,
        latencyMs: 5.4,
      },
      {
        endpointId: 'b/m',
        modelId: 'm',
        providerSlug: 'b',
        providerName: 'B',
        upstreamId: 'up-1',
        status: 200,
        code: null,
        latencyMs: 9,
      },
    ],
  })
})
afterAll(() => gateway.stop())

const read = (generationId: string, key = API_KEY) =>
  call(handler, { path: `/api/v1/generation?id=${generationId}`, key })

runScenarios('GET /generation', () => handler, [
  { name: 'without a key', path: '/v1/generation?id=x', status: 401 },
  {
    name: 'without an id',
    path: '/v1/generation',
    key: API_KEY,
    status: 400,
    contains: ['query parameter id: is required'],
  },
  {
    name: 'with an empty id',
    path: '/v1/generation?id=',
    key: API_KEY,
    status: 400,
    contains: ['query parameter id: must be'],
  },
  {
    name: 'with an unknown id',
    path: `/v1/generation?id=${newGenerationId()}`,
    key: API_KEY,
    status: 404,
    contains: ['no generation with this id'],
  },
  { name: 'with a malformed id', path: "/v1/generation?id='%20or%201=1--", key: API_KEY, status: 404 },
  {
    name: 'with an id of 201 characters',
    path: `/v1/generation?id=${'g'.repeat(201)}`,
    key: API_KEY,
    status: 400,
  },
])

test('every field of the record', async () => {
  expect(await read(id)).toMatchObject({ status: 200 })
  const { json } = await read(id)
  expect(json).toEqual({
    data: {
      id,
      request_id: 'req-1',
      ...PLAIN_RECORD,
      upstream_id: 'chatcmpl-1',
      workspace_id: expect.any(String),
      model: 'lab/tiny',
      provider_name: 'Lab',
      service_tier: null,
      created_at: '2026-07-15T12:00:00.000Z',
      app_id: expect.any(Number),
      http_referer: 'https://app.example/x',
      total_cost: 0.001234567,
      usage: 0.001234567,
      upstream_inference_cost: expect.any(Number),
      cache_discount: 0.000001,
      // No null where a provider gave no id: clients take a missing one alone.
      provider_responses: [
        {
          endpoint_id: 'a/m',
          is_byok: false,
          latency: 5,
          model_permaslug: 'm',
          provider_name: 'A',
          status: 503,
        },
        {
          endpoint_id: 'b/m',
          id: 'up-1',
          is_byok: false,
          latency: 9,
          model_permaslug: 'm',
          provider_name: 'B',
          status: 200,
        },
      ],
    },
  })
})

test("another workspace's generation is a 404, as an unknown id is", async () => {
  const foreign = await read(id, otherKey)
  const unknown = await read(newGenerationId(), otherKey)
  expect(foreign.status).toBe(404)
  expect(foreign.text).toBe(unknown.text)
})

test('a management key sees every workspace', async () => {
  const other = await spend(gateway, hashKey(otherKey), 5)
  expect((await read(other, API_KEY)).status).toBe(404)
  expect((await read(other, otherKey)).status).toBe(200)
  expect((await read(other, MANAGEMENT_KEY)).status).toBe(200)
})

test('the id of a reply in another dialect names the generation', async () => {
  expect(await read(id.replace('gen-', 'resp_'))).toMatchObject({ status: 200, json: { data: { id } } })
})

test.each(['resp_', 'msg_'])('a reply is found by its id in other dialects: %s', async (prefix) => {
  const reply = await read(id.replace('gen-', prefix))
  expect([reply.status, reply.json]).toMatchObject([200, { data: { id } }])
  expect((await read(id.replace('gen-', prefix), otherKey)).status).toBe(404)
})

test('a pruned generation is distinguished from one that never existed, in any workspace', async () => {
  const kept = await startGateway({
    now: () => NOW,
    environment: { SLUICE_LEDGER_RETENTION_DAYS: '90', SLUICE_LEDGER_MAX_MB: '500' },
  })
  const [own, old] = [hashKey(API_KEY), NOW - 91 * 24 * 3_600_000]
  const gone = await spend(kept, own, 5, { startedAt: old })
  const young = await spend(kept, own, 7)
  const activity = await (await kept.manage('GET', '/activity')).text()
  const { retention, ledger, database } = kept.deps
  await prune(database, {
    retention,
    now: () => NOW,
    mayPrune: () => !ledger.hasBacklog(),
    pause: async () => undefined,
  })
  const says = async (id: string, management = false): Promise<unknown[]> => {
    const path = `/generation?id=${id}`
    const reply = await (management ? kept.manage('GET', path) : kept.call(path))
    const body = await reply.json()
    return [reply.status, body.error?.message ?? body.data.id]
  }
  const why =
    'There is no generation with this id: it is older than every stored record. Records are kept 90 days, ' +
    'and as long as the ledger holds less than 500 MB; sums of usage and cost are kept forever'
  for (const management of [false, true]) {
    expect(await says(young, management)).toEqual([200, young])
    expect(await says(gone, management)).toEqual([404, why])
    expect(await says(gone.replace('gen-', 'resp_'), management)).toEqual([404, why])
    for (const never of [newGenerationId(), 'gen-nothing'])
      expect(await says(never, management)).toEqual([404, 'There is no generation with this id'])
  }
  expect(await (await kept.manage('GET', '/activity')).text()).toBe(activity)
  expect((await (await kept.manage('GET', `/keys/${own}`)).json()).data.usage).toBe(12e-9)
  await kept.stop()
})
