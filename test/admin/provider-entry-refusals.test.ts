import { MANAGEMENT_KEY } from '../gateway.ts'
import { runScenarios, type Scenario } from '../scenario.ts'
import { administration, onlyManagementKeys } from './administration.ts'
import { SECRET } from './provider-entries.ts'

const ENTRIES = '/v1/providers/entries'
const CREDENTIALS = '/v1/providers/credentials'
const UNKNOWN = '0190a000-0000-7000-8000-000000000bad'
const admin = administration({ environment: { MISTRAL_API_KEY: 'canary-of-the-environment' } })

const entry = (name: string, body: unknown, ...contains: string[]): Scenario => ({
  name,
  method: 'POST',
  path: ENTRIES,
  key: MANAGEMENT_KEY,
  body,
  status: 400,
  contains,
  absent: ['canary'],
})
const BASE = { slug: 'lab', base_url: 'http://127.0.0.1:1/v1' }

runScenarios('providers by the API', () => admin.handler, [
  ...onlyManagementKeys('GET', ENTRIES),
  ...onlyManagementKeys('POST', ENTRIES),
  ...onlyManagementKeys('GET', `${ENTRIES}/lab`),
  ...onlyManagementKeys('PATCH', `${ENTRIES}/lab`),
  ...onlyManagementKeys('DELETE', `${ENTRIES}/lab`),
  ...onlyManagementKeys('GET', CREDENTIALS),
  ...onlyManagementKeys('POST', CREDENTIALS),
  ...onlyManagementKeys('PATCH', `${CREDENTIALS}/x`),
  ...onlyManagementKeys('DELETE', `${CREDENTIALS}/x`),
  ...onlyManagementKeys('GET', '/v1/providers/configured'),
  ...onlyManagementKeys('POST', '/v1/providers/configured/lab/test'),
  ...['GET', 'PATCH', 'DELETE'].map((method) => ({
    name: `${method} of an unknown entry`,
    method,
    path: `${ENTRIES}/nobody`,
    key: MANAGEMENT_KEY,
    ...(method === 'PATCH' ? { body: {} } : {}),
    status: 404,
  })),
  {
    name: 'PATCH of an unknown credential',
    method: 'PATCH',
    path: `${CREDENTIALS}/${UNKNOWN}`,
    key: MANAGEMENT_KEY,
    body: {},
    status: 404,
  },
  {
    name: 'DELETE of an unknown credential',
    method: 'DELETE',
    path: `${CREDENTIALS}/${UNKNOWN}`,
    key: MANAGEMENT_KEY,
    status: 404,
  },
  {
    name: 'a test of an unknown provider',
    method: 'POST',
    path: '/v1/providers/configured/nobody/test',
    key: MANAGEMENT_KEY,
    status: 404,
  },
  {
    name: 'a credential of an unknown provider',
    method: 'POST',
    path: CREDENTIALS,
    key: MANAGEMENT_KEY,
    body: { provider: 'nobody', credential: SECRET },
    status: 404,
    absent: ['canary'],
  },
  entry('a list', [], 'object'),
  entry('no slug', { base_url: 'http://127.0.0.1:1/v1' }, 'slug'),
  entry('no address', { slug: 'lab' }, 'base_url', 'missing'),
  entry('an address with a password', { slug: 'lab', base_url: 'http://a:canary@b.example/v1' }, 'base_url'),
  entry('a malformed slug', { ...BASE, slug: 'The Lab' }, 'slug'),
  entry('the slug of the demo', { ...BASE, slug: 'sluice' }, 'demo'),
  entry('an unknown field', { ...BASE, url: 'x' }, 'url', 'not a known key'),
  entry('an unknown dialect', { ...BASE, dialect: 'soap' }, 'dialect'),
  entry('a key with a space', { ...BASE, api_key: 'canary canary' }, 'api_key'),
  entry(
    'a malformed price',
    { ...BASE, models: [{ id: 'a', pricing: { prompt: 'much' } }] },
    'models[0].pricing.prompt',
  ),
  entry('two wrong fields', { ...BASE, dialect: 'soap', max_in_flight: 0 }, 'dialect', 'max_in_flight'),
  entry('disabled that is not a boolean', { ...BASE, disabled: 'yes' }, 'disabled'),
  entry('a variable of this machine', { ...BASE, api_key: '${MISTRAL_API_KEY}' }, 'settings file'),
  entry(
    'a file of this machine',
    { slug: 'lab', vertex: { project: 'p', credentials_file: '/etc/passwd' } },
    'vertex.credentials_file',
  ),
  {
    name: 'a credential with an unknown field',
    method: 'POST',
    path: CREDENTIALS,
    key: MANAGEMENT_KEY,
    body: { provider: 'openai', credential: SECRET, key: 'x' },
    status: 400,
    contains: ['key'],
    absent: ['canary'],
  },
  {
    name: 'a weight of 0',
    method: 'POST',
    path: CREDENTIALS,
    key: MANAGEMENT_KEY,
    body: { provider: 'openai', credential: SECRET, weight: 0 },
    status: 400,
    contains: ['weight'],
  },
])
