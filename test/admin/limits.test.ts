/** Each limit of the fields of administration. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { type Limit, manages, many, runLimits, x } from './limits.ts'
import { fresh, things } from './tenancy/things.ts'
import type { World } from './tenancy/types.ts'
import { startWorld } from './tenancy/world.ts'

let world: World
let guardrail = ''
let assigned: string[] = []
let people: string[] = []
beforeAll(async () => {
  world = await startWorld()
  guardrail = await things.guardrail.make(world, world.own)
  assigned = [await things.key.make(world, world.own)]
  people = [await things.member.make(world, world.own)]
})
afterAll(() => world.gateway.stop())

const lists: Limit[] = [
  '/workspaces',
  '/guardrails',
  '/guardrails/assignments/keys',
  '/guardrails/assignments/members',
  '/presets',
  '/keys',
  '/byok',
  '/observability/destinations',
  '/organization/members',
  '/audit-log',
  '/workspaces/default/members',
].flatMap((path) => [
  {
    ...manages,
    subject: `limit of GET ${path}`,
    path: (n: unknown) => `${path}?limit=${n}`,
    accepted: [1, 100],
    rejected: [0, 101, -1, '', '1.0', 'ten'],
    says: 'limit',
  },
  {
    ...manages,
    subject: `offset of GET ${path}`,
    path: (n: unknown) => `${path}?offset=${n}`,
    accepted: [0, 1000],
    rejected: [-1, '', '1.5', 'ten'],
    says: 'offset',
  },
])

const slug = (): string => fresh('edge')
const newWorkspace = (field: string) => (value: unknown) => ({ name: 'Edge', slug: slug(), [field]: value })
/** The same field in the creation and in the change of a workspace. */
const workspace = (field: string, accepted: readonly unknown[], rejected: readonly unknown[]): Limit[] => [
  {
    ...manages,
    subject: `${field} of POST /workspaces`,
    path: '/workspaces',
    body: newWorkspace(field),
    accepted,
    rejected,
    says: field,
  },
  {
    ...manages,
    subject: `${field} of PATCH /workspaces/{id}`,
    method: 'PATCH',
    path: () => `/workspaces/${world.foreign.id}`,
    body: (value) => ({ [field]: value }),
    accepted,
    rejected,
    says: field,
  },
]

const administration: Limit[] = [
  {
    subject: 'limit of GET /files',
    path: (n) => `/files?limit=${n}`,
    accepted: [1, 1000],
    rejected: [0, 1001, -1, '', 'ten'],
    says: 'limit',
  },
  ...workspace('name', ['x', x(100)], ['', x(101), 1, null]),
  ...workspace('slug', [], ['', x(51), 'Upper', 'a--b', '-a', 'a-', 'a_b', 'ä', 'a b', null]),
  {
    ...manages,
    subject: 'length of a slug',
    path: '/workspaces',
    body: (length) => ({
      name: 'Edge',
      slug: Number(length) === 1 ? 'z' : slug().padEnd(Number(length), 'z'),
    }),
    accepted: [1, 49, 50],
    rejected: [51],
    says: 'slug',
  },
  ...workspace('description', ['', x(500), null], [x(501), 1]),
  ...workspace('io_logging_sampling_rate', [0.0001, 1, 0.5], [0, 0.00009, 1.0001, -1, '1', null]),
  ...workspace('response_cache_ttl_seconds', [1, 300, 86_400], [0, 86_401, 1.5, -1, '60', null]),
  ...workspace('response_cache_enabled', [true, false], ['true', 1, null]),
  ...['add', 'remove'].map(
    (verb): Limit => ({
      ...manages,
      subject: `user_ids of members/${verb}`,
      path: `/workspaces/default/members/${verb}`,
      body: (count) => ({ user_ids: many(Number(count), () => people[0]) }),
      accepted: [1, 100],
      rejected: [0, 101],
      says: 'user_ids',
    }),
  ),
  {
    ...manages,
    subject: 'key_hashes of an assignment',
    path: () => `/guardrails/${guardrail}/assignments/keys`,
    body: (count) => ({ key_hashes: many(Number(count), () => assigned[0]) }),
    accepted: [1, 2],
    rejected: [0],
    says: 'key_hashes',
  },
  {
    ...manages,
    subject: 'a hash of an assignment',
    path: () => `/guardrails/${guardrail}/assignments/keys`,
    body: (hash) => ({ key_hashes: [hash] }),
    accepted: [],
    rejected: ['', 1, null],
    says: 'key_hashes',
  },
  {
    ...manages,
    subject: 'member_user_ids of an assignment',
    path: () => `/guardrails/${guardrail}/assignments/members`,
    body: (count) => ({ member_user_ids: many(Number(count), () => people[0]) }),
    accepted: [1, 2],
    rejected: [0],
    says: 'member_user_ids',
  },
  {
    ...manages,
    subject: 'limit_reset of a key',
    path: '/keys',
    body: (limit_reset) => ({ name: 'Edge', limit_reset }),
    accepted: ['daily', 'weekly', 'monthly', null],
    rejected: ['lifetime', 'Daily', '', 1],
    says: 'limit_reset',
  },
  {
    ...manages,
    subject: 'name of a key',
    path: '/keys',
    body: (name) => ({ name }),
    accepted: ['x'],
    rejected: ['', null, undefined],
    says: 'name',
  },
  {
    ...manages,
    subject: 'zone of expires_at',
    path: '/keys',
    body: (expires_at) => ({ name: 'Edge', expires_at }),
    accepted: ['2030-01-01T00:00:00Z', null],
    rejected: ['2030-01-01T00:00:00+01:00', '2030-01-01T00:00:00', '2030-01-01'],
    says: 'expires_at',
  },
  {
    ...manages,
    subject: 'limit of a key',
    path: '/keys',
    body: (limit) => ({ name: 'Edge', limit }),
    accepted: [0, 0.000000001, null],
    rejected: [-0.01, '1'],
    says: 'limit',
  },
  {
    ...manages,
    subject: 'interval of a budget',
    method: 'DELETE',
    path: (interval) => `/workspaces/default/budgets/${interval}`,
    accepted: ['daily', 'weekly', 'monthly', 'lifetime'],
    rejected: ['yearly', 'Daily', '%20'],
    says: 'interval',
  },
  {
    ...manages,
    subject: 'limit_usd of a budget',
    method: 'PUT',
    path: '/workspaces/default/budgets/daily',
    body: (limit_usd) => ({ limit_usd }),
    accepted: [0.000000001, 1],
    rejected: [0, -1, '1', null, undefined],
    says: 'limit_usd',
  },
  ...(
    [
      ['name', ['x', x(200)], ['', x(201)]],
      ['description', ['', x(1000), null], [x(1001)]],
      ['allowed_models', [['a/b'], null], [[]]],
      ['ignored_models', [['a/b'], null], [[]]],
      ['allowed_providers', [['openai'], null], [[]]],
      ['ignored_providers', [['openai'], null], [[]]],
    ] as const
  ).map(
    ([field, accepted, rejected]): Limit => ({
      ...manages,
      subject: `${field} of a guardrail`,
      path: '/guardrails',
      body: (value) => ({ name: 'Edge', [field]: value }),
      accepted,
      rejected,
      says: field,
    }),
  ),
  {
    ...manages,
    subject: 'slug of a preset',
    path: (value) => `/presets/${encodeURIComponent(String(value))}/responses`,
    body: () => ({ temperature: 0 }),
    accepted: ['x', 'a-b_c'],
    rejected: ['a b', 'ä', 'a/b'],
    says: 'slug',
  },
  {
    subject: 'id of GET /generation',
    path: (id) => `/generation?id=${id}`,
    accepted: [],
    rejected: [''],
    says: 'id',
  },
]

runLimits('lists', () => world, lists)
runLimits('administration', () => world, administration)

test('a key has at most one guardrail: the last one that it was assigned to', async () => {
  const hash = await things.key.make(world, world.own)
  const guardrails = [
    await things.guardrail.make(world, world.own),
    await things.guardrail.make(world, world.own),
  ]
  const holders = async (): Promise<unknown[]> => {
    const { data } = await world.manage('GET', '/guardrails/assignments/keys')
    const all = Array.isArray(data) ? data.map(objectOf) : []
    return all.filter((each) => each['key_hash'] === hash).map((each) => each['guardrail_id'])
  }
  for (const id of guardrails) {
    await world.manage('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] })
    expect(await holders()).toEqual([id])
  }
})
