import { beforeAll, describe, expect, test } from 'bun:test'
import { hashKey, isKeyPlausible, labelOf, newKey } from '../../src/core/keys.ts'
import { objectOf } from '../../src/http/json.ts'
import { ensureFirstRun } from '../../src/server/first-run.ts'
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call } from '../scenario.ts'
import { administration } from './administration.ts'
import { addWorkspace, OTHER_WORKSPACE } from './fixtures.ts'
import { makeKey, readKey } from './keys.ts'

/** A Wednesday. */
const NOW = Date.UTC(2026, 6, 15, 12)
const DAY = 86_400_000
let now = NOW
const admin = administration({ now: () => now })
const { manage } = admin
beforeAll(async () => {
  await addWorkspace(admin.gateway)
})

const statusWith = async (key: string): Promise<number> =>
  (await call(admin.handler, { path: '/v1/key', key })).status

describe('a made key', () => {
  test('is found by its hash and label, and its secret is in no file', async () => {
    const { key, hash, data } = await makeKey(admin)
    expect(isKeyPlausible(key)).toBe(true)
    expect(hash).toBe(hashKey(key))
    expect(data['label']).toBe(labelOf(key))
    admin.gateway.database.file.run('PRAGMA wal_checkpoint')
    const file = await Bun.file(admin.gateway.database.path).text()
    expect(file).toContain(hash)
    expect(file).not.toContain(key.slice(9))
  })

  test('works at once, and has its own id', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => makeKey(admin)))
    expect(await Promise.all(made.map(({ key }) => statusWith(key)))).toEqual(Array(20).fill(200))
    expect(new Set(made.map(({ data }) => data['id'])).size).toBe(20)
  })

  test('is rejected as soon as it is disabled, and accepted again once enabled', async () => {
    const { key, hash } = await makeKey(admin)
    await manage('PATCH', `/keys/${hash}`, { disabled: true })
    expect(await statusWith(key)).toBe(401)
    await manage('PATCH', `/keys/${hash}`, { disabled: false })
    expect(await statusWith(key)).toBe(200)
  })

  test('is rejected as soon as it expires', async () => {
    const { key } = await makeKey(admin, { expires_at: new Date(NOW + 1000).toISOString() })
    expect(await statusWith(key)).toBe(200)
    now = NOW + 1000
    expect(await statusWith(key)).toBe(401)
    now = NOW
  })

  test('is rejected as soon as it is deleted, and can no longer be found', async () => {
    const { key, hash } = await makeKey(admin)
    expect(await manage('DELETE', `/keys/${hash}`)).toMatchObject({ status: 200, json: { deleted: true } })
    expect(await statusWith(key)).toBe(401)
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { disabled: false } : undefined
      expect((await manage(method, `/keys/${hash}`, body)).status).toBe(404)
    }
  })

  test('stores a name with quotes, marks and letters of any script unchanged', async () => {
    const name = `'; DROP TABLE api_keys;-- "\\ <b>ü漢👩‍👩‍👧\u202e`
    const { hash } = await makeKey(admin, { name })
    expect((await readKey(admin, hash))['name']).toBe(name)
  })
})

describe('a change', () => {
  test('changes only the fields that it names, and sets updated_at', async () => {
    const { hash, data } = await makeKey(admin, { limit: 5, limit_reset: 'daily' })
    now = NOW + 5000
    const { json } = await manage('PATCH', `/keys/${hash}`, { limit: 7, name: 'other' })
    now = NOW
    const expected = {
      ...data,
      limit: 7,
      limit_remaining: 7,
      name: 'other',
      updated_at: '2026-07-15T12:00:05.000Z',
    }
    expect(objectOf(json)['data']).toEqual(expected)
    expect(await readKey(admin, hash)).toEqual(expected)
  })

  test('without fields changes nothing', async () => {
    const { hash, data } = await makeKey(admin)
    expect((await manage('PATCH', `/keys/${hash}`, {})).json).toEqual({ data })
  })

  test('with null removes limit and reset', async () => {
    const { hash } = await makeKey(admin, { limit: 5, limit_reset: 'daily' })
    await manage('PATCH', `/keys/${hash}`, { limit: null, limit_reset: null })
    expect(await readKey(admin, hash)).toMatchObject({
      limit: null,
      limit_remaining: null,
      limit_reset: null,
    })
  })

  const refused: [string, unknown][] = [
    ['an unknown field', { expires_at: '2030-01-01T00:00:00Z' }],
    ['the hash', { hash: '0'.repeat(64) }],
    ['a negative limit', { limit: -1 }],
    ['a disabled that is text', { disabled: 'true' }],
    ['no name', { name: null }],
    ['a list', []],
  ]
  for (const [name, body] of refused) {
    test(`with ${name} is rejected, and changes nothing`, async () => {
      const { hash, data } = await makeKey(admin)
      expect((await manage('PATCH', `/keys/${hash}`, body)).status).toBe(400)
      expect(await readKey(admin, hash)).toEqual(data)
    })
  }
})

describe('lists', () => {
  const hashes = async (query: string): Promise<unknown[]> => {
    const { data } = objectOf((await manage('GET', `/keys${query}`)).json)
    return Array.isArray(data) ? data.map((key) => objectOf(key)['hash']) : []
  }

  test('hold the keys of one workspace, newest first, without disabled and deleted ones', async () => {
    const query = `?workspace_id=${OTHER_WORKSPACE}`
    now = NOW + DAY
    const first = await makeKey(admin, { workspace_id: OTHER_WORKSPACE })
    now += 1
    const second = await makeKey(admin, { workspace_id: OTHER_WORKSPACE })
    now += 1
    const third = await makeKey(admin, { workspace_id: OTHER_WORKSPACE })
    await manage('PATCH', `/keys/${second.hash}`, { disabled: true })
    expect((await hashes(query)).slice(0, 2)).toEqual([third.hash, first.hash])
    expect((await hashes(`${query}&include_disabled=true`)).slice(0, 3)).toEqual([
      third.hash,
      second.hash,
      first.hash,
    ])
    expect(await hashes(`${query}&include_disabled=false`)).toEqual(await hashes(query))
    await manage('DELETE', `/keys/${third.hash}`)
    expect((await hashes(query))[0]).toBe(first.hash)
    expect(await hashes('')).not.toContain(first.hash)
    now = NOW
  })

  test('continue at an offset until the last key', async () => {
    await Promise.all(Array.from({ length: 60 }, () => makeKey(admin)))
    const { total_count: total } = objectOf((await manage('GET', '/keys')).json)
    const all: unknown[] = []
    for (let page = await hashes(''); page.length > 0; page = await hashes(`?offset=${all.length}`)) {
      expect(page.length).toBeLessThanOrEqual(50)
      all.push(...page)
    }
    expect(new Set(all).size).toBe(all.length)
    expect(all.length).toBe(Number(total))
    expect(await hashes('?limit=7&offset=3')).toEqual(all.slice(3, 10))
  })

  test('never hold a management key', async () => {
    expect(await hashes('?limit=100&include_disabled=true')).not.toContain(hashKey(MANAGEMENT_KEY))
  })
})

test('every start removes the limits of the key from the settings', async () => {
  const own = await startGateway()
  const hash = hashKey(API_KEY)
  await own.manage('PATCH', `/keys/${hash}`, { limit: 1, rate_limits: { requests_per_minute: 1 } })
  const settings = { managementKey: MANAGEMENT_KEY, apiKey: API_KEY, adminEmail: null, adminPassword: null }
  await ensureFirstRun(own.database, settings)
  const { data } = objectOf(await (await own.manage('GET', `/keys/${hash}`)).json())
  await own.stop()
  expect(data).toMatchObject({ limit: null, rate_limits: null })
})

describe('GET /key', () => {
  const CURRENT = {
    is_free_tier: false,
    limit: null,
    limit_remaining: null,
    limit_reset: null,
    include_byok_in_limit: false,
    expires_at: null,
    creator_user_id: expect.stringMatching(/^user_/),
    organization_id: expect.stringMatching(/^org_/),
    workspace_id: expect.any(String),
    allowed_data_regions: ['global'],
    free_model_daily_requests: { limit: -1, remaining: -1, used: 0 },
    rate_limit: { interval: '10s', note: expect.any(String), requests: -1 },
  }

  test('of an inference key', async () => {
    const { json } = await call(admin.handler, { path: '/api/v1/key', key: API_KEY })
    expect(json).toMatchObject({
      data: { ...CURRENT, is_management_key: false, is_provisioning_key: false, label: labelOf(API_KEY) },
    })
  })

  test('of a management key', async () => {
    const { json } = await call(admin.handler, { path: '/api/v1/key', key: MANAGEMENT_KEY })
    expect(json).toMatchObject({ data: { ...CURRENT, is_management_key: true, is_provisioning_key: true } })
  })

  test('never shows the key', async () => {
    const { key, hash } = await makeKey(admin)
    const replies = await Promise.all([
      call(admin.handler, { path: '/v1/key', key }),
      manage('GET', `/keys/${hash}`),
      manage('GET', '/keys'),
    ])
    for (const { text } of replies) expect(text).not.toContain(key)
  })
})

test('an unknown key of the right form gets the same reply as a malformed one', async () => {
  const replies = await Promise.all(
    [newKey('management'), 'x'].map((key) => call(admin.handler, { path: '/v1/keys', key })),
  )
  expect(replies[0]?.text).toBe(replies[1]?.text ?? '')
})
