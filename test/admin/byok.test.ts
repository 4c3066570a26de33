import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import { atomically } from '../../src/db/database.ts'
import { byokKeys, users } from '../../src/db/tables.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { createSnapshotSource } from '../../src/snapshot/source.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios, type Scenario } from '../scenario.ts'

const SECRET = 'sk-proj-Canary-0123456789-Zebra'
const MISSING = '0190a000-0000-7000-8000-000000000404'

let now = Date.UTC(2026, 6, 15, 12)
let gateway: Gateway
let handler: Handler
let workspaceId = ''
let otherId = ''
let ownHash = ''
let otherHash = ''

const manage = (method: string, path: string, body?: unknown, headers = {}): Promise<Reply> =>
  call(handler, { method, path: `/api/v1${path}`, key: MANAGEMENT_KEY, body, headers })
const dataOf = (reply: Reply): Record<string, unknown> => objectOf(objectOf(reply.json)['data'])
const listOf = (reply: Reply): Record<string, unknown>[] => {
  const { data } = objectOf(reply.json)
  return Array.isArray(data) ? data.map(objectOf) : []
}
async function store(fields: object = {}): Promise<string> {
  const reply = await manage('POST', '/byok', { provider: 'openai', key: SECRET, ...fields })
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)])
  return String(dataOf(reply)['id'])
}

beforeAll(async () => {
  gateway = await startGateway({ now: () => now })
  handler = createApp(gateway.deps)
  const { organizationId, defaultWorkspaceId } = gateway.deps.snapshot.current()
  workspaceId = defaultWorkspaceId
  const add = { organization_id: organizationId, role: 'member' } as const
  await atomically(gateway.database, (tx) => [
    tx.insert(users).values([
      { ...add, id: 'user_ada', name: 'Ada' },
      { ...add, id: 'user_gone', name: 'Gone', deleted_at: new Date(now) },
    ]),
  ])
  otherId = String(dataOf(await manage('POST', '/workspaces', { name: 'Other', slug: 'other' }))['id'])
  ownHash = (await gateway.makeKey({})).hash
  otherHash = (await gateway.makeKey({ workspace_id: otherId })).hash
})
afterAll(() => gateway.stop())

describe('provider keys', () => {
  test('one is stored with every field, read, changed and deleted, and never shown', async () => {
    const settings = {
      name: 'Ours',
      disabled: true,
      is_fallback: false,
      is_required: true,
      is_byok_only: true,
      declared_zdr: true,
      allowed_api_key_hashes: [ownHash],
      allowed_models: ['openai/gpt-4o', 'openai/gpt-4o-mini'],
      allowed_user_ids: ['user_ada'],
    }
    const made = await manage('POST', '/byok', { provider: 'openai', key: SECRET, ...settings })
    const record = {
      ...settings,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspace_id: workspaceId,
      provider: 'openai',
      label: 'sk-...bra',
      sort_order: expect.any(Number),
      created_at: new Date(now).toISOString(),
    }
    expect([made.status, made.json]).toEqual([201, { data: record }])
    const id = String(dataOf(made)['id'])
    expect((await manage('GET', `/byok/${id.toUpperCase()}`)).json).toEqual(made.json)
    now += 1000
    const changes = { name: null, is_byok_only: false, is_fallback: true, allowed_models: null }
    const changed = await manage('PATCH', `/byok/${id}`, { ...changes, key: `${SECRET}-new` })
    expect([changed.status, changed.json]).toEqual([
      200,
      { data: { ...record, ...changes, label: 'sk-...new' } },
    ])
    expect((await manage('PATCH', `/byok/${id}`, {})).json).toEqual(changed.json)
    expect((await manage('DELETE', `/byok/${id}`)).json).toEqual({ deleted: true })
    expect((await manage('GET', `/byok/${id}`)).status).toBe(404)
    expect((await manage('DELETE', `/byok/${id}`)).status).toBe(404)
    const told = listOf(await manage('GET', `/audit-log?resource_id=${id}`))
    expect(told.map(({ action }) => action)).toEqual(['byok.delete', 'byok.update', 'byok.create'])
    expect(told[1]).toMatchObject({ after: { key: 'replaced', label: 'sk-...new', is_fallback: true } })
    expect(JSON.stringify(told)).not.toContain('Canary')
  })

  test('with a provider and a key alone it is for everybody', async () => {
    const id = await store()
    expect(dataOf(await manage('GET', `/byok/${id}`))).toMatchObject({
      name: null,
      disabled: false,
      is_fallback: false,
      is_required: false,
      is_byok_only: false,
      declared_zdr: null,
      allowed_api_key_hashes: null,
      allowed_models: null,
      allowed_user_ids: null,
    })
  })

  test('a list is of one workspace, in the order of trying, by provider, paged and counted', async () => {
    const ids: string[] = []
    for (const provider of ['openai', 'anthropic', 'openai', 'groq', 'openai']) {
      ids.push(await store({ provider, workspace_id: otherId }))
      now += 1
    }
    const all = await manage('GET', `/byok?workspace_id=${otherId}`)
    expect([listOf(all).map((row) => row['id']), listOf(all).map((row) => row['sort_order'])]).toEqual([
      ids,
      [0, 1, 2, 3, 4],
    ])
    const page = await manage('GET', `/byok?workspace_id=${otherId}&provider=openai&offset=1&limit=1`)
    expect(page.json).toMatchObject({ total_count: 3, data: [{ id: ids[2] }] })
    expect((await manage('GET', `/byok?workspace_id=${otherId}&provider=nobody`)).json).toEqual({
      data: [],
      total_count: 0,
      next_cursor: null,
    })
    const own = listOf(await manage('GET', '/byok?limit=100'))
    expect(own.length).toBeGreaterThan(0)
    expect(own.every((row) => row['workspace_id'] === workspaceId)).toBe(true)
    await manage('DELETE', `/byok/${ids[1]}`)
    await store({ workspace_id: otherId })
    const after = listOf(await manage('GET', `/byok?workspace_id=${otherId}`))
    expect(after.map((row) => row['sort_order'])).toEqual([0, 2, 3, 4, 5])
  })

  test('the same request twice with one Idempotency-Key stores one', async () => {
    const body = { provider: 'openai', key: SECRET, name: 'once' }
    const headers = { 'idempotency-key': 'byok-1' }
    const first = await manage('POST', '/byok', body, headers)
    const second = await manage('POST', '/byok', body, headers)
    expect([first.status, second.status, second.json]).toEqual([201, 201, first.json])
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    const named = listOf(await manage('GET', '/byok?limit=100')).filter((row) => row['name'] === 'once')
    expect(named.length).toBe(1)
    const other = await manage('POST', '/byok', { ...body, key: `${SECRET}2` }, headers)
    expect([other.status, other.text.includes('Canary')]).toEqual([409, false])
  })

  test('two changes at once never leave a contradiction', async () => {
    const id = await store()
    const replies = await Promise.all([
      manage('PATCH', `/byok/${id}`, { is_fallback: true }),
      manage('PATCH', `/byok/${id}`, { is_byok_only: true }),
    ])
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 400])
  })

  const labels: [what: string, provider: string, key: string, label: string][] = [
    ['a key', 'openai', ` ${SECRET}\n`, 'sk-...bra'],
    ['a short key', 'openai', 'short-key', '...'],
    [
      'a key of AWS',
      'amazon-bedrock',
      JSON.stringify({ accessKeyId: 'AKIA1', secretAccessKey: 's' }),
      '{...}',
    ],
    ['a key for Azure', 'azure', SECRET, 'sk-...bra'],
    ['a key of the express mode', 'google-vertex', SECRET, 'sk-...bra'],
  ]
  test.each(labels)('%s is masked', async (_, provider, key, label) => {
    const id = await store({ provider, key })
    expect(dataOf(await manage('GET', `/byok/${id}`))).toMatchObject({ provider, label })
  })
})

const post = (name: string, body: object, status: number, contains: string[]): Scenario => ({
  name,
  method: 'POST',
  path: '/api/v1/byok',
  key: MANAGEMENT_KEY,
  body: { provider: 'openai', key: SECRET, ...body },
  status,
  contains,
  absent: ['Canary', 'Zebra'],
})
const many = (count: number, text = 'x'): string[] => Array.from({ length: count }, (_, at) => `${text}${at}`)

runScenarios('POST /byok refuses', () => handler, [
  post('an unknown provider', { provider: 'opneai' }, 400, ['provider', 'openai']),
  post('a key in its place', { provider: SECRET }, 400, ['provider', 'such as openai']),
  post('an empty key', { key: '' }, 400, ['key']),
  post('a blank key', { key: '   ' }, 400, ['key: must not be blank']),
  post('a key with a line break', { key: `${SECRET}\n${SECRET}` }, 400, ['key: holds characters']),
  post('a key that is too long', { key: 'k'.repeat(16_385) }, 400, ['key']),
  post('half a key of AWS', { provider: 'amazon-bedrock', key: '{"accessKeyId":"Canary"}' }, 400, ['lacks']),
  post('a broken service account', { provider: 'google-vertex', key: '{"type":"Canary"' }, 400, ['no JSON']),
  post(
    'a service account of elsewhere',
    {
      provider: 'google-vertex',
      key: JSON.stringify({
        type: 'service_account',
        client_email: 'a@b.example',
        private_key: '-----BEGIN PRIVATE KEY-----\nQUJD\n-----END PRIVATE KEY-----\n',
        token_uri: 'https://metadata.example/token',
      }),
    },
    400,
    ['token_uri'],
  ),
  post('a fallback that is the only one', { is_fallback: true, is_byok_only: true }, 400, ['is_byok_only']),
  post('no hashes', { allowed_api_key_hashes: [] }, 400, ['allowed_api_key_hashes']),
  post('101 models', { allowed_models: many(101) }, 400, ['allowed_models']),
  post('101 users', { allowed_user_ids: many(101) }, 400, ['allowed_user_ids']),
  post('101 hashes', { allowed_api_key_hashes: many(101) }, 400, ['allowed_api_key_hashes']),
  post('a long name', { name: 'n'.repeat(256) }, 400, ['name']),
  post('an unknown field', { colour: 'red' }, 400, ['colour']),
  post('an order of its own', { sort_order: 3 }, 400, ['sort_order']),
  post('a workspace that is none', { workspace_id: 'x' }, 400, ['workspace_id']),
  post('an unknown workspace', { workspace_id: MISSING }, 404, ['no workspace']),
  post('an unknown key hash', { allowed_api_key_hashes: ['f'.repeat(64)] }, 404, [
    'allowed_api_key_hashes[0]',
  ]),
  post('an unknown user', { allowed_user_ids: ['user_ada', 'user_nobody'] }, 404, ['allowed_user_ids[1]']),
  post('a user who is gone', { allowed_user_ids: ['user_gone'] }, 404, ['allowed_user_ids[0]']),
])

const paths: [method: string, path: string][] = [
  ['GET', '/byok'],
  ['POST', '/byok'],
  ['GET', `/byok/${MISSING}`],
  ['PATCH', `/byok/${MISSING}`],
  ['DELETE', `/byok/${MISSING}`],
]
runScenarios(
  'who may',
  () => handler,
  paths.flatMap(([method, path]) => {
    const row = { method, path: `/api/v1${path}`, body: method === 'GET' ? undefined : { colour: 1 } }
    const isOne = path !== '/byok'
    return [
      { ...row, name: `${method} ${path} without a key`, status: 401 },
      {
        ...row,
        name: `${method} ${path} with an inference key`,
        key: API_KEY,
        status: 403,
        contains: ['management'],
      },
      ...(isOne
        ? [
            {
              ...row,
              name: `${method} ${path}: it is missing`,
              key: MANAGEMENT_KEY,
              body: method === 'PATCH' ? {} : undefined,
              status: 404,
            },
            { ...row, name: `${method}: no UUID`, path: '/api/v1/byok/x', key: MANAGEMENT_KEY, status: 400 },
          ]
        : []),
    ]
  }),
)

test('the edges of the limits are taken', async () => {
  const fields = {
    name: 'n'.repeat(255),
    key: 'k'.repeat(16_384),
    allowed_models: many(100),
    allowed_user_ids: Array(100).fill('user_ada'),
    allowed_api_key_hashes: Array(100).fill(ownHash),
  }
  const id = await store(fields)
  const emptied = await manage('PATCH', `/byok/${id}`, { allowed_models: [], allowed_user_ids: [] })
  expect(dataOf(emptied)).toMatchObject({ allowed_models: [], allowed_user_ids: [] })
  for (const body of [{ provider: 'groq' }, { workspace_id: otherId }, { key: '' }, { name: 1 }]) {
    expect((await manage('PATCH', `/byok/${id}`, body)).status).toBe(400)
  }
  // A key of another workspace is as unknown as one that never was.
  const foreign = await manage('PATCH', `/byok/${id}`, { allowed_api_key_hashes: [otherHash] })
  const unknown = await manage('PATCH', `/byok/${id}`, { allowed_api_key_hashes: ['e'.repeat(64)] })
  expect([foreign.status, foreign.json]).toEqual([404, unknown.json])
  expect((await manage('GET', `/byok?workspace_id=${MISSING}`)).status).toBe(404)
})

describe('secrets', () => {
  test('are in no file in clear, sealed to their row, and opened for the workspace alone', async () => {
    const id = await store({ name: 'sealed' })
    const files = readdirSync(gateway.folder, { withFileTypes: true }).filter((entry) => entry.isFile())
    expect(files.map(({ name }) => name)).toContain('sluice.db-wal')
    for (const { name } of files) {
      const bytes = readFileSync(join(gateway.folder, name)).toString('latin1')
      expect([name, bytes.includes('Canary'), bytes.includes('Zebra')]).toEqual([name, false, false])
    }
    const { byokKeys } = gateway.deps.snapshot.current()
    const opened = byokKeys?.get(workspaceId)?.find((own) => own.id === id)
    expect(opened?.credential?.secret).toBe(SECRET)
    expect(byokKeys?.get(otherId)?.some((own) => own.id === id) ?? false).toBe(false)
  })

  test('one that was given to another provider in the file does not open', async () => {
    const id = await store()
    const credentialOf = () => {
      gateway.deps.snapshot.applyChanges()
      return gateway.deps.snapshot
        .current()
        .byokKeys?.get(workspaceId)
        ?.find((own) => own.id === id)?.credential
    }
    const { provider } =
      (await gateway.database.db.select().from(byokKeys)).find((row) => row.id === id) ?? {}
    const give = (to: string) =>
      gateway.database.file.run('UPDATE byok_keys SET provider = ? WHERE id = ?', [to, id])
    give('groq')
    expect(credentialOf()).toBeNull()
    give(provider ?? '')
    expect(credentialOf()?.secret).toBe(SECRET)
  })

  test('one that cannot be opened is told once, is no hindrance, and shuts what it shut', async () => {
    const [moved, good] = [await store({ is_byok_only: true }), await store()]
    const rows = await gateway.database.db.select().from(byokKeys)
    const sealed = rows.find(({ id }) => id === good)?.sealed_key ?? ''
    gateway.database.file.run('UPDATE byok_keys SET sealed_key = ? WHERE id = ?', [sealed, moved])
    const told: string[] = []
    const source = createSnapshotSource(
      gateway.database,
      { providers: [], models: emptyDirectory },
      {
        sealer: gateway.deps.sealer,
        onUnreadable: (left) => told.push(JSON.stringify(left)),
      },
    )
    source.applyChanges()
    source.applyChanges()
    expect(told).toEqual([expect.stringContaining(moved)])
    expect(told[0]).not.toContain('Canary')
    const own = source.current().byokKeys?.get(workspaceId) ?? []
    expect(own.find(({ id }) => id === moved)).toMatchObject({ credential: null, isByokOnly: true })
    expect(own.find(({ id }) => id === good)?.credential?.secret).toBe(SECRET)
  })
})

const emptyDirectory = {
  find: () => undefined,
  isKnown: () => false,
  nearest: () => [],
  list: () => [],
}
