import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { hashKey } from '../../src/core/keys.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, runScenarios, type Scenario } from '../scenario.ts'
import { addWorkspace, OTHER_WORKSPACE, spend } from './fixtures.ts'

const NOW = Date.UTC(2026, 6, 15, 12)
const UNKNOWN_UUID = '0190a000-0000-7000-8000-000000000bad'
let gateway: Gateway
let handler: Handler
let otherKey: string

beforeAll(async () => {
  gateway = await startGateway({ now: () => NOW })
  handler = createApp(gateway.deps)
  otherKey = (await addWorkspace(gateway)).key
  const own = hashKey(API_KEY)
  await spend(gateway, own, 1_000_000_001, { startedAt: Date.UTC(2026, 6, 15) })
  await spend(gateway, own, 1, { startedAt: Date.UTC(2026, 6, 15, 11, 59, 59), finishReason: 'error' })
  await spend(gateway, own, 5, { startedAt: Date.UTC(2026, 6, 14, 23, 59, 59, 999), modelId: 'lab/other' })
  await spend(gateway, own, 7, { startedAt: Date.UTC(2026, 5, 16) })
  await spend(gateway, own, 9, { startedAt: Date.UTC(2026, 5, 15, 23) })
  await spend(gateway, hashKey(otherKey), 3, { startedAt: Date.UTC(2026, 6, 15, 3) })
})
afterAll(() => gateway.stop())

async function items(query = ''): Promise<Record<string, unknown>[]> {
  const reply = await call(handler, { path: `/api/v1/activity${query}`, key: MANAGEMENT_KEY })
  expect(reply).toMatchObject({ status: 200 })
  const { data } = objectOf(reply.json)
  return Array.isArray(data) ? data.map(objectOf) : []
}
const brief = (rows: Record<string, unknown>[]): unknown[] =>
  rows.map(({ date, usage, requests }) => [date, usage, requests])

const refused = (query: string, status: number, words: string): Scenario => ({
  name: query,
  path: `/v1/activity?${query}`,
  key: MANAGEMENT_KEY,
  status,
  contains: [words],
})
runScenarios('GET /activity', () => handler, [
  { name: 'without a key', path: '/v1/activity', status: 401 },
  {
    name: 'with an inference key',
    path: '/v1/activity?date=x',
    key: API_KEY,
    status: 403,
    contains: ['management'],
  },
  refused('date=today', 400, 'query parameter date: must be a UTC day as YYYY-MM-DD'),
  refused('date=2026-06-31', 400, 'from 2026-06-16 to 2026-07-15'),
  refused('date=2026-06-15', 400, 'from 2026-06-16 to 2026-07-15'),
  refused('date=2026-07-16', 400, 'from 2026-06-16 to 2026-07-15'),
  refused('date=', 400, 'query parameter date'),
  refused('group_by=model', 400, 'query parameter group_by: must be one of workspace, user, tag:<name>'),
  refused('workspace_id=default', 400, 'query parameter workspace_id: must be a UUID'),
  refused(`workspace_id=${UNKNOWN_UUID}`, 404, 'workspace_id'),
  refused('api_key_hash=abc', 400, 'query parameter api_key_hash: must be the hash'),
  refused(`api_key_hash=${'0'.repeat(64)}`, 404, 'api_key_hash'),
  refused('user_id=', 400, 'query parameter user_id'),
  refused('user_id=user_nobody', 404, 'user_id'),
])

test('the last 30 days, newest first, today included', async () => {
  expect(brief(await items())).toEqual([
    ['2026-07-15', 1.000000005, 3],
    ['2026-07-14', 0.000000005, 1],
    ['2026-06-16', 0.000000007, 1],
  ])
})

test('every field of an item', async () => {
  expect((await items('?date=2026-07-14'))[0]).toEqual({
    date: '2026-07-14',
    model: 'lab/other',
    model_permaslug: 'lab/other',
    endpoint_id: 'lab/lab/tiny',
    provider_name: 'Lab',
    usage: 0.000000005,
    byok_usage_inference: 0,
    requests: 1,
    prompt_tokens: 14,
    completion_tokens: 23,
    reasoning_tokens: 3,
  })
})

test('one day, one key, one workspace, one member', async () => {
  expect(brief(await items('?date=2026-06-16'))).toEqual([['2026-06-16', 0.000000007, 1]])
  expect(brief(await items(`?api_key_hash=${hashKey(otherKey)}`))).toEqual([['2026-07-15', 0.000000003, 1]])
  expect(brief(await items(`?workspace_id=${OTHER_WORKSPACE.toUpperCase()}`))).toEqual([
    ['2026-07-15', 0.000000003, 1],
  ])
  const creator = gateway.deps.snapshot.current().keysByHash.get(hashKey(API_KEY))?.creatorUserId
  expect(await items(`?user_id=${creator}`)).toEqual(await items())
})

test('group_by=workspace splits items and names the workspace', async () => {
  const rows = await items('?date=2026-07-15&group_by=workspace')
  expect(rows.map(({ usage, workspace_id }) => [usage, workspace_id === OTHER_WORKSPACE])).toEqual([
    [1.000000002, false],
    [0.000000003, true],
  ])
})

test('the usage of a deleted key still counts', async () => {
  const { hash } = await gateway.makeKey({ name: 'gone' })
  await spend(gateway, hash, 11)
  expect(
    (await call(handler, { method: 'DELETE', path: `/v1/keys/${hash}`, key: MANAGEMENT_KEY })).status,
  ).toBe(200)
  expect(brief(await items(`?api_key_hash=${hash}`))).toEqual([['2026-07-15', 0.000000011, 1]])
})
