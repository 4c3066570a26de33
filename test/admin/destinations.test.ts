import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import { hashKey } from '../../src/core/keys.ts'
import { DESTINATION_TYPES, isDestinationType } from '../../src/exporters/destination-types.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios, type Scenario } from '../scenario.ts'
import { addWorkspace, OTHER_WORKSPACE } from './fixtures.ts'

const PATH = '/v1/observability/destinations'
const UNKNOWN = '0190a000-0000-7000-8000-000000000bad'
let now = Date.UTC(2026, 6, 15, 12)
let gateway: Gateway
let handler: Handler
let otherKey = ''
let received: { method: string; path: string; headers: Headers; body: unknown }[] = []
let answer = 202
let collector: Bun.Server<undefined>

beforeAll(async () => {
  collector = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      received.push({
        method: request.method,
        path: pathname,
        headers: request.headers,
        body: await request.json(),
      })
      return new Response('canary-of-the-collector', { status: answer, headers: { location: '/elsewhere' } })
    },
  })
  gateway = await startGateway({ now: () => now, environment: { SLUICE_OUTBOUND_ALLOW: '127.0.0.1' } })
  handler = createApp(gateway.deps)
  otherKey = (await addWorkspace(gateway)).key
})
afterAll(async () => {
  await collector.stop(true)
  await gateway.stop()
})

const manage = (method: string, path: string, body?: unknown, headers = {}): Promise<Reply> =>
  call(handler, { method, path: `${PATH}${path}`, key: MANAGEMENT_KEY, body, headers })
const dataOf = (reply: Reply): Record<string, unknown> => objectOf(objectOf(reply.json)['data'])
const webhook = (fields: object = {}) => ({
  name: `hook ${crypto.randomUUID()}`,
  type: 'webhook',
  config: { url: 'https://hooks.example/in' },
  ...fields,
})
async function make(fields: object = {}): Promise<Record<string, unknown>> {
  const reply = await manage('POST', '', webhook(fields))
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)])
  return dataOf(reply)
}

/** A config with every required field, of values that tell where they come from. */
function configFor(type: string): Record<string, string> {
  if (!isDestinationType(type)) throw new Error(type)
  const needed = DESTINATION_TYPES[type].filter((field) => field.default === undefined)
  return Object.fromEntries(needed.map(({ name, kind }) => [name, sample(name, kind)]))
}
const SAMPLES: Record<string, string> = {
  url: 'https://example.com/x',
  host: 'db.example.com:8443',
  dsn: 'https://canary-of-dsn@o1.ingest.example/2',
  label: 'acme-1',
}
const sample = (name: string, kind: string): string => SAMPLES[kind] ?? `canary-of-${name}-0123`

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
runScenarios('destinations', () => handler, [
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
    name: 'a list of too many',
    path: `${PATH}?limit=101`,
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['limit'],
  },
  { name: 'no UUID', path: `${PATH}/hook`, key: MANAGEMENT_KEY, status: 400, contains: ['UUID'] },
  ...['GET', 'PATCH', 'DELETE'].map((method) => ({
    name: `${method} of one that is not there`,
    method,
    path: `${PATH}/${UNKNOWN}`,
    key: MANAGEMENT_KEY,
    ...(method === 'PATCH' ? { body: { enabled: false } } : {}),
    status: 404,
  })),
  {
    name: 'a test of one that is not there',
    method: 'POST',
    path: `${PATH}/${UNKNOWN}/test`,
    key: MANAGEMENT_KEY,
    status: 404,
  },
  {
    name: 'in a workspace that is not there',
    method: 'POST',
    path: PATH,
    key: MANAGEMENT_KEY,
    body: webhook({ workspace_id: UNKNOWN }),
    status: 404,
  },
  {
    name: 'for a key that is not there',
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
    'a method that is none',
    webhook({ config: { url: 'https://a.example', method: 'GET' } }),
    'config.method',
    'POST, PUT',
  ),
  refused('a number for a text', webhook({ type: 'opik', config: { apiKey: 1 } }), 'config.apiKey'),
  refused(
    'headers that are no map',
    webhook({ config: { url: 'https://a.example', headers: [] } }),
    'config.headers',
  ),
  refused(
    'a header with a line break',
    webhook({ config: { url: 'https://a.example', headers: { 'x-a': 'b\r\nx-c: d' } } }),
    'config.headers.x-a',
  ),
  refused(
    'a header of no name',
    webhook({ config: { url: 'https://a.example', headers: { 'x a': 'b' } } }),
    'config.headers',
  ),
  refused(
    'a masked secret',
    webhook({ type: 'langfuse', config: { publicKey: 'pk', secretKey: 'sk-l...1234' } }),
    'config.secretKey',
    'masked',
  ),
  refused('sampling nothing', webhook({ sampling_rate: 0.00009 }), 'sampling_rate'),
  refused('sampling more than all', webhook({ sampling_rate: 1.01 }), 'sampling_rate'),
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
    'a rule with a value too many',
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
    'a pattern that is none',
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
  refused(
    'a private DSN',
    webhook({ type: 'sentry', config: { dsn: 'https://key@10.0.0.1/2', otlpEndpoint: 'https://a.example' } }),
    'config.dsn',
  ),
  refused(
    'an account that leads elsewhere',
    webhook({ type: 'snowflake', config: { account: 'evil.example/#', token: 'x' } }),
    'config.account',
  ),
])

describe('a destination', () => {
  test('is made with every field, read, listed, changed and deleted', async () => {
    const fields = {
      api_key_hashes: [hashKey(API_KEY)],
      broadcast_generation_cost: true,
      broadcast_generation_identity: true,
      broadcast_generation_request_context: true,
      enabled: false,
      privacy_mode: true,
      sampling_rate: 0.0001,
      regions: ['us', 'eu', 'europe'],
      filter_rules: {
        groups: [
          {
            rules: [
              { field: 'model', operator: 'regex', value: '^openai/' },
              { field: 'output', operator: 'exists' },
            ],
          },
        ],
      },
    }
    const made = await make({ name: 'Whole', ...fields })
    const { id } = made
    const record = {
      ...fields,
      id: expect.any(String),
      workspace_id: gateway.deps.snapshot.current().defaultWorkspaceId,
      name: 'Whole',
      type: 'webhook',
      regions: ['us', 'europe'],
      filter_rules: {
        enabled: true,
        groups: [{ logic: 'and', rules: fields.filter_rules.groups[0]?.rules }],
      },
      config: { url: 'https://hooks.example/in', method: 'POST' },
      created_at: new Date(now).toISOString(),
      updated_at: new Date(now).toISOString(),
    }
    expect(made).toEqual(record)
    expect(dataOf(await manage('GET', `/${id}`))).toEqual(record)
    expect((await manage('GET', '')).json).toEqual({ data: [record], total_count: 1, next_cursor: null })
    now += 1000
    const changed = await manage('PATCH', `/${id}`, {
      name: 'Part',
      filter_rules: null,
      api_key_hashes: null,
      enabled: true,
    })
    expect(dataOf(changed)).toEqual({
      ...record,
      name: 'Part',
      filter_rules: null,
      api_key_hashes: null,
      enabled: true,
      updated_at: new Date(now).toISOString(),
    })
    expect((await manage('PATCH', `/${id}`, { type: 'ramp' })).status).toBe(400)
    expect((await manage('DELETE', `/${id}`)).json).toEqual({ deleted: true })
    expect((await manage('GET', `/${id}`)).status).toBe(404)
  })

  test('has defaults in what was left out', async () => {
    expect(await make()).toMatchObject({
      enabled: true,
      privacy_mode: false,
      sampling_rate: 1,
      api_key_hashes: null,
      filter_rules: null,
      regions: ['global'],
      broadcast_generation_cost: false,
    })
  })

  test('is of its workspace: a list shows no other, and a name is taken in one alone', async () => {
    const name = 'Twice'
    const { id } = await make({ name })
    expect(await make({ name, workspace_id: OTHER_WORKSPACE })).toMatchObject({
      workspace_id: OTHER_WORKSPACE,
    })
    const again = await manage('POST', '', webhook({ name }))
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('name')])
    const other = await make()
    expect((await manage('PATCH', `/${other['id']}`, { name })).status).toBe(409)
    expect((await manage('PATCH', `/${id}`, { name })).status).toBe(200)
    expect((await manage('GET', `?workspace_id=${OTHER_WORKSPACE}`)).json).toMatchObject({
      total_count: 1,
      next_cursor: null,
    })
    const foreign = await manage('POST', '', webhook({ api_key_hashes: [hashKey(otherKey)] }))
    expect(foreign.status).toBe(404)
  })

  test('is made once for one Idempotency-Key', async () => {
    const [body, headers] = [webhook(), { 'idempotency-key': 'once-1' }]
    const [first, second] = [await manage('POST', '', body, headers), await manage('POST', '', body, headers)]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.json).toEqual(first.json)
  })
})

describe('secrets', () => {
  test.each(Object.keys(DESTINATION_TYPES))(
    'of %s are masked, kept by a change, and nowhere in clear',
    async (type) => {
      if (!isDestinationType(type)) throw new Error(type)
      const config = configFor(type)
      const headers = { authorization: `Bearer canary-of-headers-${type}`, 'x-short': 'canary-abc' }
      const made = await make({ type, config: { ...config, headers } })
      const shown = objectOf(made['config'])
      expect(shown['headers']).toEqual({
        authorization: `Bear...${headers.authorization.slice(-4)}`,
        'x-short': '...',
      })
      for (const { name, isSecret, default: standard } of DESTINATION_TYPES[type]) {
        const value = config[name] ?? standard ?? ''
        expect([name, shown[name]]).toEqual([
          name,
          isSecret ? `${value.slice(0, 4)}...${value.slice(-4)}` : value,
        ])
      }
      // What came back masked is sent again, and stays.
      const kept = await manage('PATCH', `/${made['id']}`, { config: shown })
      expect(dataOf(kept)['config']).toEqual(shown)
      const { sealer } = gateway.deps
      const row = gateway.database.file
        .query<Record<string, string>, [string]>('SELECT * FROM observability_destinations WHERE id = ?')
        .get(String(made['id']))
      const place = {
        table: 'observability_destinations',
        column: 'sealed_config',
        rowId: String(made['id']),
        workspaceId: String(made['workspace_id']),
      }
      expect(JSON.parse(sealer.open(row?.['sealed_config'] ?? '', place))).toMatchObject({
        fields: config,
        headers,
      })
    },
  )

  test('are in no file of the database and in no audit entry', async () => {
    const { folder } = gateway
    for (const file of ['sluice.db', 'sluice.db-wal']) {
      expect(readFileSync(join(folder, file)).includes('canary-of-apiKey')).toBe(false)
      expect(readFileSync(join(folder, file)).includes('canary-of-headers')).toBe(false)
    }
    const log = await call(handler, {
      path: '/v1/audit-log?resource_type=destination&limit=100',
      key: MANAGEMENT_KEY,
    })
    expect(log.text).toContain('changed_config')
    expect(log.text).not.toContain('canary')
  })

  test('a part of a config changes and the rest stays; null brings a default back', async () => {
    const { id } = await make({
      type: 'langfuse',
      config: { publicKey: 'pk-1', secretKey: 'canary-of-secret', baseUrl: 'https://eu.example' },
    })
    const secretKey = 'canary-of-secret'
    const patched = dataOf(
      await manage('PATCH', `/${id}`, { config: { publicKey: 'pk-2', secretKey, baseUrl: null } }),
    )
    expect(patched['config']).toEqual({
      publicKey: 'pk-2',
      secretKey: 'cana...cret',
      baseUrl: 'https://us.cloud.langfuse.com',
    })
    const wrong = await manage('PATCH', `/${id}`, { config: { secretKey: 'cana...cres' } })
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('config.secretKey')])
  })
})

describe('moving to another host', () => {
  const langfuse = {
    type: 'langfuse',
    config: {
      publicKey: 'pk',
      secretKey: 'canary-of-secret',
      baseUrl: 'https://eu.example',
      headers: { 'x-own': 'canary-of-headers' },
    },
  }
  const moved = { baseUrl: 'https://elsewhere.example' }
  const whole = { secretKey: 'canary-of-secret', headers: { 'x-own': 'canary-of-headers' } }

  test.each([
    ['the secret left out', moved, 'config.secretKey'],
    ['the secret masked', { ...moved, ...whole, secretKey: 'cana...cret' }, 'config.secretKey'],
    ['the headers left out', { ...moved, secretKey: whole.secretKey }, 'config.headers.x-own'],
    ['a header masked', { ...moved, ...whole, headers: { 'x-own': 'cana...ders' } }, 'config.headers.x-own'],
  ])('with %s is refused, and nothing changes', async (_, config, place) => {
    const { id } = await make(langfuse)
    const reply = await manage('PATCH', `/${id}`, { config })
    expect([reply.status, reply.text]).toEqual([
      400,
      expect.stringContaining(`${place}: the destination moves`),
    ])
    expect(dataOf(await manage('GET', `/${id}`))['config']).toMatchObject({ baseUrl: 'https://eu.example' })
  })

  test('takes the same secrets, given whole; another path of the same host needs none', async () => {
    const { id } = await make(langfuse)
    const within = await manage('PATCH', `/${id}`, { config: { baseUrl: 'https://eu.example/v2' } })
    expect(within.status).toBe(200)
    expect((await manage('PATCH', `/${id}`, { config: { ...moved, ...whole } })).status).toBe(200)
    const hook = await make({ config: { url: 'https://hooks.example/in' } })
    const free = await manage('PATCH', `/${hook['id']}`, { config: { url: 'https://other.example/in' } })
    expect(free.status).toBe(200)
  })
})

describe('a test', () => {
  const base = () => `http://127.0.0.1:${collector.port}`
  async function tried(fields: object, status = 202): Promise<Reply> {
    received = []
    answer = status
    const { id } = await make(fields)
    return await manage('POST', `/${id}/test`)
  }

  test.each([
    [
      'webhook',
      () => ({ url: `${base()}/in`, method: 'PUT', headers: { 'x-own': 'yes' } }),
      'PUT',
      '/in',
      { 'x-own': 'yes' },
    ],
    ['otel-collector', () => ({ endpoint: `${base()}/otel/` }), 'POST', '/otel/v1/traces', {}],
    ['otel-collector', () => ({ endpoint: `${base()}/v1/traces` }), 'POST', '/v1/traces', {}],
    [
      'langfuse',
      () => ({ publicKey: 'pk', secretKey: 'sk', baseUrl: base() }),
      'POST',
      '/api/public/otel/v1/traces',
      { authorization: `Basic ${btoa('pk:sk')}` },
    ],
    [
      'grafana',
      () => ({ instanceId: '7', apiKey: 'glc', baseUrl: base() }),
      'POST',
      '/otlp/v1/traces',
      { authorization: `Basic ${btoa('7:glc')}` },
    ],
  ])('of %s sends one trace', async (type, config, method, path, headers) => {
    const reply = await tried({ type, config: config() })
    expect(dataOf(reply)).toEqual({
      success: true,
      status: 202,
      message: `127.0.0.1:${collector.port} answered 202: it took the test event`,
    })
    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({
      method,
      path,
      body: { resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'sluice.test' }] }] }] },
    })
    for (const [name, value] of Object.entries(headers)) expect(received[0]?.headers.get(name)).toBe(value)
    expect(received[0]?.headers.get('content-type')).toBe('application/json')
  })

  test.each([
    [401, 'refuses the credential'],
    [404, 'nothing at this address'],
    [302, 'redirects'],
    [500, 'did not take'],
  ])('tells an answer of %i, and nothing that it said', async (status, words) => {
    const reply = await tried({ config: { url: `${base()}/in` } }, status)
    expect(dataOf(reply)).toMatchObject({ success: false, status, message: expect.stringContaining(words) })
    expect(reply.text).not.toContain('canary')
    expect(received).toHaveLength(1)
  })

  test('tells that nobody answers', async () => {
    const closed = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    const { port } = closed
    await closed.stop(true)
    const reply = await tried({ config: { url: `http://127.0.0.1:${port}/` } })
    expect(dataOf(reply)).toEqual({
      success: false,
      status: null,
      message: `127.0.0.1:${port} could not be reached`,
    })
  })

  test('says so where nothing is delivered to yet', async () => {
    const reply = await tried({ type: 'posthog', config: configFor('posthog') })
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('not built')])
    expect(received).toEqual([])
  })
})
