import { expect, test } from 'bun:test'
import type { Settlement } from '../../src/core/generation.ts'
import { firstActivityDay, listActivity } from '../../src/ledger/activity.ts'
import { findGeneration, generationRecord } from '../../src/ledger/generations.ts'
import { NOON, rowsOf, settlementOf } from './fixture.ts'
import { ledgerForEach } from './opened.ts'
import { PLAIN_RECORD } from './plain-record.ts'

const DAY_MS = 86_400_000
const opened = ledgerForEach()

async function settle(over: Partial<Settlement>): Promise<Settlement> {
  const settlement = settlementOf(over)
  const hold = opened.ledger.reserve({ ...settlement, gates: [], amountNanoUsd: 0 })
  await opened.ledger.settle(hold, settlement)
  opened.ledger.fold()
  return settlement
}

const tried = {
  endpointId: 'lab/lab/tiny',
  modelId: 'lab/tiny',
  providerSlug: 'lab',
  providerName: 'Lab',
  upstreamId: 'chatcmpl-1',
  status: 200,
  code: null,
  latencyMs: 12.4,
}

const shown = {
  endpoint_id: 'lab/lab/tiny',
  id: 'chatcmpl-1',
  is_byok: false,
  latency: 12,
  model_permaslug: 'lab/tiny',
  provider_name: 'Lab',
  status: 200,
}

test('the record has every field, and what a completion always knows is never null', async () => {
  const { generationId } = await settle({ cacheDiscountNanoUsd: 1250, tries: [tried], serviceTier: 'flex' })
  const row = await findGeneration(opened.database.db, generationId, 'workspace-1')
  expect(row).toBeDefined()
  if (row === undefined) return
  expect(JSON.parse(JSON.stringify(generationRecord(row)))).toEqual({
    id: generationId,
    request_id: 'req-1',
    ...PLAIN_RECORD,
    upstream_id: 'chatcmpl-1',
    workspace_id: 'workspace-1',
    model: 'lab/tiny',
    provider_name: 'Lab',
    service_tier: 'flex',
    created_at: '2026-11-18T12:34:56.789Z',
    app_id: 1,
    http_referer: 'https://app.example/chat',
    total_cost: 0.0000005,
    usage: 0.0000005,
    upstream_inference_cost: 0.0000005,
    cache_discount: 0.00000125,
    provider_responses: [{ ...shown, routed_service_tier: 'flex' }],
  })
})

test('a generation is found by its reply in another dialect, in its own workspace alone, and after a restart', async () => {
  const { generationId } = await settle({})
  await opened.reopen()
  const found = async (id: string, workspaceId: string | null) =>
    (await findGeneration(opened.database.db, id, workspaceId))?.id
  expect(await found(generationId, 'workspace-1')).toBe(generationId)
  expect(await found(generationId.replace('gen-', 'resp_'), 'workspace-1')).toBe(generationId)
  expect(await found(generationId.replace('gen-', 'msg_'), null)).toBe(generationId)
  expect(await found(generationId, 'workspace-2')).toBeUndefined()
  expect(await found('gen-unknown', 'workspace-1')).toBeUndefined()
  expect(await found('', null)).toBeUndefined()
})

test('what the provider says that it charged is the upstream cost', async () => {
  const { generationId, usage } = await settle({
    usage: { ...settlementOf().usage, providerCostUsd: 0.00012 },
  })
  expect(usage.providerCostUsd).toBe(0.00012)
  const row = await findGeneration(opened.database.db, generationId, null)
  expect(row && generationRecord(row)).toMatchObject({
    upstream_inference_cost: 0.00012,
    total_cost: 0.0000005,
  })
})

test('a try that the row describes is stored as its latency, and shown whole; every other try is stored whole', async () => {
  const stored = async (over: Partial<Settlement>) => {
    const { generationId } = await settle(over)
    const row = await findGeneration(opened.database.db, generationId, null)
    const [raw] = rowsOf(
      opened.database,
      `SELECT provider_responses AS json FROM generations WHERE id = '${generationId}'`,
    )
    return { raw: raw?.['json'], shown: row && generationRecord(row).provider_responses }
  }
  expect(await stored({ tries: [tried] })).toEqual({ raw: '[12]', shown: [shown] })
  expect(await stored({ tries: [{ ...tried, isByok: true }], isByok: true })).toEqual({
    raw: '[12]',
    shown: [{ ...shown, is_byok: true }],
  })
  expect(await stored({ tries: [] })).toEqual({ raw: '[]', shown: [] })
  const others = [
    [tried, tried],
    [{ ...tried, status: 503 }],
    [{ ...tried, upstreamId: null }],
    [{ ...tried, providerName: 'Other' }],
    [{ ...tried, modelId: 'lab/other' }],
    [{ ...tried, endpointId: 'other' }],
    [{ ...tried, isByok: true }],
  ]
  for (const tries of others) {
    const { raw, shown: sent } = await stored({ tries })
    expect(JSON.parse(String(raw))).toEqual(JSON.parse(JSON.stringify(sent)))
    expect(sent).toHaveLength(tries.length)
  }
})

test('absurd figures from outside do not keep a row from being written', async () => {
  const usage = {
    ...settlementOf().usage,
    inputTokens: Number.NaN,
    outputTokens: -5,
    providerCostUsd: Number.NaN,
  }
  const { generationId } = await settle({
    usage,
    latencyMs: Number.NaN,
    generationTimeMs: Number.POSITIVE_INFINITY,
  })
  const row = await findGeneration(opened.database.db, generationId, null)
  expect(row && generationRecord(row)).toMatchObject({ tokens_prompt: 0, latency: 0, generation_time: 0 })
})

test('long texts from outside are cut: a row does not grow with what callers and providers say', async () => {
  const long = 'x'.repeat(1_000_000)
  const reported = { upstreamId: long, nativeFinishReason: long, serviceTier: long, sessionId: long }
  const sent = { externalUser: long, userAgent: long, httpReferer: long, title: long, origin: long }
  const tries = [
    {
      endpointId: 'lab/lab/tiny',
      modelId: 'lab/tiny',
      providerSlug: 'lab',
      providerName: 'Lab',
      upstreamId: long,
      status: 200,
      code: null,
      latencyMs: 3,
    },
  ]
  const { generationId } = await settle({ ...reported, ...sent, tries })
  const row = await findGeneration(opened.database.db, generationId, null)
  expect(row?.upstream_id).toBe('x'.repeat(512))
  expect(JSON.stringify(row).length).toBeLessThan(10_000)
})

const TODAY = '2026-11-18'

test('activity is listed by day, model and endpoint, newest and most expensive first', async () => {
  await settle({ costNanoUsd: 1000 })
  await settle({ costNanoUsd: 500, finishReason: 'error', keyHash: 'key-2' })
  await settle({
    costNanoUsd: 9000,
    modelId: 'lab/big',
    endpointId: 'lab/lab/big',
    workspaceId: 'workspace-2',
  })
  await settle({ costNanoUsd: 40, isByok: true })
  await settle({ costNanoUsd: 7, startedAt: NOON - 29 * DAY_MS })
  await settle({ costNanoUsd: 7, startedAt: NOON - 30 * DAY_MS })
  const items = await listActivity(opened.database.db, {}, NOON)
  expect(items.map((item) => [item.date, item.model, item.usage, item.requests])).toEqual([
    [TODAY, 'lab/big', 0.000009, 1],
    [TODAY, 'lab/tiny', 0.0000015, 3],
    ['2026-10-20', 'lab/tiny', 0.000000007, 1],
  ])
  expect(items[1]).toEqual({
    date: TODAY,
    model: 'lab/tiny',
    model_permaslug: 'lab/tiny',
    endpoint_id: 'lab/lab/tiny',
    provider_name: 'Lab',
    usage: 0.0000015,
    byok_usage_inference: 0.00000004,
    requests: 3,
    prompt_tokens: 42,
    completion_tokens: 69,
    reasoning_tokens: 9,
  })
  expect(firstActivityDay(NOON)).toBe('2026-10-20')
})

const filters = [
  { filter: { date: TODAY }, requests: [2, 1] },
  { filter: { date: '2026-11-17' }, requests: [1] },
  { filter: { date: '2026-11-16' }, requests: [] },
  { filter: { apiKeyHash: 'key-2' }, requests: [1] },
  { filter: { workspaceId: 'workspace-2' }, requests: [1, 1] },
  { filter: { userId: 'nobody' }, requests: [] },
  { filter: { date: TODAY, groupByWorkspace: true }, requests: [1, 1, 1] },
]

test.each(filters)('activity with $filter', async ({ filter, requests }) => {
  await settle({ costNanoUsd: 1000 })
  await settle({ costNanoUsd: 900, workspaceId: 'workspace-2' })
  await settle({ costNanoUsd: 800, modelId: 'lab/big', endpointId: 'lab/lab/big', keyHash: 'key-2' })
  await settle({ costNanoUsd: 700, startedAt: NOON - DAY_MS, workspaceId: 'workspace-2' })
  const items = await listActivity(opened.database.db, filter, NOON)
  expect(items.map((item) => item.requests)).toEqual(requests)
  const named = items.filter((item) => item.workspace_id !== undefined).map((item) => item.workspace_id)
  expect(named).toEqual('groupByWorkspace' in filter ? ['workspace-1', 'workspace-2', 'workspace-1'] : [])
})
