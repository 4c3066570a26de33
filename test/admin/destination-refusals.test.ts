import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { runScenarios, type Scenario } from '../scenario.ts'
import { administration } from './administration.ts'
import { configFor, DESTINATIONS, webhook } from './destinations.ts'

const PATH = `/v1${DESTINATIONS}`

const UNKNOWN = '0190a000-0000-7000-8000-000000000bad'
const admin = administration()

const refused = (name: string, body: unknown, ...contains: string[]): Scenario => ({
  name,
  method: 'POST',
  path: PATH,
  key: MANAGEMENT_KEY,
  body,
  status: 400,
  contains,
})
const rules = (...list: unknown[]) => webhook({ filter_rules: { groups: [{ rules: list }] } })
const at = (url: string) => webhook({ config: { url } })
runScenarios('destinations', () => admin.handler, [
  { name: 'a test without a key', method: 'POST', path: `${PATH}/x/test`, status: 401 },
  { name: 'a test with an inference key', method: 'POST', path: `${PATH}/x/test`, key: API_KEY, status: 403 },
  { name: 'a list without a key', path: PATH, status: 401 },
  { name: 'a list with an inference key', path: PATH, key: API_KEY, status: 403, contains: ['management'] },
  {
    name: 'a creation with an inference key',
    method: 'POST',
    path: PATH,
    key: API_KEY,
    body: '{',
    status: 403,
  },
  {
    name: 'a page of more than 100',
    path: `${PATH}?limit=101`,
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['limit'],
  },
  {
    name: 'an id that is not a UUID',
    path: `${PATH}/hook`,
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['UUID'],
  },
  ...['GET', 'PATCH', 'DELETE'].map((method) => ({
    name: `${method} of an unknown destination`,
    method,
    path: `${PATH}/${UNKNOWN}`,
    key: MANAGEMENT_KEY,
    ...(method === 'PATCH' ? { body: { enabled: false } } : {}),
    status: 404,
  })),
  {
    name: 'a test of an unknown destination',
    method: 'POST',
    path: `${PATH}/${UNKNOWN}/test`,
    key: MANAGEMENT_KEY,
    status: 404,
  },
  {
    name: 'in an unknown workspace',
    method: 'POST',
    path: PATH,
    key: MANAGEMENT_KEY,
    body: webhook({ workspace_id: UNKNOWN }),
    status: 404,
  },
  {
    name: 'for an unknown key',
    method: 'POST',
    path: PATH,
    key: MANAGEMENT_KEY,
    body: webhook({ api_key_hashes: ['x'] }),
    status: 404,
    contains: ['api_key_hashes[0]'],
  },
  refused('no name', { type: 'webhook', config: { url: 'https://a.example' } }, 'name'),
  refused('an empty name', webhook({ name: '' }), 'name'),
  refused('an unknown type', webhook({ type: 'kafka' }), 'type', 'webhook'),
  refused('an unknown field', webhook({ sampling: 1 }), 'sampling'),
  refused(
    'an unknown field of the config',
    webhook({ config: { url: 'https://a.example', uri: 1 } }),
    'config.uri',
    'url, method, headers',
  ),
  refused('a missing field of the config', webhook({ config: {} }), 'config.url', 'missing'),
  refused(
    'a method that does not exist',
    webhook({ config: { url: 'https://a.example', method: 'GET' } }),
    'config.method',
    'POST, PUT',
  ),
  refused('a number for a text', webhook({ type: 'opik', config: { apiKey: 1 } }), 'config.apiKey'),
  refused(
    'headers that are not an object',
    webhook({ config: { url: 'https://a.example', headers: [] } }),
    'config.headers',
  ),
  refused(
    'a header with a line break',
    webhook({ config: { url: 'https://a.example', headers: { 'x-a': 'b\r\nx-c: d' } } }),
    'config.headers.x-a',
  ),
  refused(
    'a header with a space in its name',
    webhook({ config: { url: 'https://a.example', headers: { 'x a': 'b' } } }),
    'config.headers',
  ),
  refused(
    'a header of the connection',
    webhook({ config: { url: 'https://a.example', headers: { Host: 'b.example' } } }),
    'config.headers.Host',
  ),
  refused(
    'an encoding that OTLP does not have',
    webhook({
      type: 'otel-collector',
      config: { endpoint: 'https://a.example', headers: { 'X-Sluice-Encoding': 'xml' } },
    }),
    'config.headers.X-Sluice-Encoding',
    'json or protobuf',
  ),
  refused(
    'a DSN without its key',
    webhook({
      type: 'sentry',
      config: { dsn: 'https://:secret@o1.ingest.example/2', otlpEndpoint: 'https://a.example' },
    }),
    'config.dsn',
    'public key',
  ),
  refused(
    'a region that New Relic does not have',
    webhook({ type: 'newrelic', config: { licenseKey: 'key', region: 'asia' } }),
    'config.region',
    'us, eu',
  ),
  refused(
    'a name that no header can carry',
    webhook({ type: 'opik', config: { apiKey: 'key', workspace: '日本', projectName: 'p' } }),
    'config.workspace',
    'header',
  ),
  refused(
    'a masked secret',
    webhook({ type: 'langfuse', config: { publicKey: 'pk', secretKey: 'sk-l...1234' } }),
    'config.secretKey',
    'masked',
  ),
  refused('a sampling rate of almost nothing', webhook({ sampling_rate: 0.00009 }), 'sampling_rate'),
  refused('a sampling rate above 1', webhook({ sampling_rate: 1.01 }), 'sampling_rate'),
  refused('no key at all', webhook({ api_key_hashes: [] }), 'api_key_hashes'),
  refused('no region', webhook({ regions: [] }), 'regions'),
  refused('an unknown region', webhook({ regions: ['mars'] }), 'regions'),
  refused('rules without a list', webhook({ filter_rules: { enabled: true } }), 'filter_rules'),
  refused(
    'a rule on an unknown field',
    rules({ field: 'colour', operator: 'equals', value: 'x' }),
    'filter_rules',
  ),
  refused(
    'a rule of an unknown operator',
    rules({ field: 'model', operator: 'like', value: 'x' }),
    'filter_rules',
  ),
  refused('a rule without a value', rules({ field: 'model', operator: 'equals' }), 'rules[0].value'),
  refused(
    'a rule with a value that its operator does not take',
    rules({ field: 'model', operator: 'exists', value: 'x' }),
    'rules[0].value',
  ),
  refused(
    'a text for a number',
    rules({ field: 'total_cost', operator: 'gt', value: 'x' }),
    'rules[0].value',
  ),
  refused('a comparison of texts', rules({ field: 'model', operator: 'gt', value: 1 }), 'rules[0].operator'),
  refused(
    'a part of a number',
    rules({ field: 'total_cost', operator: 'contains', value: '1' }),
    'rules[0].operator',
  ),
  refused(
    'a pattern that does not exist',
    rules({ field: 'input', operator: 'regex', value: '(?=x)' }),
    'rules[0].value',
    'RE2',
  ),
  ...[
    'http://10.0.0.1/x',
    'http://0x7f000002/',
    'https://box.internal/',
    'http://[::1]/',
    'ftp://a.example/',
    'https://u:p@a.example/',
  ].map((url) => refused(`the address ${url}`, at(url), 'config.url')),
  refused(
    'a private host without a scheme',
    webhook({ type: 'clickhouse', config: { ...configFor('clickhouse'), host: 'db.internal:8443' } }),
    'config.host',
  ),
  ...[
    ['s3', 'bucketName', 'My_Bucket'],
    ['s3', 'bucketName', 'ab'],
    ['s3', 'region', 'eu central'],
    ['s3', 'prefix', 'a//b'],
    ['s3', 'prefix', '../other'],
    ['s3', 'prefix', 'a/..'],
    ['s3', 'pathTemplate', '{prefix}/{user}'],
    ['s3', 'pathTemplate', '{prefix}/{date'],
    ['s3', 'pathTemplate', '/{prefix}'],
    ['datadog', 'mlApp', 'an app'],
    ['snowflake', 'account', 'acme.snowflakecomputing.com'],
  ].map(([type = '', field = '', value]) =>
    refused(
      `${field} ${value}`,
      webhook({ type, config: { ...configFor(type), [field]: value } }),
      `config.${field}`,
    ),
  ),
  refused(
    'a private DSN',
    webhook({ type: 'sentry', config: { dsn: 'https://key@10.0.0.1/2', otlpEndpoint: 'https://a.example' } }),
    'config.dsn',
  ),
  refused(
    'an account that changes the host',
    webhook({ type: 'snowflake', config: { account: 'evil.example/#', token: 'x' } }),
    'config.account',
  ),
])
