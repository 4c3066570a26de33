import { beforeAll, describe, expect, test } from 'bun:test'
import { administration } from './administration.ts'
import { SECRET, storeByok } from './byok.ts'
import { dataOf, listOf } from './people.ts'
import { addPeople, makeWorkspace } from './workspaces.ts'

let now = Date.UTC(2026, 6, 15, 12)
const admin = administration({ now: () => now })
const { manage } = admin

let ownHash = ''
let otherId = ''

beforeAll(async () => {
  await addPeople(admin.gateway)
  otherId = await makeWorkspace(admin, 'other')
  ownHash = (await admin.gateway.makeKey({})).hash
})

const defaultWorkspaceId = (): string => admin.gateway.deps.snapshot.current().defaultWorkspaceId

describe('BYOK keys', () => {
  test('a key is stored with every field, read, changed and deleted, and never returned', async () => {
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
      workspace_id: defaultWorkspaceId(),
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
    const logged = listOf(await manage('GET', `/audit-log?resource_id=${id}`))
    expect(logged.map(({ action }) => action)).toEqual(['byok.delete', 'byok.update', 'byok.create'])
    expect(logged[1]).toMatchObject({ after: { key: 'replaced', label: 'sk-...new', is_fallback: true } })
    expect(JSON.stringify(logged)).not.toContain('Canary')
  })

  test('a key without further fields serves every caller of the workspace', async () => {
    const id = await storeByok(admin)
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

  test('a list is limited to one workspace, in the order of use, filtered by provider, paged and counted', async () => {
    const ids: string[] = []
    for (const provider of ['openai', 'anthropic', 'openai', 'groq', 'openai']) {
      ids.push(await storeByok(admin, { provider, workspace_id: otherId }))
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
    expect(own.every((row) => row['workspace_id'] === defaultWorkspaceId())).toBe(true)
    await manage('DELETE', `/byok/${ids[1]}`)
    await storeByok(admin, { workspace_id: otherId })
    const after = listOf(await manage('GET', `/byok?workspace_id=${otherId}`))
    expect(after.map((row) => row['sort_order'])).toEqual([0, 2, 3, 4, 5])
  })

  test('two requests with one Idempotency-Key store one key', async () => {
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

  test('two concurrent changes never leave a contradiction', async () => {
    const id = await storeByok(admin)
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
    const id = await storeByok(admin, { provider, key })
    expect(dataOf(await manage('GET', `/byok/${id}`))).toMatchObject({ provider, label })
  })
})
