/** Each limit of the fields of an inference request. */
import { afterAll, beforeAll } from 'bun:test'
import { type Limit, many, runLimits, x } from './limits.ts'
import type { World } from './tenancy/types.ts'
import { startWorld } from './tenancy/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.gateway.stop())

const MESSAGES = [{ role: 'user', content: 'Hi' }]
/** The same field in the body of chat completions and of Responses. */
const both = (
  subject: string,
  bodyOf: (value: unknown) => object,
  accepted: readonly unknown[],
  rejected: readonly unknown[],
  says: string,
): Limit[] =>
  [
    ['/chat/completions', { messages: MESSAGES }],
    ['/responses', { input: 'Hi' }],
  ].map(([path, more]) => ({
    subject: `${subject} of ${path}`,
    path: String(path),
    body: (value) => ({ model: 'sluice/demo', ...Object(more), ...bodyOf(value) }),
    accepted,
    rejected,
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
    'max_results with an engine of at most 20',
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

runLimits('inference', () => world, inference)
