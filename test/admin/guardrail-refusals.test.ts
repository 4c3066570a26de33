import { MANAGEMENT_KEY } from '../gateway.ts'
import { runScenarios, type Scenario } from '../scenario.ts'
import { administration, onlyManagementKeys } from './administration.ts'

const admin = administration()

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
    'a scope of user messages for output',
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
      ...onlyManagementKeys(method, base.path, body),
      ...(path.includes(ID)
        ? [{ ...base, name: `${method} ${path}, unknown`, key: MANAGEMENT_KEY, status: 404 }]
        : []),
    ]
  }),
  {
    name: 'an id that is not a UUID',
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
runScenarios('refusals', () => admin.handler, scenarios)
