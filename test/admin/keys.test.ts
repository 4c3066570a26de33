import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { hashKey, isKeyPlausible, labelOf, newKey } from '../../src/core/keys.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { ensureFirstRun } from '../../src/server/first-run.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios, type Scenario } from '../scenario.ts'
import { addWorkspace, OTHER_WORKSPACE, spend } from './fixtures.ts'

/** A Wednesday. */
const NOW = Date.UTC(2026, 6, 15, 12)
const DAY = 86_400_000
let now = NOW
let gateway: Gateway
let handler: Handler

beforeAll(async () => {
  gateway = await startGateway({ now: () => now })
  handler = createApp(gateway.deps)
  await addWorkspace(gateway)
})
afterAll(() => gateway.stop())

const manage = (method: string, path: string, body?: unknown): Promise<Reply> =>
  call(handler, { method, path: `/api/v1${path}`, key: MANAGEMENT_KEY, body })

async function make(
  body: object = {},
): Promise<{ key: string; hash: string; data: Record<string, unknown> }> {
  const { json, text } = await manage('POST', '/keys', { name: 'made', ...body })
  const { key, data } = objectOf(json)
  const record = objectOf(data)
  if (typeof key !== 'string' || typeof record['hash'] !== 'string') throw new Error(text)
  return { key, hash: record['hash'], data: record }
}
const read = async (hash: string): Promise<Record<string, unknown>> =>
  objectOf(objectOf((await manage('GET', `/keys/${hash}`)).json)['data'])
const statusWith = async (key: string): Promise<number> =>
  (await call(handler, { path: '/v1/key', key })).status

const FULL_RECORD = {
  name: 'full',
  disabled: false,
  limit: 12.5,
  limit_remaining: 12.5,
  limit_reset: 'weekly',
  include_byok_in_limit: true,
  usage: 0,
  usage_daily: 0,
  usage_weekly: 0,
  usage_monthly: 0,
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 0,
  byok_usage_monthly: 0,
  created_at: '2026-07-15T12:00:00.000Z',
  updated_at: null,
  expires_at: '2026-08-01T00:00:00.000Z',
  creator_user_id: expect.stringMatching(/^user_/),
  external_user: 'u1',
  workspace_id: OTHER_WORKSPACE,
  id: expect.any(Number),
  label: expect.stringMatching(/^sk-sl-v1-.{3}\.\.\..{3}$/),
  hash: expect.stringMatching(/^[0-9a-f]{64}$/),
}
const UNKNOWN_HASH = '0'.repeat(64)
const UNKNOWN_UUID = '0190a000-0000-7000-8000-000000000bad'

const post = (name: string, body: unknown, row: Partial<Scenario> & { status: number }): Scenario => ({
  name: `POST /keys: ${name}`,
  method: 'POST',
  path: '/v1/keys',
  key: MANAGEMENT_KEY,
  body,
  ...row,
})
const badExpiry = (text: string): Scenario =>
  post(
    `expires_at ${text}`,
    { name: 'a', expires_at: text },
    { status: 400, contains: ['expires_at: must be'] },
  )

const guarded: [method: string, path: string][] = [
  ['GET', '/keys'],
  ['POST', '/keys'],
  ['GET', `/keys/${UNKNOWN_HASH}`],
  ['PATCH', `/keys/${UNKNOWN_HASH}`],
  ['DELETE', `/keys/${UNKNOWN_HASH}`],
]
const rows: Scenario[] = [
  ...guarded.flatMap(([method, path]): Scenario[] => [
    { name: `${method} ${path.slice(0, 8)} without a key`, method, path: `/v1${path}`, status: 401 },
    {
      name: `${method} ${path.slice(0, 8)} with an inference key`,
      method,
      path: `/api/v1${path}`,
      key: API_KEY,
      body: method === 'GET' ? undefined : '{nope',
      status: 403,
      contains: ['Only management keys'],
    },
  ]),
  { name: 'GET /key without a key', path: '/v1/key', status: 401 },
  { name: 'GET an unknown key', path: `/v1/keys/${UNKNOWN_HASH}`, key: MANAGEMENT_KEY, status: 404 },
  { name: 'GET a hash that is none', path: '/v1/keys/none', key: MANAGEMENT_KEY, status: 404 },
  { name: 'GET a control character', path: '/v1/keys/%00', key: MANAGEMENT_KEY, status: 400 },
  {
    name: 'GET the management key itself',
    path: `/v1/keys/${hashKey(MANAGEMENT_KEY)}`,
    key: MANAGEMENT_KEY,
    status: 404,
  },
  {
    name: 'PATCH an unknown key',
    method: 'PATCH',
    path: `/v1/keys/${UNKNOWN_HASH}`,
    key: MANAGEMENT_KEY,
    body: { name: 'b' },
    status: 404,
  },
  {
    name: 'DELETE an unknown key',
    method: 'DELETE',
    path: `/v1/keys/${UNKNOWN_HASH}`,
    key: MANAGEMENT_KEY,
    status: 404,
  },
  post(
    'every field',
    {
      name: 'full',
      limit: 12.5,
      limit_reset: 'weekly',
      include_byok_in_limit: true,
      expires_at: '2026-08-01T00:00:00Z',
      external: { user: 'u1' },
      workspace_id: OTHER_WORKSPACE.toUpperCase(),
      creator_user_id: null,
    },
    { status: 200, json: { data: FULL_RECORD, key: expect.stringMatching(/^sk-sl-v1-[0-9A-Za-z]{49}$/) } },
  ),
  post(
    'a name alone',
    { name: 'n' },
    {
      status: 200,
      json: {
        data: {
          limit: null,
          limit_remaining: null,
          limit_reset: null,
          expires_at: null,
          external_user: null,
          include_byok_in_limit: false,
        },
      },
    },
  ),
  post(
    'nulls',
    { name: 'n', limit: null, limit_reset: null, expires_at: null, creator_user_id: null },
    { status: 200 },
  ),
  post('nothing', undefined, { status: 400 }),
  post('no name', {}, { status: 400, contains: ['name: is required'] }),
  post('an empty name', { name: '' }, { status: 400, contains: ['name: must be a string of 1 to 1000'] }),
  post('a number as name', { name: 1 }, { status: 400, contains: ['name: '] }),
  post(
    'an unknown field',
    { name: 'a', budget: 1 },
    { status: 400, contains: ['budget: is not known here; known are name'] },
  ),
  post(
    'a negative limit',
    { name: 'a', limit: -0.01 },
    { status: 400, contains: ['limit: must be a number from 0'] },
  ),
  post('a limit beyond counting', { name: 'a', limit: 1e15 }, { status: 400, contains: ['limit: '] }),
  post('a limit as text', { name: 'a', limit: '5' }, { status: 400, contains: ['limit: '] }),
  post(
    'a limit of 0',
    { name: 'a', limit: 0 },
    { status: 200, json: { data: { limit: 0, limit_remaining: 0 } } },
  ),
  post(
    'a limit finer than a nano-dollar',
    { name: 'a', limit: 0.1 + 0.2 },
    { status: 200, json: { data: { limit: 0.3 } } },
  ),
  post(
    'an unknown reset',
    { name: 'a', limit_reset: 'yearly' },
    { status: 400, contains: ['limit_reset: must be one of \\"daily\\"'] },
  ),
  post(
    'an unknown workspace',
    { name: 'a', workspace_id: UNKNOWN_UUID },
    { status: 404, contains: ['workspace'] },
  ),
  post(
    'a workspace that is no UUID',
    { name: 'a', workspace_id: 'default' },
    { status: 400, contains: ['workspace_id: must be a UUID'] },
  ),
  post(
    'an unknown creator',
    { name: 'a', creator_user_id: 'user_nobody' },
    { status: 404, contains: ['creator_user_id'] },
  ),
  post(
    'an empty creator',
    { name: 'a', creator_user_id: '' },
    { status: 400, contains: ['creator_user_id: '] },
  ),
  ...[
    '2026-08-01',
    '2026-08-01T00:00Z',
    '2026-08-01T00:00:00',
    '2026-08-01T00:00:00+00:00',
    '2026-08-01T02:00:00+02:00',
    '2026-02-30T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2026-08-01T24:00:01Z',
    '2026-08-01t00:00:00z',
    'tomorrow',
    '',
  ].map(badExpiry),
  post(
    'an expiry in the past',
    { name: 'a', expires_at: '2026-07-15T12:00:00Z' },
    { status: 400, contains: ['expires_at: must be in the future'] },
  ),
  post('an expiry with milliseconds', { name: 'a', expires_at: '2026-07-15T12:00:00.001Z' }, { status: 200 }),
  post(
    'as the public SDK',
    { name: 'sdk' },
    { status: 201, headers: { 'user-agent': 'speakeasy-sdk/typescript 1.3.19 2.0 1.0.0 @openrouter/sdk' } },
  ),
  post(
    'as a client that merely names the SDK',
    { name: 'a' },
    { status: 200, headers: { 'user-agent': 'my speakeasy-sdk/1' } },
  ),
  {
    name: 'list: a bad include_disabled',
    path: '/v1/keys?include_disabled=1',
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['query parameter include_disabled: must be true or false'],
  },
  ...['-1', '1.5', '1e1', 'x', '', '9999999999'].map(
    (offset): Scenario => ({
      name: `list: offset ${JSON.stringify(offset)}`,
      path: `/v1/keys?offset=${offset}`,
      key: MANAGEMENT_KEY,
      status: 400,
      contains: ['query parameter offset: must be an integer from 0'],
    }),
  ),
  ...['0', '101'].map(
    (limit): Scenario => ({
      name: `list: limit ${limit}`,
      path: `/v1/keys?limit=${limit}`,
      key: MANAGEMENT_KEY,
      status: 400,
      contains: ['1 to 100'],
    }),
  ),
  {
    name: 'list: a workspace that is no UUID',
    path: '/v1/keys?workspace_id=x',
    key: MANAGEMENT_KEY,
    status: 400,
  },
  {
    name: 'list: an unknown workspace',
    path: `/v1/keys?workspace_id=${UNKNOWN_UUID}`,
    key: MANAGEMENT_KEY,
    status: 200,
    json: { data: [], total_count: 0 },
  },
  {
    name: 'list: an unknown parameter',
    path: '/v1/keys?colour=red',
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['query parameter colour: is not known here', 'include_disabled'],
  },
]
runScenarios('keys', () => handler, rows)

describe('a made key', () => {
  test('is known by its hash and label, and its secret is in no file', async () => {
    const { key, hash, data } = await make()
    expect(isKeyPlausible(key)).toBe(true)
    expect(hash).toBe(hashKey(key))
    expect(data['label']).toBe(labelOf(key))
    gateway.database.file.run('PRAGMA wal_checkpoint')
    const file = await Bun.file(gateway.database.path).text()
    expect(file).toContain(hash)
    expect(file).not.toContain(key.slice(9))
  })

  test('calls at once, and has an id of its own', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => make()))
    expect(await Promise.all(made.map(({ key }) => statusWith(key)))).toEqual(Array(20).fill(200))
    expect(new Set(made.map(({ data }) => data['id'])).size).toBe(20)
  })

  test('is refused from the moment that it is disabled, and taken again when enabled', async () => {
    const { key, hash } = await make()
    await manage('PATCH', `/keys/${hash}`, { disabled: true })
    expect(await statusWith(key)).toBe(401)
    await manage('PATCH', `/keys/${hash}`, { disabled: false })
    expect(await statusWith(key)).toBe(200)
  })

  test('is refused from the moment that it expires', async () => {
    const { key } = await make({ expires_at: new Date(NOW + 1000).toISOString() })
    expect(await statusWith(key)).toBe(200)
    now = NOW + 1000
    expect(await statusWith(key)).toBe(401)
    now = NOW
  })

  test('is refused from the moment that it is deleted, and is gone', async () => {
    const { key, hash } = await make()
    expect(await manage('DELETE', `/keys/${hash}`)).toMatchObject({ status: 200, json: { deleted: true } })
    expect(await statusWith(key)).toBe(401)
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { disabled: false } : undefined
      expect((await manage(method, `/keys/${hash}`, body)).status).toBe(404)
    }
  })

  test('keeps a name with quotes, marks and letters of any script', async () => {
    const name = `'; DROP TABLE api_keys;-- "\\ <b>ü漢👩‍👩‍👧\u202e`
    const { hash } = await make({ name })
    expect((await read(hash))['name']).toBe(name)
  })
})

describe('a change', () => {
  test('touches what it names alone, and sets updated_at', async () => {
    const { hash, data } = await make({ limit: 5, limit_reset: 'daily' })
    now = NOW + 5000
    const { json } = await manage('PATCH', `/keys/${hash}`, { limit: 7, name: 'other' })
    now = NOW
    const expected = {
      ...data,
      limit: 7,
      limit_remaining: 7,
      name: 'other',
      updated_at: '2026-07-15T12:00:05.000Z',
    }
    expect(objectOf(json)['data']).toEqual(expected)
    expect(await read(hash)).toEqual(expected)
  })

  test('of nothing changes nothing', async () => {
    const { hash, data } = await make()
    expect((await manage('PATCH', `/keys/${hash}`, {})).json).toEqual({ data })
  })

  test('can take limit and reset away', async () => {
    const { hash } = await make({ limit: 5, limit_reset: 'daily' })
    await manage('PATCH', `/keys/${hash}`, { limit: null, limit_reset: null })
    expect(await read(hash)).toMatchObject({ limit: null, limit_remaining: null, limit_reset: null })
  })

  const refused: [string, unknown][] = [
    ['an unknown field', { expires_at: '2030-01-01T00:00:00Z' }],
    ['the hash', { hash: UNKNOWN_HASH }],
    ['a negative limit', { limit: -1 }],
    ['a disabled that is text', { disabled: 'true' }],
    ['no name', { name: null }],
    ['a list', []],
  ]
  for (const [name, body] of refused) {
    test(`of ${name} is refused, and nothing is changed`, async () => {
      const { hash, data } = await make()
      expect((await manage('PATCH', `/keys/${hash}`, body)).status).toBe(400)
      expect(await read(hash)).toEqual(data)
    })
  }
})

describe('usage', () => {
  test('is counted by day, week and month, and a limit by its own window', async () => {
    const { key, hash } = await make({ limit: 1, limit_reset: 'weekly' })
    await spend(gateway, hash, 100_000_001, { startedAt: Date.UTC(2026, 6, 15, 0) })
    await spend(gateway, hash, 20_000_000, { startedAt: Date.UTC(2026, 6, 13, 0) })
    await spend(gateway, hash, 3_000_000, { startedAt: Date.UTC(2026, 6, 12, 23, 59, 59, 999) })
    await spend(gateway, hash, 400_000, { startedAt: Date.UTC(2026, 5, 30) })
    const expected = {
      usage: 0.123400001,
      usage_daily: 0.100000001,
      usage_weekly: 0.120000001,
      usage_monthly: 0.123000001,
      limit: 1,
      limit_remaining: 0.879999999,
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
    }
    expect(await read(hash)).toMatchObject(expected)
    expect((await call(handler, { path: '/v1/key', key })).json).toMatchObject({ data: expected })
    now = NOW + 5 * DAY
    expect(await read(hash)).toMatchObject({
      usage_daily: 0,
      usage_weekly: 0,
      usage_monthly: 0.123000001,
      limit_remaining: 1,
    })
    now = NOW
  })

  const resets: [reset: string | null, remaining: number][] = [
    ['daily', 9],
    ['weekly', 9],
    ['monthly', 9],
    [null, 7],
  ]
  for (const [reset, remaining] of resets) {
    test(`limit_reset ${reset}: what is left`, async () => {
      const { hash } = await make({ limit: 10, limit_reset: reset })
      await spend(gateway, hash, 1_000_000_000)
      await spend(gateway, hash, 2_000_000_000, { startedAt: Date.UTC(2026, 5, 1) })
      expect((await read(hash))['limit_remaining']).toBe(remaining)
    })
  }

  test('own-key usage counts toward the limit only where the key says so', async () => {
    const { hash } = await make({ limit: 10 })
    await spend(gateway, hash, 1_000_000_000)
    await spend(gateway, hash, 2_000_000_000, { isByok: true })
    expect(await read(hash)).toMatchObject({
      usage: 1,
      byok_usage: 2,
      byok_usage_daily: 2,
      limit_remaining: 9,
    })
    await manage('PATCH', `/keys/${hash}`, { include_byok_in_limit: true })
    expect(await read(hash)).toMatchObject({ limit_remaining: 7 })
  })

  test('a limit that is lowered below the usage leaves 0, not less', async () => {
    const { hash } = await make({ limit: 10 })
    await spend(gateway, hash, 3_000_000_000)
    await manage('PATCH', `/keys/${hash}`, { limit: 2 })
    expect(await read(hash)).toMatchObject({ limit: 2, limit_remaining: 0, usage: 3 })
  })
})

describe('lists', () => {
  const hashes = async (query: string): Promise<unknown[]> => {
    const { data } = objectOf((await manage('GET', `/keys${query}`)).json)
    return Array.isArray(data) ? data.map((key) => objectOf(key)['hash']) : []
  }

  test('are of one workspace, newest first, without disabled and deleted keys', async () => {
    const query = `?workspace_id=${OTHER_WORKSPACE}`
    now = NOW + DAY
    const first = await make({ workspace_id: OTHER_WORKSPACE })
    now += 1
    const second = await make({ workspace_id: OTHER_WORKSPACE })
    now += 1
    const third = await make({ workspace_id: OTHER_WORKSPACE })
    await manage('PATCH', `/keys/${second.hash}`, { disabled: true })
    expect((await hashes(query)).slice(0, 2)).toEqual([third.hash, first.hash])
    expect((await hashes(`${query}&include_disabled=true`)).slice(0, 3)).toEqual([
      third.hash,
      second.hash,
      first.hash,
    ])
    expect(await hashes(`${query}&include_disabled=false`)).toEqual(await hashes(query))
    await manage('DELETE', `/keys/${third.hash}`)
    expect((await hashes(query))[0]).toBe(first.hash)
    expect(await hashes('')).not.toContain(first.hash)
    now = NOW
  })

  test('are read on with offset until nothing is left', async () => {
    await Promise.all(Array.from({ length: 60 }, () => make()))
    const { total_count: total } = objectOf((await manage('GET', '/keys')).json)
    const all: unknown[] = []
    for (let page = await hashes(''); page.length > 0; page = await hashes(`?offset=${all.length}`)) {
      expect(page.length).toBeLessThanOrEqual(50)
      all.push(...page)
    }
    expect(new Set(all).size).toBe(all.length)
    expect(all.length).toBe(Number(total))
    expect(await hashes('?limit=7&offset=3')).toEqual(all.slice(3, 10))
  })

  test('hold no management key', async () => {
    expect(await hashes('?limit=100&include_disabled=true')).not.toContain(hashKey(MANAGEMENT_KEY))
  })
})

test('rate limits are set, shown with every field, changed, told in the audit log, and lifted', async () => {
  const models = [{ model: 'lab/tiny', tokens_per_minute: 500 }]
  const { hash, data } = await make({ rate_limits: { requests_per_minute: 10, models } })
  const whole = {
    requests_per_minute: 10,
    tokens_per_minute: null,
    concurrent_requests: null,
    models: [{ model: 'lab/tiny', requests_per_minute: null, tokens_per_minute: 500 }],
  }
  expect(data['rate_limits']).toEqual(whole)
  const change = async (rate_limits: unknown) => {
    await manage('PATCH', `/keys/${hash}`, { rate_limits })
    return (await read(hash))['rate_limits']
  }
  const shown = { ...whole, concurrent_requests: 3 }
  expect(await change(shown)).toEqual(shown)
  await manage('PATCH', `/keys/${hash}`, { name: 'other' })
  expect((await read(hash))['rate_limits']).toEqual(shown)
  expect(await change({ requests_per_minute: null, models: [] })).toBeNull()
  expect(await change(shown)).toEqual(shown)
  expect(await change(null)).toBeNull()
  expect((await make({}))['data']['rate_limits']).toBeNull()
  const log = objectOf((await manage('GET', `/audit-log?resource_id=${hash}`)).json)['data']
  const told = Array.isArray(log) ? log.map((entry) => objectOf(objectOf(entry)['after'])['rate_limits']) : []
  expect(told).toEqual([null, shown, null, undefined, shown, whole])
})

test('the key of the settings is without limit again at every start', async () => {
  const own = await startGateway()
  const hash = hashKey(API_KEY)
  await own.manage('PATCH', `/keys/${hash}`, { limit: 1, rate_limits: { requests_per_minute: 1 } })
  const settings = { managementKey: MANAGEMENT_KEY, apiKey: API_KEY, adminEmail: null, adminPassword: null }
  await ensureFirstRun(own.database, settings)
  const { data } = objectOf(await (await own.manage('GET', `/keys/${hash}`)).json())
  await own.stop()
  expect(data).toMatchObject({ limit: null, rate_limits: null })
})

describe('GET /key', () => {
  const CURRENT = {
    is_free_tier: false,
    limit: null,
    limit_remaining: null,
    limit_reset: null,
    include_byok_in_limit: false,
    expires_at: null,
    creator_user_id: expect.stringMatching(/^user_/),
    organization_id: expect.stringMatching(/^org_/),
    workspace_id: expect.any(String),
    allowed_data_regions: ['global'],
    free_model_daily_requests: { limit: -1, remaining: -1, used: 0 },
    rate_limit: { interval: '10s', note: expect.any(String), requests: -1 },
  }

  test('of an inference key', async () => {
    const { json } = await call(handler, { path: '/api/v1/key', key: API_KEY })
    expect(json).toMatchObject({
      data: { ...CURRENT, is_management_key: false, is_provisioning_key: false, label: labelOf(API_KEY) },
    })
  })

  test('of a management key', async () => {
    const { json } = await call(handler, { path: '/api/v1/key', key: MANAGEMENT_KEY })
    expect(json).toMatchObject({ data: { ...CURRENT, is_management_key: true, is_provisioning_key: true } })
  })

  test('never shows the key', async () => {
    const { key, hash } = await make()
    const replies = await Promise.all([
      call(handler, { path: '/v1/key', key }),
      manage('GET', `/keys/${hash}`),
      manage('GET', '/keys'),
    ])
    for (const { text } of replies) expect(text).not.toContain(key)
  })
})

test('an unknown key of the right form is told as little as a malformed one', async () => {
  const replies = await Promise.all(
    [newKey('management'), 'x'].map((key) => call(handler, { path: '/v1/keys', key })),
  )
  expect(replies[0]?.text).toBe(replies[1]?.text ?? '')
})
