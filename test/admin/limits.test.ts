/** Each limit of the specification: its last value that is taken, and the first that is not. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { fresh, startWorld, things, type World } from './tenancy/world.ts'

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

interface Limit {
  subject: string
  key?: string
  method?: string
  path: string | ((value: unknown) => string)
  body?: (value: unknown) => unknown
  taken: readonly unknown[]
  refused: readonly unknown[]
  /** In every refusal. */
  says: string
}

const MESSAGES = [{ role: 'user', content: 'Hi' }]
const x = (length: number): string => 'x'.repeat(length)
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** The same field of a chat and of a Responses body. */
const both = (
  subject: string,
  bodyOf: (value: unknown) => object,
  taken: readonly unknown[],
  refused: readonly unknown[],
  says: string,
): Limit[] =>
  [
    ['/chat/completions', { messages: MESSAGES }],
    ['/responses', { input: 'Hi' }],
  ].map(([path, more]) => ({
    subject: `${subject} of ${path}`,
    path: String(path),
    body: (value) => ({ model: 'sluice/demo', ...Object(more), ...bodyOf(value) }),
    taken,
    refused,
    says,
  }))
const chatOnly = (...args: Parameters<typeof both>): Limit[] => both(...args).slice(0, 1)
const responsesOnly = (...args: Parameters<typeof both>): Limit[] => both(...args).slice(1)

const pairs = (count: number) => Object.fromEntries(many(count, (i) => [`k${i}`, 'v']))

const inference: Limit[] = [
  ...both('session_id', (session_id) => ({ session_id }), [x(256), ''], [x(257)], 'session_id'),
  ...both('user', (user) => ({ user }), [x(256)], [x(257)], 'user'),
  ...both('pairs of metadata', (n) => ({ metadata: pairs(Number(n)) }), [0, 16], [17], 'metadata'),
  ...both(
    'keys of metadata',
    (key) => ({ metadata: { [String(key)]: 'v' } }),
    [x(64), 'a.b-c {d}'],
    [x(65), 'a[b', 'a]b', '[]'],
    'metadata',
  ),
  ...both(
    'values of metadata',
    (value) => ({ metadata: { key: value } }),
    [x(512), ''],
    [x(513), 1, null],
    'metadata',
  ),
  ...both(
    'temperature',
    (temperature) => ({ temperature }),
    [0, 2, 0.5, null],
    [-0.001, 2.001, '1'],
    'temperature',
  ),
  ...both('top_p', (top_p) => ({ top_p }), [0, 1, null], [-0.001, 1.001], 'top_p'),
  ...both(
    'frequency_penalty',
    (frequency_penalty) => ({ frequency_penalty }),
    [-2, 2, null],
    [-2.001, 2.001],
    'frequency_penalty',
  ),
  ...both(
    'presence_penalty',
    (presence_penalty) => ({ presence_penalty }),
    [-2, 2, null],
    [-2.001, 2.001],
    'presence_penalty',
  ),
  ...both(
    'top_logprobs',
    (top_logprobs) => ({ logprobs: true, top_logprobs }),
    [0, 20, null],
    [-1, 21, 1.5],
    'top_logprobs',
  ),
  ...chatOnly('stop', (stop) => ({ stop }), [many(4, String), 'one', [], null], [many(5, String)], 'stop'),
  // Some providers enforce a minimum of 16 of their own; the gateway does not.
  ...chatOnly('max_tokens', (max_tokens) => ({ max_tokens }), [1, 15, 16, null], [0, -1, 1.5], 'max_tokens'),
  ...both(
    'max_results of the web plugin',
    (max_results) => ({ plugins: [{ id: 'web', enabled: false, max_results }] }),
    [1, 20, 25, undefined],
    [0, 26, 1.5],
    'max_results',
  ),
  ...both(
    'max_results with the engine that gives 20',
    (max_results) => ({ plugins: [{ id: 'web', enabled: false, engine: 'perplexity', max_results }] }),
    [1, 20],
    [21, 25],
    'max_results',
  ),
  ...(['allowed_x_handles', 'excluded_x_handles'] as const).flatMap((field) => [
    ...responsesOnly(
      field,
      (handles) => ({ x_search_filter: { [field]: handles } }),
      [many(10, (i) => `h${i}`), []],
      [many(11, (i) => `h${i}`)],
      field,
    ),
    ...both(
      `${field} of the web plugin`,
      (handles) => ({ plugins: [{ id: 'web', enabled: false, x_search: { [field]: handles } }] }),
      [many(10, (i) => `h${i}`)],
      [many(11, (i) => `h${i}`)],
      field,
    ),
  ]),
  ...responsesOnly(
    'both kinds of x handles',
    (x_search_filter) => ({ x_search_filter }),
    [{ allowed_x_handles: ['a'] }, { excluded_x_handles: ['a'] }],
    [{ allowed_x_handles: ['a'], excluded_x_handles: ['b'] }],
    'exclude each other',
  ),
  ...chatOnly('messages', (messages) => ({ messages }), [MESSAGES], [[], undefined], 'messages'),
  ...both(
    'stop_server_tools_when',
    (stop_server_tools_when) => ({ stop_server_tools_when }),
    [[{ type: 'step_count_is', step_count: 1 }]],
    [[]],
    'stop_server_tools_when',
  ),
]

const manages = { key: MANAGEMENT_KEY }

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
    taken: [1, 100],
    refused: [0, 101, -1, '', '1.0', 'ten'],
    says: 'limit',
  },
  {
    ...manages,
    subject: `offset of GET ${path}`,
    path: (n: unknown) => `${path}?offset=${n}`,
    taken: [0, 1000],
    refused: [-1, '', '1.5', 'ten'],
    says: 'offset',
  },
])

const slug = (): string => fresh('edge')
const newWorkspace = (field: string) => (value: unknown) => ({ name: 'Edge', slug: slug(), [field]: value })
/** The same field when a workspace is made and when it is changed. */
const workspace = (field: string, taken: readonly unknown[], refused: readonly unknown[]): Limit[] => [
  {
    ...manages,
    subject: `${field} of POST /workspaces`,
    path: '/workspaces',
    body: newWorkspace(field),
    taken,
    refused,
    says: field,
  },
  {
    ...manages,
    subject: `${field} of PATCH /workspaces/{id}`,
    method: 'PATCH',
    path: () => `/workspaces/${world.foreign.id}`,
    body: (value) => ({ [field]: value }),
    taken,
    refused,
    says: field,
  },
]

/** A field of `rate_limits`, of whatever has them, when it is made and when it is changed. */
const rates = (
  subject: string,
  rate_limits: (value: unknown) => object,
  taken: readonly unknown[],
  refused: readonly unknown[],
  says: string,
): Limit[] =>
  [
    ['POST', () => '/keys', () => ({ name: 'Edge' })] as const,
    ['PATCH', () => `/keys/${assigned[0]}`, () => ({})] as const,
    ['POST', () => '/guardrails', () => ({ name: 'Edge' })] as const,
    ['PATCH', () => `/guardrails/${guardrail}`, () => ({})] as const,
    ['POST', () => '/workspaces', () => ({ name: 'Edge', slug: slug() })] as const,
    ['PATCH', () => `/workspaces/${world.foreign.id}`, () => ({})] as const,
  ].map(([method, path, more], index) => ({
    ...manages,
    subject: `${subject} of rate_limits, ${method} ${['key', 'guardrail', 'workspace'][index >> 1]}`,
    method,
    path,
    body: (value) => ({ ...more(), rate_limits: rate_limits(value) }),
    taken,
    refused,
    says,
  }))

const administration: Limit[] = [
  {
    subject: 'limit of GET /files',
    path: (n) => `/files?limit=${n}`,
    taken: [1, 1000],
    refused: [0, 1001, -1, '', 'ten'],
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
    taken: [1, 49, 50],
    refused: [51],
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
      taken: [1, 100],
      refused: [0, 101],
      says: 'user_ids',
    }),
  ),
  {
    ...manages,
    subject: 'key_hashes of an assignment',
    path: () => `/guardrails/${guardrail}/assignments/keys`,
    body: (count) => ({ key_hashes: many(Number(count), () => assigned[0]) }),
    taken: [1, 2],
    refused: [0],
    says: 'key_hashes',
  },
  {
    ...manages,
    subject: 'a hash of an assignment',
    path: () => `/guardrails/${guardrail}/assignments/keys`,
    body: (hash) => ({ key_hashes: [hash] }),
    taken: [],
    refused: ['', 1, null],
    says: 'key_hashes',
  },
  {
    ...manages,
    subject: 'member_user_ids of an assignment',
    path: () => `/guardrails/${guardrail}/assignments/members`,
    body: (count) => ({ member_user_ids: many(Number(count), () => people[0]) }),
    taken: [1, 2],
    refused: [0],
    says: 'member_user_ids',
  },
  {
    ...manages,
    subject: 'limit_reset of a key',
    path: '/keys',
    body: (limit_reset) => ({ name: 'Edge', limit_reset }),
    taken: ['daily', 'weekly', 'monthly', null],
    refused: ['lifetime', 'Daily', '', 1],
    says: 'limit_reset',
  },
  {
    ...manages,
    subject: 'name of a key',
    path: '/keys',
    body: (name) => ({ name }),
    taken: ['x'],
    refused: ['', null, undefined],
    says: 'name',
  },
  {
    ...manages,
    subject: 'zone of expires_at',
    path: '/keys',
    body: (expires_at) => ({ name: 'Edge', expires_at }),
    taken: ['2030-01-01T00:00:00Z', null],
    refused: ['2030-01-01T00:00:00+01:00', '2030-01-01T00:00:00', '2030-01-01'],
    says: 'expires_at',
  },
  {
    ...manages,
    subject: 'limit of a key',
    path: '/keys',
    body: (limit) => ({ name: 'Edge', limit }),
    taken: [0, 0.000000001, null],
    refused: [-0.01, '1'],
    says: 'limit',
  },
  {
    ...manages,
    subject: 'interval of a budget',
    method: 'DELETE',
    path: (interval) => `/workspaces/default/budgets/${interval}`,
    taken: ['daily', 'weekly', 'monthly', 'lifetime'],
    refused: ['yearly', 'Daily', '%20'],
    says: 'interval',
  },
  {
    ...manages,
    subject: 'limit_usd of a budget',
    method: 'PUT',
    path: '/workspaces/default/budgets/daily',
    body: (limit_usd) => ({ limit_usd }),
    taken: [0.000000001, 1],
    refused: [0, -1, '1', null, undefined],
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
    ([field, taken, refused]): Limit => ({
      ...manages,
      subject: `${field} of a guardrail`,
      path: '/guardrails',
      body: (value) => ({ name: 'Edge', [field]: value }),
      taken,
      refused,
      says: field,
    }),
  ),
  ...rates(
    'requests_per_minute',
    (requests_per_minute) => ({ requests_per_minute }),
    [1, 1_000_000_000, null],
    [0, -1, 1.5, 1_000_000_001, '1'],
    'rate_limits.requests_per_minute: must be an integer from 1 to 1000000000 or null',
  ),
  ...rates(
    'tokens_per_minute',
    (tokens_per_minute) => ({ tokens_per_minute }),
    [1, 1_000_000_000_000, null],
    [0, 1_000_000_000_001],
    'rate_limits.tokens_per_minute: must be an integer from 1 to 1000000000000 or null',
  ),
  ...rates(
    'concurrent_requests',
    (concurrent_requests) => ({ concurrent_requests }),
    [1, 1_000_000, null],
    [0, 1_000_001],
    'rate_limits.concurrent_requests: must be an integer from 1 to 1000000 or null',
  ),
  ...rates(
    'models',
    (count) => ({ models: many(Number(count), (i) => ({ model: `lab/m${i}`, requests_per_minute: 1 })) }),
    [0, 100],
    [101],
    'rate_limits.models: must be an array of at most 100 items',
  ),
  ...rates(
    'a model',
    (model) => ({ models: [{ model, tokens_per_minute: 1 }] }),
    ['x', x(256), 'Any/Name:free'],
    ['', x(257), 'a b', 'a\nb', null, undefined],
    'rate_limits.models[0].model: ',
  ),
  ...rates(
    'what a model is limited to',
    (more) => ({ models: [{ model: 'a', ...Object(more) }] }),
    [{ requests_per_minute: 1 }, { requests_per_minute: null, tokens_per_minute: 1 }],
    [{}, { requests_per_minute: null }, { concurrent_requests: 1 }, { requests_per_minute: 0 }],
    'rate_limits.models[0]',
  ),
  ...rates(
    'models of one name',
    (model) => ({ models: ['a', model].map((name) => ({ model: name, requests_per_minute: 1 })) }),
    ['b', 'A'],
    ['a'],
    'rate_limits.models[1].model: another entry names this model already',
  ),
  ...rates(
    'unknown fields',
    (name) => ({ [String(name)]: 1 }),
    [],
    ['requests_per_day'],
    'is not known here',
  ),
  {
    ...manages,
    subject: 'slug of a preset',
    path: (value) => `/presets/${encodeURIComponent(String(value))}/responses`,
    body: () => ({ temperature: 0 }),
    taken: ['x', 'a-b_c'],
    refused: ['a b', 'ä', 'a/b'],
    says: 'slug',
  },
  {
    subject: 'id of GET /generation',
    path: (id) => `/generation?id=${id}`,
    taken: [],
    refused: [''],
    says: 'id',
  },
]

describe.each([
  ['inference', inference],
  ['lists', lists],
  ['administration', administration],
] as const)('%s', (_, limits) => {
  for (const limit of limits) {
    test(limit.subject, async () => {
      for (const value of limit.taken) {
        const { status, text } = await ask(limit, value)
        expect({ value, status, text }).toEqual({
          value,
          status: status === 201 ? 201 : 200,
          text: expect.any(String),
        })
      }
      for (const value of limit.refused) {
        const { status, text } = await ask(limit, value)
        expect({ value, status, text }).toEqual({
          value,
          status: 400,
          text: expect.stringContaining(limit.says),
        })
      }
    })
  }
})

const ask = ({ key = API_KEY, method, path, body }: Limit, value: unknown) =>
  world.ask(key, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    path: typeof path === 'string' ? path : path(value),
    ...(body === undefined ? {} : { body: body(value) }),
  })

test('a key holds one guardrail at most: the last one that it was assigned to', async () => {
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
