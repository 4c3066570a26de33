import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { createApp } from '../../src/app.ts'
import {
  byokKeys,
  guardrails,
  presets,
  presetVersions,
  workspaceBudgets,
  workspaceMembers,
} from '../../src/db/tables.ts'
import { objectOf } from '../../src/http/json.ts'
import { ensureFirstRun } from '../../src/server/first-run.ts'
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call } from '../scenario.ts'
import { administration } from './administration.ts'
import { dataOf, listOf } from './people.ts'
import { makeWorkspace, workspaceActions } from './workspaces.ts'

let now = Date.UTC(2026, 6, 15, 12)
const admin = administration({ now: () => now })
const { manage } = admin

const FULL = {
  name: 'Research',
  slug: 'research',
  description: 'All that is not shipped yet',
  default_image_model: 'lab/paint',
  default_text_model: 'lab/tiny',
  default_provider_sort: 'latency',
  disabled_server_tools: ['openrouter:web_search'],
  io_logging_api_key_ids: null,
  io_logging_sampling_rate: 0.5,
  is_data_discount_logging_enabled: true,
  is_observability_broadcast_enabled: true,
  is_observability_io_logging_enabled: true,
  plugins: [{ id: 'web', enabled: false, max_results: 3 }],
  rate_limits: {
    requests_per_minute: 600,
    tokens_per_minute: null,
    concurrent_requests: 20,
    models: [{ model: 'openai/gpt-5', requests_per_minute: 10, tokens_per_minute: 40_000 }],
  },
  response_cache_enabled: true,
  response_cache_ttl_seconds: 60,
}

describe('workspaces', () => {
  test('a workspace is created with every field, read by id and slug, changed, and deleted', async () => {
    const made = await manage('POST', '/workspaces', FULL)
    const record = {
      ...FULL,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      default_guardrail_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      include_byok_in_budgets: false,
      created_at: '2026-07-15T12:00:00.000Z',
      created_by: expect.stringMatching(/^user_/),
      updated_at: null,
    }
    expect([made.status, made.json]).toEqual([200, { data: record }])
    const id = String(dataOf(made)['id'])
    expect((await manage('GET', '/workspaces/research')).json).toEqual(made.json)
    expect((await manage('GET', `/workspaces/${id.toUpperCase()}`)).json).toEqual(made.json)

    now += 1000
    const patched = await manage('PATCH', '/workspaces/research', { slug: 'labs', description: null })
    expect(dataOf(patched)).toEqual({
      ...record,
      slug: 'labs',
      description: null,
      updated_at: '2026-07-15T12:00:01.000Z',
    })
    expect((await manage('GET', '/workspaces/research')).status).toBe(404)
    expect((await manage('PATCH', '/workspaces/labs', {})).json).toEqual(patched.json)

    expect((await manage('DELETE', '/workspaces/labs')).json).toEqual({ deleted: true })
    expect((await manage('GET', `/workspaces/${id}`)).status).toBe(404)
    expect((await manage('DELETE', '/workspaces/labs')).status).toBe(404)
    // The slug is free again.
    expect(dataOf(await manage('POST', '/workspaces', { name: 'Again', slug: 'labs' }))['id']).not.toBe(id)
    expect(await workspaceActions(admin, id)).toEqual([
      'workspace.delete',
      'workspace.update',
      'workspace.create',
    ])
  })

  test('a missing field has its default', async () => {
    const reply = await manage('POST', '/workspaces', { name: 'Plain', slug: 'plain' })
    expect(dataOf(reply)).toMatchObject({
      description: null,
      default_text_model: null,
      disabled_server_tools: null,
      io_logging_sampling_rate: 1,
      is_observability_io_logging_enabled: false,
      response_cache_enabled: false,
      response_cache_ttl_seconds: 300,
    })
  })

  test('its default text model serves its keys at once', async () => {
    const id = await makeWorkspace(admin, 'defaults', { default_text_model: 'sluice/demo' })
    const { key } = objectOf((await manage('POST', '/keys', { name: 'k', workspace_id: id })).json)
    const ask = () =>
      call(admin.handler, {
        method: 'POST',
        path: '/v1/chat/completions',
        key: String(key),
        body: { messages: [{ role: 'user', content: 'Hi' }] },
      })
    expect(objectOf((await ask()).json)['model']).toBe('sluice/demo')
    await manage('PATCH', '/workspaces/defaults', { default_text_model: null })
    expect((await ask()).status).toBe(400)
  })

  test('a list is in the order of creation, paged and counted', async () => {
    const all = listOf(await manage('GET', '/workspaces'))
    expect(all[0]).toMatchObject({ slug: 'default', name: 'Default' })
    const page = await manage('GET', '/workspaces?offset=1&limit=2')
    expect(listOf(page)).toEqual(all.slice(1, 3))
    expect(objectOf(page.json)['total_count']).toBe(all.length)
  })

  test('an inference key sees only its own workspace', async () => {
    await makeWorkspace(admin, 'foreign')
    const own = await call(admin.handler, { path: '/v1/workspaces', key: API_KEY })
    expect(listOf(own).map(({ slug }) => slug)).toEqual(['default'])
    expect(objectOf(own.json)['total_count']).toBe(1)
    expect((await call(admin.handler, { path: '/v1/workspaces/default', key: API_KEY })).status).toBe(200)
    const foreign = await call(admin.handler, { path: '/v1/workspaces/foreign', key: API_KEY })
    const missing = await call(admin.handler, { path: '/v1/workspaces/missing', key: API_KEY })
    expect([foreign.status, foreign.text]).toEqual([404, missing.text])
  })

  test('a workspace with an active key cannot be deleted; the error names the key', async () => {
    const id = await makeWorkspace(admin, 'busy')
    const { data } = objectOf((await manage('POST', '/keys', { name: 'still here', workspace_id: id })).json)
    const refused = await manage('DELETE', '/workspaces/busy')
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('still here')
    await manage('PATCH', `/keys/${objectOf(data)['hash']}`, { disabled: true })
    expect((await manage('DELETE', '/workspaces/busy')).status).toBe(200)
  })

  test('its rows are deleted with it, prompts of presets too; the audit log stays', async () => {
    const id = await makeWorkspace(admin, 'leaving')
    const { database } = admin.gateway
    const of = `?workspace_id=${id}`
    const preset = { model: 'sluice/demo', messages: [{ role: 'system', content: 'canary of a prompt' }] }
    expect((await manage('POST', `/presets/kept/chat/completions${of}`, preset)).status).toBe(200)
    await manage('POST', '/byok', { provider: 'openai', key: 'sk-0123456789abcdef', workspace_id: id })
    await manage('PUT', '/workspaces/leaving/budgets/daily', { limit_usd: 1 })
    expect((await manage('DELETE', '/workspaces/leaving')).json).toEqual({ deleted: true })
    for (const table of [presets, byokKeys, workspaceBudgets, guardrails, workspaceMembers]) {
      expect(database.sync.select().from(table).where(eq(table.workspace_id, id)).all()).toEqual([])
    }
    const versions = database.sync.select().from(presetVersions).all()
    expect(JSON.stringify(versions)).not.toContain('canary')
    expect(listOf(await manage('GET', `/audit-log${of}`)).map(({ action }) => action)).toContain(
      'preset.create',
    )
  })

  test('the public SDK gets a 201', async () => {
    const agent = { 'user-agent': 'speakeasy-sdk/typescript 1.3.19' }
    expect((await manage('POST', '/workspaces', { name: 'Sdk', slug: 'sdk' }, agent)).status).toBe(201)
  })
})

test('the default workspace is deleted only with a confirmation, and its management keys move to the next', async () => {
  const other = await startGateway({ now: () => now })
  const app = createApp(other.deps)
  const ask = (method: string, path: string, body?: unknown) =>
    call(app, { method, path: `/v1${path}`, key: MANAGEMENT_KEY, body })
  const remove = '/workspaces/default?confirm_default_workspace_deletion=true'
  expect((await ask('DELETE', remove)).text).toContain('only workspace')
  await ask('POST', '/workspaces', { name: 'Next', slug: 'next' })
  const bare = await ask('DELETE', '/workspaces/default')
  expect([bare.status, bare.text]).toEqual([
    400,
    expect.stringContaining('confirm_default_workspace_deletion'),
  ])
  // The inference key of the settings is active in it.
  expect((await ask('DELETE', remove)).text).toContain('active API keys')
  const [key] = listOf(await ask('GET', '/keys'))
  await ask('DELETE', `/keys/${key?.['hash']}`)
  expect((await ask('DELETE', remove)).json).toEqual({ deleted: true })
  const { data } = objectOf((await ask('POST', '/keys', { name: 'in the next' })).json)
  const next = dataOf(await ask('GET', '/workspaces/next'))
  expect(objectOf(data)['workspace_id']).toBe(next['id'])
  // As the next start does: the key from the settings works again, in a workspace that exists.
  const keys = { managementKey: MANAGEMENT_KEY, apiKey: API_KEY, adminEmail: null, adminPassword: null }
  await ensureFirstRun(other.database, keys)
  other.deps.snapshot.applyChanges()
  const again = await call(app, { path: '/v1/key', key: API_KEY })
  expect([again.status, dataOf(again)['workspace_id']]).toEqual([200, next['id']])
  await other.stop()
})
