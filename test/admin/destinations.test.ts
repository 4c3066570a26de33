import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashKey } from '../../src/core/keys.ts'
import { DESTINATION_TYPES, isDestinationType } from '../../src/exporters/destination-types.ts'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { call, type Reply } from '../scenario.ts'
import { administration } from './administration.ts'
import { configFor, DESTINATIONS, makeDestination, webhook } from './destinations.ts'
import { addWorkspace, OTHER_WORKSPACE } from './fixtures.ts'
import { dataOf } from './people.ts'

let now = Date.UTC(2026, 6, 15, 12)
let otherKey = ''
const admin = administration({ now: () => now })
beforeAll(async () => {
  otherKey = (await addWorkspace(admin.gateway)).key
})

const manage = (method: string, path: string, body?: unknown, headers = {}): Promise<Reply> =>
  admin.manage(method, `${DESTINATIONS}${path}`, body, headers)

describe('a destination', () => {
  test('is created with every field, read, listed, changed and deleted', async () => {
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
              { field: 'session_id', operator: 'exists' },
            ],
          },
        ],
      },
    }
    const made = await makeDestination(admin, { name: 'Whole', ...fields })
    const { id } = made
    const record = {
      ...fields,
      id: expect.any(String),
      workspace_id: admin.gateway.deps.snapshot.current().defaultWorkspaceId,
      name: 'Whole',
      type: 'webhook',
      regions: ['us', 'europe'],
      filter_rules: {
        enabled: true,
        groups: [{ logic: 'and', rules: fields.filter_rules.groups[0]?.rules }],
      },
      config: { url: 'https://hooks.example/in', method: 'POST' },
      pause_reason: null,
      created_at: new Date(now).toISOString(),
      updated_at: new Date(now).toISOString(),
    }
    expect(made).toEqual({ ...record, signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) })
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

  test('has a default for every missing field', async () => {
    expect(await makeDestination(admin)).toMatchObject({
      enabled: true,
      privacy_mode: false,
      sampling_rate: 1,
      api_key_hashes: null,
      filter_rules: null,
      regions: ['global'],
      broadcast_generation_cost: false,
    })
  })

  test('belongs to one workspace: lists and unique names are per workspace', async () => {
    const name = 'Twice'
    const { id } = await makeDestination(admin, { name })
    expect(await makeDestination(admin, { name, workspace_id: OTHER_WORKSPACE })).toMatchObject({
      workspace_id: OTHER_WORKSPACE,
    })
    const again = await manage('POST', '', webhook({ name }))
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('name')])
    const other = await makeDestination(admin)
    expect((await manage('PATCH', `/${other['id']}`, { name })).status).toBe(409)
    expect((await manage('PATCH', `/${id}`, { name })).status).toBe(200)
    expect((await manage('GET', `?workspace_id=${OTHER_WORKSPACE}`)).json).toMatchObject({
      total_count: 1,
      next_cursor: null,
    })
    const foreign = await manage('POST', '', webhook({ api_key_hashes: [hashKey(otherKey)] }))
    expect(foreign.status).toBe(404)
  })

  test('is created once for one Idempotency-Key', async () => {
    const [body, headers] = [webhook(), { 'idempotency-key': 'once-1' }]
    const [first, second] = [await manage('POST', '', body, headers), await manage('POST', '', body, headers)]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.json).toEqual(first.json)
  })
})

describe('secrets', () => {
  test.each(Object.keys(DESTINATION_TYPES))(
    'of %s are masked, survive a change, and are stored sealed',
    async (type) => {
      if (!isDestinationType(type)) throw new Error(type)
      const config = configFor(type)
      const headers = { authorization: `Bearer canary-of-headers-${type}`, 'x-short': 'canary-abc' }
      const made = await makeDestination(admin, { type, config: { ...config, headers } })
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
      // A masked secret that is sent back leaves the stored one.
      const kept = await manage('PATCH', `/${made['id']}`, { config: shown })
      expect(dataOf(kept)['config']).toEqual(shown)
      const { sealer } = admin.gateway.deps
      const row = admin.gateway.database.file
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
    const { folder } = admin.gateway
    for (const file of ['sluice.db', 'sluice.db-wal']) {
      expect(readFileSync(join(folder, file)).includes('canary-of-apiKey')).toBe(false)
      expect(readFileSync(join(folder, file)).includes('canary-of-headers')).toBe(false)
    }
    const log = await call(admin.handler, {
      path: '/v1/audit-log?resource_type=destination&limit=100',
      key: MANAGEMENT_KEY,
    })
    expect(log.text).toContain('changed_config')
    expect(log.text).not.toContain('canary')
  })

  test('a change of some fields of a config leaves the others; null restores a default', async () => {
    const { id } = await makeDestination(admin, {
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
  const secrets = { secretKey: 'canary-of-secret', headers: { 'x-own': 'canary-of-headers' } }

  test.each([
    ['the secret left out', moved, 'config.secretKey'],
    ['the secret masked', { ...moved, ...secrets, secretKey: 'cana...cret' }, 'config.secretKey'],
    ['the headers left out', { ...moved, secretKey: secrets.secretKey }, 'config.headers.x-own'],
    [
      'a header masked',
      { ...moved, ...secrets, headers: { 'x-own': 'cana...ders' } },
      'config.headers.x-own',
    ],
  ])('with %s is rejected, and changes nothing', async (_, config, place) => {
    const { id } = await makeDestination(admin, langfuse)
    const reply = await manage('PATCH', `/${id}`, { config })
    expect([reply.status, reply.text]).toEqual([
      400,
      expect.stringContaining(`${place}: the destination moves`),
    ])
    expect(dataOf(await manage('GET', `/${id}`))['config']).toMatchObject({ baseUrl: 'https://eu.example' })
  })

  test('needs the complete secrets, unless the host stays the same', async () => {
    const { id } = await makeDestination(admin, langfuse)
    const within = await manage('PATCH', `/${id}`, { config: { baseUrl: 'https://eu.example/v2' } })
    expect(within.status).toBe(200)
    expect((await manage('PATCH', `/${id}`, { config: { ...moved, ...secrets } })).status).toBe(200)
    const hook = await makeDestination(admin, { config: { url: 'https://hooks.example/in' } })
    const free = await manage('PATCH', `/${hook['id']}`, { config: { url: 'https://other.example/in' } })
    expect(free.status).toBe(200)
  })
})
