import { MANAGEMENT_KEY } from '../gateway.ts'
import { runScenarios, type Scenario } from '../scenario.ts'
import { administration, onlyManagementKeys } from './administration.ts'

const admin = administration()

const OPERATIONS: [method: string, path: string, body?: unknown][] = [
  ['GET', '/organization/members'],
  ['GET', '/organization/logging'],
  ['PATCH', '/organization/logging', { server: 'debug' }],
  ['PATCH', '/organization/members/ID', { role: 'org:member' }],
  ['DELETE', '/organization/members/ID'],
  ['DELETE', '/organization/members/ID/sessions'],
  ['POST', '/organization/members/ID/password-link', {}],
  ['GET', '/organization/invitations'],
  ['POST', '/organization/invitations', { email: 'x@example.org' }],
  ['DELETE', '/organization/invitations/ID'],
  ['POST', '/organization/setup-link', {}],
]
const bodies: [name: string, method: string, path: string, body: unknown, contains: string][] = [
  ['no level', 'PATCH', '/organization/logging', {}, 'at least'],
  ['an unknown level', 'PATCH', '/organization/logging', { server: 'loud' }, 'server'],
  ['an unknown area', 'PATCH', '/organization/logging', { kitchen: 'info' }, 'kitchen'],
  ['no role', 'PATCH', '/organization/members/x', {}, 'role'],
  ['an unknown role', 'PATCH', '/organization/members/x', { role: 'admin' }, 'role'],
  ['an unknown field', 'POST', '/organization/invitations', { email: 'x@example.org', team: 1 }, 'team'],
  ['no address', 'POST', '/organization/invitations', {}, 'email'],
  ['a malformed address', 'POST', '/organization/invitations', { email: 'x@' }, 'email'],
  [
    'an address of more than 254 characters',
    'POST',
    '/organization/invitations',
    { email: `${'x'.repeat(250)}@y.zz` },
    'email',
  ],
  [
    'a short password',
    'POST',
    '/auth/accept-invitation',
    { token: 't', password: 'x'.repeat(11) },
    'password',
  ],
  [
    'a long password',
    'POST',
    '/auth/accept-invitation',
    { token: 't', password: 'x'.repeat(257) },
    'password',
  ],
]
const scenarios: Scenario[] = [
  ...bodies.map(([name, method, path, body, contains]) => ({
    name,
    method,
    path: `/v1${path}`,
    ...(path.startsWith('/auth') ? {} : { key: MANAGEMENT_KEY }),
    body,
    status: 400,
    contains: [contains],
  })),
  ...OPERATIONS.flatMap(([method, path, body]) => {
    const base = { method, path: `/api/v1${path}`, ...(body === undefined ? {} : { body }) }
    return [
      ...onlyManagementKeys(method, base.path, body),
      ...(path.includes('ID')
        ? [{ ...base, name: `${method} ${path} of an unknown id`, key: MANAGEMENT_KEY, status: 404 }]
        : []),
    ]
  }),
  {
    name: 'a page of more than 100',
    path: '/v1/organization/members?limit=101',
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['limit'],
  },
]
runScenarios('refusals', () => admin.handler, scenarios)
