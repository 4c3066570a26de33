import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { storeCredential } from '../../src/admin/providers/service.ts'
import { createStoredSource } from '../../src/admin/providers/stored.ts'
import { createApp } from '../../src/app.ts'
import type { Attempt } from '../../src/core/attempt.ts'
import { UpstreamError } from '../../src/core/errors.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios, type Scenario } from '../scenario.ts'

const ENTRIES = '/v1/providers/entries'
const CREDENTIALS = '/v1/providers/credentials'
const UNKNOWN = '0190a000-0000-7000-8000-000000000bad'
const SECRET = 'canary-of-the-entry-0123456789'
let gateway: Gateway
let handler: Handler
let upstream: Bun.Server<undefined>
let seen: { method: string; path: string; key: string }[] = []
let listStatus = 200
let listBody = '{"data":[{"id":"tiny"},{"id":"small"}]}'

beforeAll(async () => {
  upstream = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const key = request.headers.get('authorization') ?? request.headers.get('x-api-key') ?? ''
      seen.push({ method: request.method, path: pathname, key })
      if (pathname.endsWith('/models')) return new Response(listBody, { status: listStatus })
      await request.text()
      return Response.json({
        id: 'up-1',
        model: 'tiny',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      })
    },
  })
  gateway = await startGateway({
    providers: [{ slug: 'written', base_url: 'http://127.0.0.1:1/v1', models: [{ id: 'w' }] }],
    environment: { MISTRAL_API_KEY: 'canary-of-the-environment' },
  })
  handler = createApp(gateway.deps)
})
afterEach(async () => {
  for (const { slug } of await listed(ENTRIES)) await manage('DELETE', `${ENTRIES}/${slug}`)
  for (const { id } of await listed(CREDENTIALS)) await manage('DELETE', `${CREDENTIALS}/${id}`)
  seen = []
  listStatus = 200
  listBody = '{"data":[{"id":"tiny"},{"id":"small"}]}'
})
afterAll(async () => {
  await upstream.stop(true)
  await gateway.stop()
})

const manage = (method: string, path: string, body?: unknown, headers = {}): Promise<Reply> =>
  call(handler, { method, path, key: MANAGEMENT_KEY, body, headers })
const dataOf = (reply: Reply): Record<string, unknown> => objectOf(objectOf(reply.json)['data'])
async function listed(path: string): Promise<Record<string, unknown>[]> {
  const { data } = objectOf((await manage('GET', path)).json)
  return Array.isArray(data) ? data.map(objectOf) : []
}
const address = (): string => `http://127.0.0.1:${upstream.port}/v1`
const lab = (fields: object = {}) => ({
  slug: 'lab',
  base_url: address(),
  models: [{ id: 'tiny', pricing: { prompt: '0', completion: '0' } }],
  ...fields,
})
async function make(path: string, body: object): Promise<Record<string, unknown>> {
  const reply = await manage('POST', path, body)
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)])
  return dataOf(reply)
}
async function refusedWith(
  status: number,
  words: string,
  method: string,
  path: string,
  body: object,
): Promise<void> {
  const reply = await manage(method, path, body)
  expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(words)])
  expect(reply.text).not.toContain('canary')
}
const ask = (model = 'tiny'): Promise<Reply> =>
  call(handler, {
    method: 'POST',
    path: '/v1/chat/completions',
    key: API_KEY,
    body: { model, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] },
  })

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
const gates = (method: string, path: string): Scenario[] => [
  { name: `${method} ${path} without a key`, method, path, status: 401 },
  {
    name: `${method} ${path} with an inference key`,
    method,
    path,
    key: API_KEY,
    status: 403,
    contains: ['management'],
  },
]
runScenarios('providers by the API', () => handler, [
  ...gates('GET', ENTRIES),
  ...gates('POST', ENTRIES),
  ...gates('GET', `${ENTRIES}/lab`),
  ...gates('PATCH', `${ENTRIES}/lab`),
  ...gates('DELETE', `${ENTRIES}/lab`),
  ...gates('GET', CREDENTIALS),
  ...gates('POST', CREDENTIALS),
  ...gates('PATCH', `${CREDENTIALS}/x`),
  ...gates('DELETE', `${CREDENTIALS}/x`),
  ...gates('GET', '/v1/providers/configured'),
  ...gates('POST', '/v1/providers/configured/lab/test'),
  ...['GET', 'PATCH', 'DELETE'].map((method) => ({
    name: `${method} of an entry that is not there`,
    method,
    path: `${ENTRIES}/nobody`,
    key: MANAGEMENT_KEY,
    ...(method === 'PATCH' ? { body: {} } : {}),
    status: 404,
  })),
  {
    name: 'PATCH of a credential that is not there',
    method: 'PATCH',
    path: `${CREDENTIALS}/${UNKNOWN}`,
    key: MANAGEMENT_KEY,
    body: {},
    status: 404,
  },
  {
    name: 'DELETE of a credential that is not there',
    method: 'DELETE',
    path: `${CREDENTIALS}/${UNKNOWN}`,
    key: MANAGEMENT_KEY,
    status: 404,
  },
  {
    name: 'a test of a provider that is not there',
    method: 'POST',
    path: '/v1/providers/configured/nobody/test',
    key: MANAGEMENT_KEY,
    status: 404,
  },
  {
    name: 'a credential of nobody',
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
  entry('a slug that is none', { ...BASE, slug: 'The Lab' }, 'slug'),
  entry('the slug of the demo', { ...BASE, slug: 'sluice' }, 'demo'),
  entry('an unknown field', { ...BASE, url: 'x' }, 'url', 'not a known key'),
  entry('an unknown dialect', { ...BASE, dialect: 'soap' }, 'dialect'),
  entry('a key with a space', { ...BASE, api_key: 'canary canary' }, 'api_key'),
  entry(
    'a price that is none',
    { ...BASE, models: [{ id: 'a', pricing: { prompt: 'much' } }] },
    'models[0].pricing.prompt',
  ),
  entry('two wrong fields', { ...BASE, dialect: 'soap', max_in_flight: 0 }, 'dialect', 'max_in_flight'),
  entry('disabled that is neither', { ...BASE, disabled: 'yes' }, 'disabled'),
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
    name: 'a weight of nothing',
    method: 'POST',
    path: CREDENTIALS,
    key: MANAGEMENT_KEY,
    body: { provider: 'openai', credential: SECRET, weight: 0 },
    status: 400,
    contains: ['weight'],
  },
])

describe('an entry', () => {
  test('is stored, called by the next request, changed, disabled and deleted', async () => {
    expect((await ask()).status).toBe(404)
    const made = await make(ENTRIES, lab({ api_key: SECRET }))
    expect(made).toEqual({
      id: expect.any(String),
      slug: 'lab',
      disabled: false,
      outranked_by: null,
      entry: { ...lab(), api_key: 'cana...6789' },
      created_at: expect.any(String),
      updated_at: null,
    })
    expect((await ask()).status).toBe(200)
    expect(seen).toEqual([{ method: 'POST', path: '/v1/chat/completions', key: `Bearer ${SECRET}` }])
    expect(await listed(ENTRIES)).toEqual([made])
    expect(dataOf(await manage('GET', `${ENTRIES}/lab`))).toEqual(made)

    const models = [{ id: 'big', pricing: { prompt: '0', completion: '0' } }]
    const changed = dataOf(
      await manage('PATCH', `${ENTRIES}/lab`, { models, api_key: 'cana...6789', name: 'Lab' }),
    )
    expect(changed['entry']).toEqual({ ...lab(), models, name: 'Lab', api_key: 'cana...6789' })
    expect([(await ask('tiny')).status, (await ask('big')).status]).toEqual([404, 200])
    expect(seen.at(-1)?.key).toBe(`Bearer ${SECRET}`)
    await manage('PATCH', `${ENTRIES}/lab`, { disabled: true })
    expect((await ask('big')).status).toBe(404)
    await manage('PATCH', `${ENTRIES}/lab`, { disabled: false, name: null })
    expect((await ask('big')).status).toBe(200)
    expect((await manage('DELETE', `${ENTRIES}/lab`)).json).toEqual({ deleted: true })
    expect((await ask('big')).status).toBe(404)
  })

  test('is one of its slug, and keeps it', async () => {
    await make(ENTRIES, lab())
    await refusedWith(409, 'stored already', 'POST', ENTRIES, lab())
    await refusedWith(400, 'cannot be changed', 'PATCH', `${ENTRIES}/lab`, { slug: 'other' })
    const headers = { 'idempotency-key': 'entry-1' }
    const [first, second] = [
      await manage('POST', ENTRIES, lab({ slug: 'two' }), headers),
      await manage('POST', ENTRIES, lab({ slug: 'two' }), headers),
    ]
    expect(second.json).toEqual(first.json)
  })

  test('gives way to the settings and the environment', async () => {
    expect(await make(ENTRIES, lab({ slug: 'written' }))).toMatchObject({ outranked_by: 'settings' })
    expect(await make(ENTRIES, lab({ slug: 'mistral' }))).toMatchObject({ outranked_by: 'environment' })
    expect((await ask()).status).toBe(404)
    const configured = await listed('/v1/providers/configured')
    const brief = configured.map(({ slug, origin, base_url }) => [slug, origin, base_url])
    expect(brief).toContainEqual(['written', 'settings', 'http://127.0.0.1:1/v1'])
    expect(brief).toContainEqual(['mistral', 'environment', 'https://api.mistral.ai/v1'])
    expect(JSON.stringify(configured)).not.toContain('canary')
  })

  test('moves only with its secrets given anew', async () => {
    const elsewhere = { base_url: 'http://127.0.0.2:9/v1' }
    await make(ENTRIES, lab({ api_key: SECRET }))
    await refusedWith(400, 'api_key: the entry moves', 'PATCH', `${ENTRIES}/lab`, elsewhere)
    await refusedWith(400, 'api_key: the entry moves', 'PATCH', `${ENTRIES}/lab`, {
      ...elsewhere,
      api_key: 'cana...6789',
    })
    expect((await manage('PATCH', `${ENTRIES}/lab`, { base_url: `${address()}/deeper` })).status).toBe(200)
    const { id } = await make(CREDENTIALS, { provider: 'lab', credential: 'canary-of-another' })
    await refusedWith(409, String(id), 'PATCH', `${ENTRIES}/lab`, { ...elsewhere, api_key: 'canary-anew' })
    await manage('DELETE', `${CREDENTIALS}/${id}`)
    expect((await manage('PATCH', `${ENTRIES}/lab`, { ...elsewhere, api_key: 'canary-anew' })).status).toBe(
      200,
    )
    await refusedWith(400, 'masked', 'PATCH', `${ENTRIES}/lab`, { api_key: 'cana...0000' })
    // The same secret as before does: who gives it whole knows it.
    const back = { base_url: address(), api_key: 'canary-anew' }
    expect((await manage('PATCH', `${ENTRIES}/lab`, back)).status).toBe(200)
  })
})

/** What health goes by. */
function attemptWith(credentialId: string): Attempt {
  const { models, providersBySlug } = gateway.deps.snapshot.current()
  const [model, provider] = [models.find('tiny'), providersBySlug.get('lab')]
  const [endpoint, credential] = [
    model?.endpoints[0],
    provider?.credentials.find(({ id }) => id === credentialId),
  ]
  if (!model || !provider || !endpoint || !credential) throw new Error('there is no such attempt')
  return { model, endpoint, provider, credential, dialect: 'chat' }
}

describe('credentials', () => {
  test('of an entry: several, by order and by weight, disabled, rotated, removed', async () => {
    await make(ENTRIES, lab())
    const first = await make(CREDENTIALS, {
      provider: 'lab',
      credential: 'canary-first-0123456789',
      name: 'First',
    })
    expect(first).toEqual({
      id: expect.any(String),
      provider: 'lab',
      name: 'First',
      label: 'can...789',
      base_url: null,
      disabled: false,
      sort_order: 0,
      weight: null,
      outranked_by: null,
      created_at: expect.any(String),
      updated_at: null,
    })
    const second = await make(CREDENTIALS, { provider: 'lab', credential: 'canary-second', weight: 2 })
    const used = async (): Promise<string[]> => {
      const provider = gateway.deps.snapshot.current().providersBySlug.get('lab')
      return (provider?.credentials ?? []).map(({ secret, weight }) => `${secret} ${weight}`)
    }
    expect(await used()).toEqual(['canary-first-0123456789 undefined', 'canary-second 2'])
    await ask()
    expect(['Bearer canary-first-0123456789', 'Bearer canary-second']).toContain(seen[0]?.key ?? '')
    await manage('PATCH', `${CREDENTIALS}/${first['id']}`, { disabled: true })
    const rotated = dataOf(
      await manage('PATCH', `${CREDENTIALS}/${second['id']}`, {
        credential: 'canary-third',
        weight: null,
        sort_order: 7,
      }),
    )
    expect(rotated).toMatchObject({ sort_order: 7, weight: null, updated_at: expect.any(String) })
    expect(await used()).toEqual(['canary-third undefined'])
    await refusedWith(409, 'stored already', 'POST', CREDENTIALS, {
      provider: 'lab',
      credential: 'canary-third',
    })
    await refusedWith(400, 'base_url', 'POST', CREDENTIALS, {
      provider: 'lab',
      credential: 'x',
      base_url: 'http://a.example',
    })
    expect((await listed(`${CREDENTIALS}?provider=lab`)).map(({ id }) => id)).toEqual([
      first['id'],
      second['id'],
    ])
    await manage('DELETE', `${CREDENTIALS}/${second['id']}`)
    // Nobody is left to ask with, and the entry itself has no key.
    expect(await used()).toEqual(['null undefined'])
    await manage('DELETE', `${ENTRIES}/lab`)
    expect(await listed(CREDENTIALS)).toEqual([])
  })

  test('share the requests by weight, one without a weight counting as 1', async () => {
    await make(ENTRIES, lab())
    await make(CREDENTIALS, { provider: 'lab', credential: 'canary-light' })
    await make(CREDENTIALS, { provider: 'lab', credential: 'canary-heavy', weight: 2 })
    const { run } = gateway.deps
    const { random } = run
    const first = async (...draws: number[]): Promise<string | undefined> => {
      run.random = () => draws.shift() ?? 0.5
      seen = []
      await ask()
      return seen[0]?.key
    }
    // 0.5 to the power of 1/2 is 0.71.
    expect(await first(0.5, 0.5)).toBe('Bearer canary-heavy')
    expect(await first(0.7, 0.5)).toBe('Bearer canary-heavy')
    expect(await first(0.72, 0.5)).toBe('Bearer canary-light')
    run.random = random
  })

  test('of a vendor go to the vendor, and never to an entry of its name', async () => {
    const stored = await make(CREDENTIALS, { provider: 'openai', credential: SECRET, base_url: address() })
    expect(gateway.deps.snapshot.current().providersBySlug.get('openai')).toMatchObject({
      baseUrl: address(),
    })
    await refusedWith(409, String(stored['id']), 'POST', ENTRIES, lab({ slug: 'openai' }))
    await refusedWith(409, 'one address', 'POST', CREDENTIALS, {
      provider: 'openai',
      credential: 'canary-other',
    })
    expect(await make(CREDENTIALS, { provider: 'mistral', credential: SECRET })).toMatchObject({
      outranked_by: 'environment',
    })
  })

  test('of an entry that is disabled go nowhere', async () => {
    await make(ENTRIES, lab({ slug: 'openai', disabled: true }))
    await make(CREDENTIALS, { provider: 'openai', credential: SECRET })
    expect(gateway.deps.snapshot.current().providersBySlug.has('openai')).toBe(false)
  })

  test('that were refused are tried at once when they are another', async () => {
    await make(ENTRIES, lab())
    const { id } = await make(CREDENTIALS, { provider: 'lab', credential: 'canary-bad' })
    const { health } = gateway.deps.run
    const attempt = attemptWith(String(id))
    const error = new UpstreamError('credential', 'refused', { status: 401 })
    for (let failures = 0; failures < 20; failures += 1) health.failed(attempt, error)
    expect(health.cooldownOf(attempt, true)).toMatchObject({ reason: 'refused' })
    await manage('PATCH', `${CREDENTIALS}/${id}`, { credential: 'canary-good' })
    expect(health.cooldownOf(attempt, true)).toBeNull()
    expect((await ask()).status).toBe(200)
  })

  test('are in no file in clear, and not in the audit log', async () => {
    await make(ENTRIES, lab({ api_key: SECRET }))
    await manage('PATCH', `${ENTRIES}/lab`, { name: 'Other' })
    await make(CREDENTIALS, { provider: 'lab', credential: 'canary-of-the-credential' })
    for (const file of ['sluice.db', 'sluice.db-wal']) {
      const bytes = readFileSync(join(gateway.folder, file))
      for (const secret of [SECRET, 'canary-of-the-credential']) expect(bytes.includes(secret)).toBe(false)
    }
    const log = await manage('GET', '/v1/audit-log?limit=100')
    expect(log.text).toContain('provider.update')
    expect(log.text).toContain('credential.create')
    expect(log.text).not.toContain(SECRET)
    expect(log.text).not.toContain('canary-of-the-credential')
  })
})

test('the audit log tells what went with an entry, and that a credential was replaced', async () => {
  const entry = await make(ENTRIES, lab({ api_key: SECRET }))
  const { id } = await make(CREDENTIALS, { provider: 'lab', credential: 'canary-1' })
  await manage('PATCH', `${CREDENTIALS}/${id}`, { credential: 'canary-2' })
  await manage('DELETE', `${ENTRIES}/lab`)
  const last = await listed('/v1/audit-log?limit=3')
  const told = last.map(({ action, before, after }) => ({ action, before, after }))
  expect(told).toContainEqual({
    action: 'provider.delete',
    before: {
      slug: 'lab',
      disabled: false,
      entry: expect.objectContaining({ base_url: objectOf(entry['entry'])['base_url'] }),
    },
    after: null,
  })
  expect(told).toContainEqual({
    action: 'credential.delete',
    before: expect.objectContaining({ provider: 'lab', label: '...' }),
    after: null,
  })
  expect(told).toContainEqual({
    action: 'credential.update',
    before: {},
    after: { credential: 'replaced' },
  })
  expect(JSON.stringify(last)).not.toContain('cana')
})

describe('what is stored', () => {
  const openStored = () => {
    const told: string[] = []
    const { database, deps } = gateway
    const source = createStoredSource(
      database,
      deps.sealer,
      deps.providers.defaults,
      ({ provider, reason }) => told.push(`${provider}: ${reason}`),
    )
    return { ...source.current(), told }
  }

  test('is there after a start', async () => {
    await make(ENTRIES, lab({ api_key: SECRET, slug: 'kept' }))
    await make(CREDENTIALS, { provider: 'kept', credential: 'canary-second', weight: 3 })
    const { providers, models, told } = openStored()
    expect(told).toEqual([])
    expect(models.map(({ endpoint }) => endpoint.id)).toEqual(['kept/tiny'])
    expect(providers).toMatchObject([
      {
        slug: 'kept',
        baseUrl: address(),
        credentials: [
          { id: 'kept', secret: SECRET },
          { secret: 'canary-second', weight: 3 },
        ],
      },
    ])
  })

  test('and damaged is left out, told, and still listed', async () => {
    await make(ENTRIES, lab({ slug: 'whole' }))
    await make(ENTRIES, lab({ slug: 'torn' }))
    gateway.database.file.run("UPDATE provider_entries SET sealed_entry = 'v1.nothing' WHERE slug = 'torn'")
    const { providers, told } = openStored()
    expect(providers.map(({ slug }) => slug)).toEqual(['whole'])
    expect(told).toEqual([expect.stringMatching(/^torn: The sealed value in provider_entries/)])
    expect((await listed(ENTRIES)).map((each) => [each['slug'], each['entry']])).toEqual([
      ['torn', {}],
      ['whole', lab({ slug: 'whole' })],
    ])
    gateway.database.file.run("DELETE FROM provider_entries WHERE slug = 'torn'")
  })

  test('of a vendor by the command line does not go to an entry of its name', async () => {
    await make(ENTRIES, lab({ slug: 'openai' }))
    const { database, deps } = gateway
    const storing = storeCredential(
      { database, sealer: deps.sealer, now: deps.now },
      { provider: 'openai', secret: SECRET },
    )
    await expect(storing).rejects.toMatchObject({ status: 409 })
  })
})

describe('a test of the connection', () => {
  const tried = async (): Promise<unknown> => {
    const reply = await manage('POST', '/v1/providers/configured/lab/test')
    expect([reply.status, reply.text]).toEqual([200, expect.any(String)])
    return reply.json
  }

  test('asks for the list of models with every credential', async () => {
    await make(ENTRIES, lab({ name: 'Lab', api_key: SECRET }))
    const { id } = await make(CREDENTIALS, { provider: 'lab', credential: 'canary-second' })
    const message = 'Lab answered with a list of 2 models'
    expect(await tried()).toEqual({
      success: true,
      data: [
        { credential: 'lab', success: true, status: 200, message },
        { credential: id, success: true, status: 200, message },
      ],
    })
    expect(seen.map(({ method, path, key }) => `${method} ${path} ${key}`).toSorted()).toEqual([
      `GET /v1/models Bearer ${SECRET}`,
      'GET /v1/models Bearer canary-second',
    ])
  })

  test.each([
    [401, '{}', false, 'refuses the credential (401)'],
    [404, '{}', false, 'version segment'],
    [500, 'canary', false, 'answered 500'],
    [200, '<html>canary', true, 'not with a list of models'],
    [200, '[{},{},{}]', true, '3 models'],
  ])('tells an answer of %i with %j', async (status, body, success, words) => {
    listStatus = status
    listBody = body
    await make(ENTRIES, lab({ dialect: 'messages', api_key: SECRET }))
    const told = await tried()
    expect(told).toMatchObject({
      success,
      data: [{ success, status, message: expect.stringContaining(words) }],
    })
    expect(JSON.stringify(told)).not.toContain('canary')
    expect(seen[0]?.key).toBe(SECRET)
  })

  test('tells that nobody answers, and what cannot be tried', async () => {
    await make(ENTRIES, lab({ base_url: 'http://127.0.0.1:1/v1' }))
    expect(await tried()).toMatchObject({
      success: false,
      data: [{ success: false, status: null, message: 'lab could not be reached' }],
    })
    await manage('DELETE', `${ENTRIES}/lab`)
    await make(ENTRIES, { slug: 'lab', dialect: 'converse', base_url: address(), api_key: SECRET })
    expect(await tried()).toMatchObject({
      success: false,
      data: [{ success: null, message: expect.stringContaining('without cost') }],
    })
  })
})
