import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { atomically } from '../../src/db/database.ts'
import { users } from '../../src/db/tables.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios, type Scenario } from '../scenario.ts'

let now = Date.UTC(2026, 6, 15, 12)
let gateway: Gateway
let handler: Handler
let workspaceId = ''
let otherKey = ''
const keys: string[] = []

const manage = (method: string, path: string, body?: unknown): Promise<Reply> =>
  call(handler, { method, path: `/api/v1${path}`, key: MANAGEMENT_KEY, body })
const dataOf = (reply: Reply): Record<string, unknown> => objectOf(objectOf(reply.json)['data'])
const listOf = (reply: Reply): Record<string, unknown>[] => {
  const { data } = objectOf(reply.json)
  return Array.isArray(data) ? data.map(objectOf) : []
}
async function make(fields: object = {}): Promise<string> {
  const reply = await manage('POST', '/guardrails', { name: 'made', ...fields })
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)])
  return String(dataOf(reply)['id'])
}
const makeKey = async (fields: object): Promise<string> =>
  String(dataOf(await manage('POST', '/keys', { name: 'k', ...fields }))['hash'])

beforeAll(async () => {
  gateway = await startGateway({ now: () => now })
  handler = createApp(gateway.deps)
  const { organizationId, defaultWorkspaceId } = gateway.deps.snapshot.current()
  workspaceId = defaultWorkspaceId
  await atomically(gateway.database, (tx) => [
    tx.insert(users).values([
      { id: 'user_ada', organization_id: organizationId, name: 'Ada', role: 'member' },
      { id: 'user_bob', organization_id: organizationId, name: 'Bob', role: 'member' },
    ]),
  ])
  for (const name of ['a', 'b', 'c']) keys.push(await makeKey({ name }))
  const other = dataOf(await manage('POST', '/workspaces', { name: 'Other', slug: 'other' }))
  otherKey = await makeKey({ name: 'other', workspace_id: other['id'] })
})
afterAll(() => gateway.stop())

const FULL = {
  name: 'Careful',
  description: 'For interns',
  allowed_models: ['openai/gpt-5', 'anthropic/claude-sonnet-4.5'],
  ignored_models: ['lab/wild'],
  allowed_providers: ['openai', 'anthropic'],
  ignored_providers: ['lab'],
  allowed_data_regions: ['europe'],
  content_filter_builtins: [
    { slug: 'email', action: 'redact', label: '[EMAIL]' },
    { slug: 'phone', action: 'flag', apply_to: 'both' },
  ],
  content_filters: [
    { pattern: 'PROJ-\\d{4}', action: 'block', label: null },
    { pattern: 'TASK-\\d{4}', action: 'block', apply_to: 'output' },
  ],
  enable_free_model_publication: false,
  enable_free_model_training: false,
  enable_paid_model_training: true,
  enforce_zdr_anthropic: true,
  enforce_zdr_google: false,
  enforce_zdr_openai: null,
  enforce_zdr_other: null,
  enforce_zdr_xai: true,
  include_byok_in_budgets: true,
  limit_usd: 25.5,
  reset_interval: 'monthly',
  rate_limits: {
    requests_per_minute: 600,
    tokens_per_minute: null,
    concurrent_requests: 20,
    models: [{ model: 'openai/gpt-5', requests_per_minute: 10, tokens_per_minute: 40_000 }],
  },
}

describe('guardrails', () => {
  test('one is made with every field, read, changed and deleted', async () => {
    const made = await manage('POST', '/guardrails', FULL)
    const record = {
      ...FULL,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspace_id: workspaceId,
      enforce_zdr: false,
      created_at: new Date(now).toISOString(),
      updated_at: null,
    }
    expect([made.status, made.json]).toEqual([201, { data: record }])
    const id = String(dataOf(made)['id'])
    expect((await manage('GET', `/guardrails/${id}`)).json).toEqual(made.json)
    now += 1000
    const changed = await manage('PATCH', `/guardrails/${id}`, { allowed_models: null, limit_usd: 30 })
    expect(dataOf(changed)).toEqual({
      ...record,
      allowed_models: null,
      limit_usd: 30,
      updated_at: new Date(now).toISOString(),
    })
    expect((await manage('DELETE', `/guardrails/${id}`)).json).toEqual({ deleted: true })
    expect((await manage('GET', `/guardrails/${id}`)).status).toBe(404)
    expect((await manage('DELETE', `/guardrails/${id}`)).status).toBe(404)
    const told = listOf(await manage('GET', `/audit-log?resource_id=${id}`))
    expect(told.map(({ action }) => action)).toEqual([
      'guardrail.delete',
      'guardrail.update',
      'guardrail.create',
    ])
    expect(told[1]).toMatchObject({ after: { allowed_models: null, limit_usd: 30 } })
  })

  test('the older flag stands for the newer ones that are left out', async () => {
    const id = await make({ enforce_zdr: true, enforce_zdr_google: false })
    expect(dataOf(await manage('GET', `/guardrails/${id}`))).toMatchObject({
      enforce_zdr: true,
      enforce_zdr_anthropic: true,
      enforce_zdr_google: false,
      enforce_zdr_openai: true,
      enforce_zdr_other: true,
      enforce_zdr_xai: true,
    })
  })

  test("a workspace has a default one, which is listed, can be changed and can't be deleted", async () => {
    const { default_guardrail_id: id } = dataOf(await manage('GET', '/workspaces/default'))
    const [first] = listOf(await manage('GET', '/guardrails'))
    expect(first).toMatchObject({ id, name: 'Default', allowed_models: null, limit_usd: null })
    expect((await manage('PATCH', `/guardrails/${id}`, { description: 'For all of us' })).status).toBe(200)
    const refused = await manage('DELETE', `/guardrails/${id}`)
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('default guardrail')])
  })

  test('a list is of one workspace, paged and counted', async () => {
    const { id } = dataOf(await manage('GET', '/workspaces/other'))
    await make({ name: 'elsewhere', workspace_id: id })
    const own = listOf(await manage('GET', '/guardrails?limit=100'))
    expect(own.every((row) => row['workspace_id'] === workspaceId)).toBe(true)
    const page = await manage('GET', `/guardrails?workspace_id=${id}&offset=1&limit=1`)
    expect(page.json).toMatchObject({ total_count: 2, data: [{ name: 'elsewhere' }] })
  })
})

describe('keys of guardrails', () => {
  test.each([
    ['keys', 'key_hashes', 'key_hashes', () => keys.slice(0, 2)],
    ['members', 'member_user_ids', 'user_ids', () => ['user_ada']],
  ] as const)(
    'the audit log of a guardrail tells which %s left it for another',
    async (kind, field, name, of) => {
      const [first, second] = [await make(), await make()]
      for (const id of [first, second, second]) {
        await manage('POST', `/guardrails/${id}/assignments/${kind}`, { [field]: of() })
      }
      const log = listOf(await manage('GET', `/audit-log?resource_id=${first}`))
      expect(log.map(({ action, before, after }) => [action, before, after])).toEqual([
        [`guardrail.unassign_${kind}`, { [name]: of() }, null],
        [`guardrail.assign_${kind}`, null, { [name]: of() }],
        ['guardrail.create', null, expect.anything()],
      ])
      expect(listOf(await manage('GET', `/audit-log?resource_id=${second}`))).toHaveLength(3)
    },
  )

  test('a key holds one guardrail: a second one replaces the first', async () => {
    const [first, second] = [await make({ name: 'first' }), await make({ name: 'second' })]
    const assign = (id: string, key_hashes: unknown[]) =>
      manage('POST', `/guardrails/${id}/assignments/keys`, { key_hashes })
    expect((await assign(first, [keys[0], keys[1], keys[0]])).json).toEqual({ assigned_count: 2 })
    expect((await assign(second, [keys[1]])).json).toEqual({ assigned_count: 1 })
    const ofFirst = await manage('GET', `/guardrails/${first}/assignments/keys`)
    expect(ofFirst.json).toEqual({
      data: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          guardrail_id: first,
          key_hash: keys[0],
          key_label: expect.stringContaining('...'),
          key_name: 'a',
          assigned_by: expect.stringMatching(/^user_/),
          created_at: new Date(now).toISOString(),
        },
      ],
      total_count: 1,
      next_cursor: null,
    })
    const all = await manage('GET', '/guardrails/assignments/keys')
    expect(listOf(all).map((row) => [row['guardrail_id'], row['key_name']])).toEqual([
      [first, 'a'],
      [second, 'b'],
    ])
    expect((await manage('GET', '/guardrails/assignments/keys?offset=1')).json).toMatchObject({
      total_count: 2,
      next_cursor: null,
    })

    const remove = (key_hashes: unknown[]) =>
      manage('POST', `/guardrails/${second}/assignments/keys/remove`, { key_hashes })
    // Of another guardrail, unknown, and its own.
    expect((await remove([keys[0], 'f'.repeat(64), keys[1]])).json).toEqual({ unassigned_count: 1 })
    expect((await remove([keys[1]])).json).toEqual({ unassigned_count: 0 })
    await manage('DELETE', `/guardrails/${first}`)
    expect((await manage('GET', '/guardrails/assignments/keys')).json).toEqual({
      data: [],
      total_count: 0,
      next_cursor: null,
    })
  })

  test('all of them are assigned or none', async () => {
    const id = await make()
    const assign = (key_hashes: unknown[]) =>
      manage('POST', `/guardrails/${id}/assignments/keys`, { key_hashes })
    const unknown = await assign([keys[2], '0'.repeat(64)])
    expect([unknown.status, unknown.text]).toEqual([404, expect.stringContaining('0'.repeat(64))])
    const foreign = await assign([keys[2], otherKey])
    expect([foreign.status, foreign.text]).toEqual([400, expect.stringContaining('another workspace')])
    expect((await manage('GET', `/guardrails/${id}/assignments/keys`)).json).toEqual({
      data: [],
      total_count: 0,
      next_cursor: null,
    })
  })
})

test('members of guardrails: one each, all or none', async () => {
  const [first, second] = [await make(), await make()]
  const assign = (id: string, member_user_ids: string[]) =>
    manage('POST', `/guardrails/${id}/assignments/members`, { member_user_ids })
  expect((await assign(first, ['user_ada', 'user_bob'])).json).toEqual({ assigned_count: 2 })
  expect((await assign(second, ['user_bob'])).json).toEqual({ assigned_count: 1 })
  expect((await assign(second, ['user_ada', 'user_nobody'])).status).toBe(404)
  expect((await manage('GET', `/guardrails/${first}/assignments/members`)).json).toEqual({
    data: [
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        guardrail_id: first,
        user_id: 'user_ada',
        organization_id: expect.stringMatching(/^org_/),
        assigned_by: expect.stringMatching(/^user_/),
        created_at: new Date(now).toISOString(),
      },
    ],
    total_count: 1,
    next_cursor: null,
  })
  const all = await manage('GET', '/guardrails/assignments/members')
  expect(listOf(all).map((row) => row['user_id'])).toEqual(['user_ada', 'user_bob'])
  const removed = await manage('POST', `/guardrails/${first}/assignments/members/remove`, {
    member_user_ids: ['user_ada', 'user_bob'],
  })
  expect(removed.json).toEqual({ unassigned_count: 1 })
})

const refusedBodies: [name: string, fields: object, contains: string][] = [
  ['no name', { name: '' }, 'name'],
  ['a name of 201', { name: 'n'.repeat(201) }, 'name'],
  ['a description of 1001', { description: 'd'.repeat(1001) }, 'description'],
  ['an empty list', { allowed_models: [] }, 'allowed_models'],
  ['an unknown region', { allowed_data_regions: ['mars'] }, 'allowed_data_regions'],
  ['a budget without an interval', { limit_usd: 5 }, 'reset_interval'],
  ['an interval without a budget', { reset_interval: 'daily' }, 'limit_usd'],
  ['an unknown interval', { limit_usd: 5, reset_interval: 'lifetime' }, 'reset_interval'],
  ['a budget of 0', { limit_usd: 0, reset_interval: 'daily' }, 'limit_usd'],
  ['an unknown field', { colour: 'red' }, 'colour'],
  [
    'an unknown builtin',
    { content_filter_builtins: [{ slug: 'moods', action: 'block' }] },
    'content_filter_builtins',
  ],
  [
    'an unknown action',
    { content_filters: [{ pattern: 'a', action: 'shout' }] },
    'content_filters[0].action',
  ],
  [
    'an unknown direction',
    { content_filters: [{ pattern: 'a', action: 'flag', apply_to: 'outward' }] },
    'content_filters[0].apply_to',
  ],
  [
    'users alone, in what no user wrote',
    {
      content_filter_builtins: [
        { slug: 'regex-prompt-injection', action: 'flag', scan_scope: 'user_only', apply_to: 'output' },
      ],
    },
    'content_filter_builtins[0].scan_scope',
  ],
  [
    'names of people',
    { content_filter_builtins: [{ slug: 'person-name', action: 'flag' }] },
    'list of names',
  ],
  ['lookaround', { content_filters: [{ pattern: 'a(?=b)', action: 'block' }] }, 'content_filters[0].pattern'],
  [
    'patterns that are too large together',
    {
      content_filters: Array.from({ length: 200 }, () => ({
        pattern: '(?:abc){500}[ab]{900}',
        action: 'flag',
      })),
    },
    'more than 300,000 instructions',
  ],
  ['a backreference', { content_filters: [{ pattern: '(a)\\1', action: 'block' }] }, 'invalid_regex_pattern'],
  [
    'a pattern of 100,001',
    { content_filters: [{ pattern: 'a'.repeat(100_001), action: 'block' }] },
    'pattern',
  ],
]

const ID = '0190a000-0000-7000-8000-000000000000'
const OPERATIONS: [method: string, path: string, body?: unknown][] = [
  ['GET', '/guardrails'],
  ['POST', '/guardrails', { name: 'x' }],
  ['GET', `/guardrails/${ID}`],
  ['PATCH', `/guardrails/${ID}`, { name: 'x' }],
  ['DELETE', `/guardrails/${ID}`],
  ['GET', '/guardrails/assignments/keys'],
  ['GET', '/guardrails/assignments/members'],
  ['GET', `/guardrails/${ID}/assignments/keys`],
  ['GET', `/guardrails/${ID}/assignments/members`],
  ['POST', `/guardrails/${ID}/assignments/keys`, { key_hashes: ['x'] }],
  ['POST', `/guardrails/${ID}/assignments/keys/remove`, { key_hashes: ['x'] }],
  ['POST', `/guardrails/${ID}/assignments/members`, { member_user_ids: ['x'] }],
  ['POST', `/guardrails/${ID}/assignments/members/remove`, { member_user_ids: ['x'] }],
]
const scenarios: Scenario[] = [
  ...refusedBodies.map(([name, fields, contains]) => ({
    name,
    method: 'POST',
    path: '/v1/guardrails',
    key: MANAGEMENT_KEY,
    body: { name: 'made', ...fields },
    status: 400,
    contains: [contains],
  })),
  ...OPERATIONS.flatMap(([method, path, body]) => {
    const base = { method, path: `/v1${path}`, ...(body === undefined ? {} : { body }) }
    return [
      { ...base, name: `${method} ${path} without a key`, status: 401 },
      {
        ...base,
        name: `${method} ${path} with an inference key`,
        key: API_KEY,
        status: 403,
        contains: ['management'],
      },
      ...(path.includes(ID)
        ? [{ ...base, name: `${method} ${path}, unknown`, key: MANAGEMENT_KEY, status: 404 }]
        : []),
    ]
  }),
  {
    name: 'an id that is none',
    path: '/v1/guardrails/nothing',
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['UUID'],
  },
  {
    name: 'an unknown workspace',
    method: 'POST',
    path: '/v1/guardrails',
    key: MANAGEMENT_KEY,
    body: { name: 'x', workspace_id: ID },
    status: 404,
  },
  {
    name: 'no keys',
    method: 'POST',
    path: `/v1/guardrails/${ID}/assignments/keys`,
    key: MANAGEMENT_KEY,
    body: { key_hashes: [] },
    status: 400,
    contains: ['key_hashes'],
  },
]
runScenarios('refusals', () => handler, scenarios)
