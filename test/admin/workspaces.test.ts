import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { createApp } from '../../src/app.ts'
import { atomically } from '../../src/db/database.ts'
import {
  byokKeys,
  guardrails,
  presets,
  presetVersions,
  users,
  workspaceBudgets,
  workspaceMembers,
} from '../../src/db/tables.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { ensureFirstRun } from '../../src/server/first-run.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios, type Scenario } from '../scenario.ts'

let now = Date.UTC(2026, 6, 15, 12)
let gateway: Gateway
let handler: Handler

beforeAll(async () => {
  gateway = await startGateway({ now: () => now })
  handler = createApp(gateway.deps)
  const organizationId = gateway.deps.snapshot.current().organizationId
  await atomically(gateway.database, (tx) => [
    tx.insert(users).values([
      { id: 'user_ada', organization_id: organizationId, name: 'Ada', role: 'member' },
      { id: 'user_bob', organization_id: organizationId, name: 'Bob', role: 'admin' },
      {
        id: 'user_gone',
        organization_id: organizationId,
        name: 'Gone',
        role: 'member',
        deleted_at: new Date(now),
      },
    ]),
  ])
})
afterAll(() => gateway.stop())

const manage = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Reply> =>
  call(handler, {
    method,
    path: `/api/v1${path}`,
    key: MANAGEMENT_KEY,
    body,
    ...(headers ? { headers } : {}),
  })
const dataOf = (reply: Reply): Record<string, unknown> => objectOf(objectOf(reply.json)['data'])
const listOf = (reply: Reply): Record<string, unknown>[] => {
  const { data } = objectOf(reply.json)
  return Array.isArray(data) ? data.map(objectOf) : []
}
async function make(slug: string, more: object = {}): Promise<string> {
  const reply = await manage('POST', '/workspaces', { name: slug, slug, ...more })
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)])
  return String(dataOf(reply)['id'])
}
const actions = async (id: string): Promise<unknown[]> =>
  listOf(await manage('GET', `/audit-log?limit=100&workspace_id=${id}`)).map(({ action }) => action)

const FULL = {
  name: 'Research',
  slug: 'research',
  description: 'All that is not shipped yet',
  default_image_model: 'lab/paint',
  default_text_model: 'lab/tiny',
  default_provider_sort: 'latency',
  disabled_server_tools: ['openrouter:web_search'],
  io_logging_api_key_ids: null,
  io_logging_sampling_rate: 0.5,
  is_data_discount_logging_enabled: true,
  is_observability_broadcast_enabled: true,
  is_observability_io_logging_enabled: true,
  rate_limits: {
    requests_per_minute: 600,
    tokens_per_minute: null,
    concurrent_requests: 20,
    models: [{ model: 'openai/gpt-5', requests_per_minute: 10, tokens_per_minute: 40_000 }],
  },
  response_cache_enabled: true,
  response_cache_ttl_seconds: 60,
}

describe('workspaces', () => {
  test('one is made with every field, read by id and slug, changed, and deleted', async () => {
    const made = await manage('POST', '/workspaces', FULL)
    const record = {
      ...FULL,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      default_guardrail_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      include_byok_in_budgets: false,
      created_at: '2026-07-15T12:00:00.000Z',
      created_by: expect.stringMatching(/^user_/),
      updated_at: null,
    }
    expect([made.status, made.json]).toEqual([200, { data: record }])
    const id = String(dataOf(made)['id'])
    expect((await manage('GET', '/workspaces/research')).json).toEqual(made.json)
    expect((await manage('GET', `/workspaces/${id.toUpperCase()}`)).json).toEqual(made.json)

    now += 1000
    const patched = await manage('PATCH', '/workspaces/research', { slug: 'labs', description: null })
    expect(dataOf(patched)).toEqual({
      ...record,
      slug: 'labs',
      description: null,
      updated_at: '2026-07-15T12:00:01.000Z',
    })
    expect((await manage('GET', '/workspaces/research')).status).toBe(404)
    expect((await manage('PATCH', '/workspaces/labs', {})).json).toEqual(patched.json)

    expect((await manage('DELETE', '/workspaces/labs')).json).toEqual({ deleted: true })
    expect((await manage('GET', `/workspaces/${id}`)).status).toBe(404)
    expect((await manage('DELETE', '/workspaces/labs')).status).toBe(404)
    // The slug is free again.
    expect(dataOf(await manage('POST', '/workspaces', { name: 'Again', slug: 'labs' }))['id']).not.toBe(id)
    expect(await actions(id)).toEqual(['workspace.delete', 'workspace.update', 'workspace.create'])
  })

  test('what is left out has its default', async () => {
    const reply = await manage('POST', '/workspaces', { name: 'Plain', slug: 'plain' })
    expect(dataOf(reply)).toMatchObject({
      description: null,
      default_text_model: null,
      disabled_server_tools: null,
      io_logging_sampling_rate: 1,
      is_observability_io_logging_enabled: false,
      response_cache_enabled: false,
      response_cache_ttl_seconds: 300,
    })
  })

  test('its default text model serves its keys at once', async () => {
    const id = await make('defaults', { default_text_model: 'sluice/demo' })
    const { key } = objectOf((await manage('POST', '/keys', { name: 'k', workspace_id: id })).json)
    const ask = () =>
      call(handler, {
        method: 'POST',
        path: '/v1/chat/completions',
        key: String(key),
        body: { messages: [{ role: 'user', content: 'Hi' }] },
      })
    expect(objectOf((await ask()).json)['model']).toBe('sluice/demo')
    await manage('PATCH', '/workspaces/defaults', { default_text_model: null })
    expect((await ask()).status).toBe(400)
  })

  test('a list is in the order of making, paged and counted', async () => {
    const all = listOf(await manage('GET', '/workspaces'))
    expect(all[0]).toMatchObject({ slug: 'default', name: 'Default' })
    const page = await manage('GET', '/workspaces?offset=1&limit=2')
    expect(listOf(page)).toEqual(all.slice(1, 3))
    expect(objectOf(page.json)['total_count']).toBe(all.length)
  })

  test('an inference key sees its own workspace and no other', async () => {
    await make('foreign')
    const own = await call(handler, { path: '/v1/workspaces', key: API_KEY })
    expect(listOf(own).map(({ slug }) => slug)).toEqual(['default'])
    expect(objectOf(own.json)['total_count']).toBe(1)
    expect((await call(handler, { path: '/v1/workspaces/default', key: API_KEY })).status).toBe(200)
    const foreign = await call(handler, { path: '/v1/workspaces/foreign', key: API_KEY })
    const missing = await call(handler, { path: '/v1/workspaces/missing', key: API_KEY })
    expect([foreign.status, foreign.text]).toEqual([404, missing.text])
  })

  test('deleting is refused while a key is active in it, which is named', async () => {
    const id = await make('busy')
    const { data } = objectOf((await manage('POST', '/keys', { name: 'still here', workspace_id: id })).json)
    const refused = await manage('DELETE', '/workspaces/busy')
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('still here')
    await manage('PATCH', `/keys/${objectOf(data)['hash']}`, { disabled: true })
    expect((await manage('DELETE', '/workspaces/busy')).status).toBe(200)
  })

  test('what it holds goes with it, prompts of presets too; the audit log stays', async () => {
    const id = await make('leaving')
    const { database } = gateway
    const of = `?workspace_id=${id}`
    const preset = { model: 'sluice/demo', messages: [{ role: 'system', content: 'canary of a prompt' }] }
    expect((await manage('POST', `/presets/kept/chat/completions${of}`, preset)).status).toBe(200)
    await manage('POST', '/byok', { provider: 'openai', key: 'sk-0123456789abcdef', workspace_id: id })
    await manage('PUT', '/workspaces/leaving/budgets/daily', { limit_usd: 1 })
    expect((await manage('DELETE', '/workspaces/leaving')).json).toEqual({ deleted: true })
    for (const table of [presets, byokKeys, workspaceBudgets, guardrails, workspaceMembers]) {
      expect(database.sync.select().from(table).where(eq(table.workspace_id, id)).all()).toEqual([])
    }
    const versions = database.sync.select().from(presetVersions).all()
    expect(JSON.stringify(versions)).not.toContain('canary')
    expect(listOf(await manage('GET', `/audit-log${of}`)).map(({ action }) => action)).toContain(
      'preset.create',
    )
  })

  test('the public SDK is answered 201', async () => {
    const agent = { 'user-agent': 'speakeasy-sdk/typescript 1.3.19' }
    expect((await manage('POST', '/workspaces', { name: 'Sdk', slug: 'sdk' }, agent)).status).toBe(201)
  })
})

test('the default workspace goes with a confirmation and hands its management keys to the next', async () => {
  const other = await startGateway({ now: () => now })
  const app = createApp(other.deps)
  const ask = (method: string, path: string, body?: unknown) =>
    call(app, { method, path: `/v1${path}`, key: MANAGEMENT_KEY, body })
  const remove = '/workspaces/default?confirm_default_workspace_deletion=true'
  expect((await ask('DELETE', remove)).text).toContain('only workspace')
  await ask('POST', '/workspaces', { name: 'Next', slug: 'next' })
  const bare = await ask('DELETE', '/workspaces/default')
  expect([bare.status, bare.text]).toEqual([
    400,
    expect.stringContaining('confirm_default_workspace_deletion'),
  ])
  // The inference key of the settings is active in it.
  expect((await ask('DELETE', remove)).text).toContain('active API keys')
  const [key] = listOf(await ask('GET', '/keys'))
  await ask('DELETE', `/keys/${key?.['hash']}`)
  expect((await ask('DELETE', remove)).json).toEqual({ deleted: true })
  const { data } = objectOf((await ask('POST', '/keys', { name: 'in the next' })).json)
  const next = dataOf(await ask('GET', '/workspaces/next'))
  expect(objectOf(data)['workspace_id']).toBe(next['id'])
  // As the next start does: the key of the settings works again, and not for a workspace that is gone.
  const keys = { managementKey: MANAGEMENT_KEY, apiKey: API_KEY, adminEmail: null, adminPassword: null }
  await ensureFirstRun(other.database, keys)
  other.deps.snapshot.applyChanges()
  const again = await call(app, { path: '/v1/key', key: API_KEY })
  expect([again.status, dataOf(again)['workspace_id']]).toEqual([200, next['id']])
  await other.stop()
})

describe('members', () => {
  test('the maker is one; more are added, listed and removed', async () => {
    const id = await make('team')
    const [maker] = listOf(await manage('GET', '/workspaces/team/members'))
    expect(maker).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user_id: expect.stringMatching(/^user_/),
      workspace_id: id,
      role: 'admin',
      created_at: new Date(now).toISOString(),
    })
    const user_ids = ['user_ada', 'user_bob', 'user_ada']
    const added = await manage('POST', '/workspaces/team/members/add', { user_ids })
    expect(added.json).toMatchObject({
      added_count: 2,
      data: [
        { user_id: 'user_ada', role: 'member', workspace_id: id },
        { user_id: 'user_bob', role: 'admin', workspace_id: id },
      ],
    })
    // Again: nothing new, the same memberships.
    expect((await manage('POST', '/workspaces/team/members/add', { user_ids })).json).toEqual(added.json)
    expect((await manage('GET', '/workspaces/team/members?limit=1')).json).toMatchObject({ total_count: 3 })
    const removed = await manage('POST', '/workspaces/team/members/remove', { user_ids: ['user_ada'] })
    expect(removed.json).toEqual({ removed_count: 1 })
    expect(
      (await manage('POST', '/workspaces/team/members/remove', { user_ids: ['user_ada'] })).json,
    ).toEqual({
      removed_count: 0,
    })
    expect(await actions(id)).toEqual([
      'workspace.remove_members',
      'workspace.add_members',
      'workspace.create',
    ])
  })

  test('nobody is removed while one of them has an active key there', async () => {
    const id = await make('holders')
    await manage('POST', '/workspaces/holders/members/add', { user_ids: ['user_ada', 'user_bob'] })
    await manage('POST', '/keys', { name: 'of Ada', workspace_id: id, creator_user_id: 'user_ada' })
    const refused = await manage('POST', '/workspaces/holders/members/remove', {
      user_ids: ['user_bob', 'user_ada'],
    })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('user_ada has active API keys')
    expect(refused.text).toContain('of Ada')
    expect((await manage('GET', '/workspaces/holders/members')).json).toMatchObject({ total_count: 3 })
  })
})

describe('budgets', () => {
  test('one for each interval is set, read, changed and deleted', async () => {
    const id = await make('money')
    const budget = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspace_id: id,
      limit_usd: 10.5,
      reset_interval: 'weekly',
      created_at: new Date(now).toISOString(),
      updated_at: new Date(now).toISOString(),
    }
    const made = await manage('PUT', '/workspaces/money/budgets/weekly', { limit_usd: 10.5 })
    expect([made.status, made.json]).toEqual([200, { data: budget, include_byok_in_budgets: false }])
    now += 1000
    const changed = await manage('PUT', `/workspaces/${id}/budgets/weekly`, {
      limit_usd: 12,
      include_byok_in_budgets: true,
    })
    expect(changed.json).toEqual({
      data: {
        ...objectOf(objectOf(made.json)['data']),
        limit_usd: 12,
        updated_at: new Date(now).toISOString(),
      },
      include_byok_in_budgets: true,
    })
    await manage('PUT', '/workspaces/money/budgets/lifetime', { limit_usd: 100 })
    const all = await manage('GET', '/workspaces/money/budgets')
    expect(listOf(all).map((row) => [row['reset_interval'], row['limit_usd']])).toEqual([
      ['weekly', 12],
      [null, 100],
    ])
    expect(objectOf(all.json)['include_byok_in_budgets']).toBe(true)
    expect((await manage('GET', '/workspaces/money/budgets/weekly')).json).toEqual(changed.json)
    for (let time = 0; time < 2; time++) {
      expect((await manage('DELETE', '/workspaces/money/budgets/weekly')).json).toEqual({ deleted: true })
    }
    expect((await manage('GET', '/workspaces/money/budgets/weekly')).status).toBe(404)
    expect(await actions(id)).toEqual([
      'budget.delete',
      'budget.set',
      'budget.set',
      'budget.set',
      'workspace.create',
    ])
  })

  test('a longer interval must allow more than a shorter one, among those that are set', async () => {
    await make('order')
    const put = (interval: string, limit_usd: number) =>
      manage('PUT', `/workspaces/order/budgets/${interval}`, { limit_usd })
    expect((await put('daily', 5)).status).toBe(200)
    expect((await put('lifetime', 5)).text).toContain(
      'the lifetime budget (USD 5) must be larger than the daily one',
    )
    expect((await put('lifetime', 50)).status).toBe(200)
    expect((await put('monthly', 50)).status).toBe(400)
    expect((await put('monthly', 4)).status).toBe(400)
    expect((await put('monthly', 20)).status).toBe(200)
    expect((await put('daily', 20)).status).toBe(400)
    expect((await manage('GET', '/workspaces/order/budgets/daily')).json).toMatchObject({
      data: { limit_usd: 5 },
    })
  })
})

const bodies: [name: string, method: string, path: string, body: unknown, contains: string][] = [
  ['no name', 'POST', '/workspaces', { slug: 'x' }, 'name'],
  ['an empty name', 'POST', '/workspaces', { name: '', slug: 'x' }, 'name'],
  ['a name of 101', 'POST', '/workspaces', { name: 'n'.repeat(101), slug: 'x' }, 'name'],
  ['no slug', 'POST', '/workspaces', { name: 'x' }, 'slug'],
  ['a slug with capitals', 'POST', '/workspaces', { name: 'x', slug: 'Lab' }, 'slug'],
  ['a slug with two dashes', 'POST', '/workspaces', { name: 'x', slug: 'a--b' }, 'slug'],
  ['a slug of 51', 'POST', '/workspaces', { name: 'x', slug: 's'.repeat(51) }, 'slug'],
  ['a description of 501', 'PATCH', '/workspaces/default', { description: 'd'.repeat(501) }, 'description'],
  [
    'a rate below',
    'PATCH',
    '/workspaces/default',
    { io_logging_sampling_rate: 0.00009 },
    'io_logging_sampling_rate',
  ],
  [
    'a rate above',
    'PATCH',
    '/workspaces/default',
    { io_logging_sampling_rate: 1.1 },
    'io_logging_sampling_rate',
  ],
  [
    'an unknown sort',
    'PATCH',
    '/workspaces/default',
    { default_provider_sort: 'luck' },
    'default_provider_sort',
  ],
  ['an unknown field', 'PATCH', '/workspaces/default', { colour: 'red' }, 'colour'],
  ['no members', 'POST', '/workspaces/default/members/add', { user_ids: [] }, 'user_ids'],
  [
    'members beyond 100',
    'POST',
    '/workspaces/default/members/add',
    { user_ids: Array.from({ length: 101 }, (_, index) => `user_${index}`) },
    'user_ids',
  ],
  ['a budget of 0', 'PUT', '/workspaces/default/budgets/daily', { limit_usd: 0 }, 'limit_usd'],
  [
    'a budget below a nano-dollar',
    'PUT',
    '/workspaces/default/budgets/daily',
    { limit_usd: 1e-10 },
    'limit_usd',
  ],
  ['a budget without a limit', 'PUT', '/workspaces/default/budgets/daily', {}, 'limit_usd'],
  ['an unknown interval', 'PUT', '/workspaces/default/budgets/hourly', { limit_usd: 1 }, 'interval'],
  ['an unknown interval to delete', 'DELETE', '/workspaces/default/budgets/hourly', undefined, 'interval'],
]

const OPERATIONS: [method: string, path: string, body?: unknown][] = [
  ['POST', '/workspaces', { name: 'x', slug: 'x' }],
  ['PATCH', '/workspaces/ID', { name: 'x' }],
  ['DELETE', '/workspaces/ID'],
  ['GET', '/workspaces/ID/members'],
  ['POST', '/workspaces/ID/members/add', { user_ids: ['user_ada'] }],
  ['POST', '/workspaces/ID/members/remove', { user_ids: ['user_ada'] }],
  ['GET', '/workspaces/ID/budgets'],
  ['GET', '/workspaces/ID/budgets/daily'],
  ['PUT', '/workspaces/ID/budgets/daily', { limit_usd: 1 }],
  ['DELETE', '/workspaces/ID/budgets/daily'],
]

const scenarios: Scenario[] = [
  ...bodies.map(([name, method, path, body, contains]) => ({
    name,
    method,
    path: `/api/v1${path}`,
    key: MANAGEMENT_KEY,
    ...(body === undefined ? {} : { body }),
    status: 400,
    contains: [contains],
  })),
  ...OPERATIONS.flatMap(([method, path, body]) => {
    const at = (id: string) => `/api/v1${path.replace('ID', id)}`
    const base = { method, path: at('default'), ...(body === undefined ? {} : { body }) }
    const unknown = { ...base, path: at('0190a000-0000-7000-8000-000000000000'), key: MANAGEMENT_KEY }
    return [
      { ...base, name: `${method} ${path} without a key`, status: 401 },
      {
        ...base,
        name: `${method} ${path} with an inference key`,
        key: API_KEY,
        status: 403,
        contains: ['Only management keys'],
      },
      ...(path.includes('ID') ? [{ ...unknown, name: `${method} ${path} of nobody`, status: 404 }] : []),
    ]
  }),
  { name: 'a list without a key', path: '/v1/workspaces', status: 401 },
  { name: 'one without a key', path: '/v1/workspaces/default', status: 401 },
  {
    name: 'a taken slug',
    method: 'POST',
    path: '/v1/workspaces',
    key: MANAGEMENT_KEY,
    body: { name: 'Twin', slug: 'default' },
    status: 409,
    contains: ['slug'],
  },
  {
    name: 'an unknown user',
    method: 'POST',
    path: '/v1/workspaces/default/members/add',
    key: MANAGEMENT_KEY,
    body: { user_ids: ['user_ada', 'user_nobody'] },
    status: 404,
    contains: ['user_nobody'],
  },
  {
    name: 'a user who is gone',
    method: 'POST',
    path: '/v1/workspaces/default/members/add',
    key: MANAGEMENT_KEY,
    body: { user_ids: ['user_gone'] },
    status: 404,
  },
  {
    name: 'a key to log that is not there',
    method: 'PATCH',
    path: '/v1/workspaces/default',
    key: MANAGEMENT_KEY,
    body: { io_logging_api_key_ids: [1, 9999] },
    status: 404,
    contains: ['9999'],
  },
  {
    name: 'a page of 101',
    path: '/v1/workspaces?limit=101',
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['limit'],
  },
  { name: 'a page before the first', path: '/v1/workspaces?offset=-1', key: MANAGEMENT_KEY, status: 400 },
]
runScenarios('refusals', () => handler, scenarios)
