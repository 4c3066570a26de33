import { beforeAll } from 'bun:test'
import { MANAGEMENT_KEY } from '../gateway.ts'
import { runScenarios, type Scenario } from '../scenario.ts'
import { administration, onlyManagementKeys } from './administration.ts'
import { addPeople } from './workspaces.ts'

const admin = administration({ now: () => Date.UTC(2026, 6, 15, 12) })

beforeAll(() => addPeople(admin.gateway))

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
      ...onlyManagementKeys(method, at('default'), body),
      ...(path.includes('ID')
        ? [{ ...unknown, name: `${method} ${path} of an unknown workspace`, status: 404 }]
        : []),
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
    name: 'a removed user',
    method: 'POST',
    path: '/v1/workspaces/default/members/add',
    key: MANAGEMENT_KEY,
    body: { user_ids: ['user_gone'] },
    status: 404,
  },
  {
    name: 'an unknown key to log',
    method: 'PATCH',
    path: '/v1/workspaces/default',
    key: MANAGEMENT_KEY,
    body: { io_logging_api_key_ids: [1, 9999] },
    status: 404,
    contains: ['9999'],
  },
  {
    name: 'a page of more than 100',
    path: '/v1/workspaces?limit=101',
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['limit'],
  },
  { name: 'a negative offset', path: '/v1/workspaces?offset=-1', key: MANAGEMENT_KEY, status: 400 },
]
runScenarios('refusals', () => admin.handler, scenarios)
