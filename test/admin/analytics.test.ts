import { beforeAll, describe, expect, test } from 'bun:test'
import { queryAnalytics } from '../../src/admin/reports/analytics/service.ts'
import { hashKey } from '../../src/core/keys.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { call } from '../scenario.ts'
import { administration } from './administration.ts'
import { addWorkspace, OTHER_WORKSPACE, spend } from './fixtures.ts'

// A Wednesday.
const NOW = Date.UTC(2026, 6, 15, 12)
const ALL = { start: '2026-01-01T00:00:00Z', end: '2026-08-01T00:00:00Z' }
let otherKey = ''
const admin = administration({ now: () => NOW })
beforeAll(async () => {
  const { gateway } = admin

  otherKey = (await addWorkspace(gateway)).key
  const [own, other] = [hashKey(API_KEY), hashKey(otherKey)]
  const usage = (inputTokens: number, outputTokens: number, cacheReadTokens = 0) => ({
    ...NO_USAGE,
    inputTokens,
    outputTokens,
    cacheReadTokens,
  })
  const at = (...parts: [number, number, number, number?]) => Date.UTC(...parts)
  await spend(gateway, own, 1_000, { startedAt: at(2026, 6, 15, 9), modelId: 'a/x', usage: usage(30, 5, 10) })
  await spend(gateway, own, 2_000, { startedAt: at(2026, 6, 15, 8), modelId: 'a/x', usage: usage(10, 5) })
  await spend(gateway, own, 0, {
    startedAt: at(2026, 6, 14, 23),
    modelId: 'a/y',
    finishReason: 'error',
    usage: usage(0, 0),
  })
  await spend(gateway, other, 4_000, { startedAt: at(2026, 6, 13), modelId: 'a/y', usage: usage(7, 7) })
  // The Sunday before, and a month before.
  await spend(gateway, own, 8_000, {
    startedAt: at(2026, 6, 12, 23),
    modelId: 'a/x',
    usage: usage(1, 1),
    isByok: true,
  })
  await spend(gateway, own, 16_000, { startedAt: at(2026, 4, 31, 23), modelId: 'a/y', usage: usage(1, 1) })
})

async function answer(body: object): Promise<Record<string, unknown>> {
  const reply = await admin.manage('POST', '/analytics/query', body)
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)])
  return objectOf(objectOf(reply.json)['data'])
}
const rows = async (body: object): Promise<unknown> => (await answer(body))['data']

test('meta names every metric and dimension of a query', async () => {
  const { json } = await call(admin.handler, { path: '/api/v1/analytics/meta', key: MANAGEMENT_KEY })
  const { metrics, dimensions, granularities, operators } = objectOf(objectOf(json)['data'])
  expect(metrics).toContainEqual({
    name: 'error_rate',
    display_label: 'Error rate',
    display_format: 'percent',
    is_rate: true,
  })
  expect(granularities).toContainEqual({ name: 'week', display_label: 'Week' })
  expect(operators).toContainEqual({ name: 'not_in', value_type: 'array' })
  const names = [metrics, dimensions].map((list) =>
    Array.isArray(list) ? list.map((one) => String(objectOf(one)['name'])) : [],
  )
  const [ofMetrics = [], ofDimensions = []] = names
  for (const dimension of ofDimensions)
    await answer({ metrics: ofMetrics, dimensions: [dimension], time_range: ALL })
})

describe('a query', () => {
  test('without dimensions sums the last 30 days into one row, with zeros if there were no requests', async () => {
    expect(
      await answer({
        metrics: [
          'request_count',
          'total_usage',
          'byok_usage',
          'error_count',
          'error_rate',
          'total_tokens',
          'cache_hit_rate',
        ],
      }),
    ).toEqual({
      data: [
        {
          request_count: 5,
          total_usage: 0.000007,
          byok_usage: 0.000008,
          error_count: 1,
          error_rate: 0.2,
          total_tokens: 76,
          cache_hit_rate: 10 / 58,
        },
      ],
      metadata: { query_time_ms: expect.any(Number), row_count: 1, truncated: false },
    })
    const early = { start: '2025-01-01T00:00:00Z', end: '2025-02-01T00:00:00Z' }
    expect(await rows({ metrics: ['request_count', 'error_rate'], time_range: early })).toEqual([
      { request_count: 0, error_rate: null },
    ])
    expect(await rows({ metrics: ['request_count'], dimensions: ['model'], time_range: early })).toEqual([])
  })

  test.each([
    [
      'hour',
      [
        ['2026-05-31T23:00:00.000Z', 1],
        ['2026-07-12T23:00:00.000Z', 1],
        ['2026-07-13T00:00:00.000Z', 1],
        ['2026-07-14T23:00:00.000Z', 1],
        ['2026-07-15T08:00:00.000Z', 1],
        ['2026-07-15T09:00:00.000Z', 1],
      ],
    ],
    [
      'day',
      [
        ['2026-05-31T00:00:00.000Z', 1],
        ['2026-07-12T00:00:00.000Z', 1],
        ['2026-07-13T00:00:00.000Z', 1],
        ['2026-07-14T00:00:00.000Z', 1],
        ['2026-07-15T00:00:00.000Z', 2],
      ],
    ],
    [
      'week',
      [
        ['2026-05-25T00:00:00.000Z', 1],
        ['2026-07-06T00:00:00.000Z', 1],
        ['2026-07-13T00:00:00.000Z', 4],
      ],
    ],
    [
      'month',
      [
        ['2026-05-01T00:00:00.000Z', 1],
        ['2026-07-01T00:00:00.000Z', 5],
      ],
    ],
  ])('by %s', async (granularity, expected) => {
    const found = await rows({ metrics: ['request_count'], granularity, time_range: ALL })
    expect(found).toEqual(
      expected.map(([date, count]) => ({ [`date__${granularity}`]: date, request_count: count })),
    )
  })

  test('by two dimensions, ordered, with a limit of rows', async () => {
    const query = {
      metrics: ['total_usage'],
      dimensions: ['model', 'workspace_id'],
      time_range: ALL,
      order_by: { field: 'total_usage', direction: 'asc' },
    }
    const own = admin.gateway.deps.snapshot.current().defaultWorkspaceId
    expect(await rows(query)).toEqual([
      { model: 'a/x', workspace_id: own, total_usage: 0.000003 },
      { model: 'a/y', workspace_id: OTHER_WORKSPACE, total_usage: 0.000004 },
      { model: 'a/y', workspace_id: own, total_usage: 0.000016 },
    ])
    expect(await answer({ ...query, limit: 1 })).toMatchObject({
      data: [{ model: 'a/x' }],
      metadata: { row_count: 1, truncated: true },
    })
    const daily = {
      metrics: ['request_count'],
      dimensions: ['model'],
      granularity: 'day',
      time_range: ALL,
      group_limit: 1,
    }
    expect(await answer(daily)).toMatchObject({
      data: [
        { date__day: '2026-05-31T00:00:00.000Z', model: 'a/y' },
        { date__day: '2026-07-12T00:00:00.000Z', model: 'a/x' },
      ],
      metadata: { truncated: true },
    })
  })

  test.each([
    [{ field: 'model', operator: 'eq', value: 'a/x' }, 3],
    [{ field: 'model', operator: 'neq', value: 'a/x' }, 3],
    [{ field: 'model', operator: 'in', value: ['a/x', 'a/y'] }, 6],
    [{ field: 'model', operator: 'not_in', value: ['a/x', 'a/y'] }, 0],
    [{ field: 'workspace_id', operator: 'eq', value: OTHER_WORKSPACE, include_unset: false }, 1],
    [{ field: 'is_byok', operator: 'eq', value: 'true' }, 1],
    [{ field: 'is_byok', operator: 'in', value: ['true', 'false'] }, 6],
    [{ field: 'model', operator: 'eq', value: "'; drop table usage_hourly; --" }, 0],
  ])('with the filter %j', async (each, count) => {
    expect(await rows({ metrics: ['request_count'], filters: [each], time_range: ALL })).toEqual([
      { request_count: count },
    ])
  })

  test('with filters on sums', async () => {
    const query = { metrics: ['request_count'], dimensions: ['api_key_hash'], time_range: ALL }
    const over = (operator: string, value: unknown) =>
      rows({ ...query, filters: [{ field: 'request_count', operator, value }] })
    expect(await over('gt', 1)).toEqual([{ api_key_hash: hashKey(API_KEY), request_count: 5 }])
    expect(await over('lte', 1)).toEqual([{ api_key_hash: hashKey(otherKey), request_count: 1 }])
    expect(await over('in', [1, 2])).toEqual([{ api_key_hash: hashKey(otherKey), request_count: 1 }])
  })

  test('has its time range widened to complete hours, with a warning', async () => {
    const found = await answer({
      metrics: ['request_count'],
      time_range: { start: '2026-07-15T10:30:00+02:00', end: '2026-07-15T09:00:00.001Z' },
    })
    expect(found).toMatchObject({
      data: [{ request_count: 2 }],
      warnings: [expect.stringContaining('complete hours')],
    })
  })

  test('ends at its time limit and at its limit of groups', async () => {
    const query = { metrics: ['request_count' as const], dimensions: ['model' as const], time_range: ALL }
    const { db } = admin.gateway.database
    const slow = queryAnalytics(db, query, NOW, { timeoutMs: -1, maxGroups: 10 })
    await expect(slow).rejects.toMatchObject({ status: 408 })
    await expect(queryAnalytics(db, query, NOW, { timeoutMs: 1e9, maxGroups: 1 })).rejects.toMatchObject({
      status: 400,
    })
  })
})
