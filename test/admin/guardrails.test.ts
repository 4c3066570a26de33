import { describe, expect, test } from 'bun:test'
import { administration } from './administration.ts'
import { makeGuardrail } from './guardrails.ts'
import { dataOf, listOf } from './people.ts'
import { makeWorkspace } from './workspaces.ts'

let now = Date.UTC(2026, 6, 15, 12)
const admin = administration({ now: () => now })
const { manage } = admin

const FULL = {
  name: 'Careful',
  description: 'For interns',
  allowed_models: ['openai/gpt-5', 'anthropic/claude-sonnet-4.5'],
  ignored_models: ['lab/wild'],
  allowed_providers: ['openai', 'anthropic'],
  ignored_providers: ['lab'],
  allowed_data_regions: ['europe'],
  content_filter_builtins: [
    { slug: 'email', action: 'redact', label: '[EMAIL]' },
    { slug: 'phone', action: 'flag', apply_to: 'both' },
  ],
  content_filters: [
    { pattern: 'PROJ-\\d{4}', action: 'block', label: null },
    { pattern: 'TASK-\\d{4}', action: 'block', apply_to: 'output' },
  ],
  enable_free_model_publication: false,
  enable_free_model_training: false,
  enable_paid_model_training: true,
  enforce_zdr_anthropic: true,
  enforce_zdr_google: false,
  enforce_zdr_openai: null,
  enforce_zdr_other: null,
  enforce_zdr_xai: true,
  include_byok_in_budgets: true,
  limit_usd: 25.5,
  reset_interval: 'monthly',
  plugins: [{ id: 'file-parser', enforcement: 'always', pdf: { engine: 'native' } }],
  disabled_server_tools: ['openrouter:web_search'],
  rate_limits: {
    requests_per_minute: 600,
    tokens_per_minute: null,
    concurrent_requests: 20,
    models: [{ model: 'openai/gpt-5', requests_per_minute: 10, tokens_per_minute: 40_000 }],
  },
}

describe('guardrails', () => {
  test('a guardrail is created with every field, read, changed and deleted', async () => {
    const made = await manage('POST', '/guardrails', FULL)
    const record = {
      ...FULL,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspace_id: admin.gateway.deps.snapshot.current().defaultWorkspaceId,
      enforce_zdr: false,
      created_at: new Date(now).toISOString(),
      updated_at: null,
    }
    expect([made.status, made.json]).toEqual([201, { data: record }])
    const id = String(dataOf(made)['id'])
    expect((await manage('GET', `/guardrails/${id}`)).json).toEqual(made.json)
    now += 1000
    const changed = await manage('PATCH', `/guardrails/${id}`, { allowed_models: null, limit_usd: 30 })
    expect(dataOf(changed)).toEqual({
      ...record,
      allowed_models: null,
      limit_usd: 30,
      updated_at: new Date(now).toISOString(),
    })
    expect((await manage('DELETE', `/guardrails/${id}`)).json).toEqual({ deleted: true })
    expect((await manage('GET', `/guardrails/${id}`)).status).toBe(404)
    expect((await manage('DELETE', `/guardrails/${id}`)).status).toBe(404)
    const logged = listOf(await manage('GET', `/audit-log?resource_id=${id}`))
    expect(logged.map(({ action }) => action)).toEqual([
      'guardrail.delete',
      'guardrail.update',
      'guardrail.create',
    ])
    expect(logged[1]).toMatchObject({ after: { allowed_models: null, limit_usd: 30 } })
  })

  test('enforce_zdr sets each newer flag that is missing', async () => {
    const id = await makeGuardrail(admin, { enforce_zdr: true, enforce_zdr_google: false })
    expect(dataOf(await manage('GET', `/guardrails/${id}`))).toMatchObject({
      enforce_zdr: true,
      enforce_zdr_anthropic: true,
      enforce_zdr_google: false,
      enforce_zdr_openai: true,
      enforce_zdr_other: true,
      enforce_zdr_xai: true,
    })
  })

  test('a workspace has a default guardrail, which is listed and can be changed but not deleted', async () => {
    const { default_guardrail_id: id } = dataOf(await manage('GET', '/workspaces/default'))
    const [first] = listOf(await manage('GET', '/guardrails'))
    expect(first).toMatchObject({ id, name: 'Default', allowed_models: null, limit_usd: null })
    expect((await manage('PATCH', `/guardrails/${id}`, { description: 'For all of us' })).status).toBe(200)
    const refused = await manage('DELETE', `/guardrails/${id}`)
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('default guardrail')])
  })

  test('a list is limited to one workspace, paged and counted', async () => {
    const { defaultWorkspaceId } = admin.gateway.deps.snapshot.current()
    const id = await makeWorkspace(admin, 'other')
    await makeGuardrail(admin, { name: 'elsewhere', workspace_id: id })
    const own = listOf(await manage('GET', '/guardrails?limit=100'))
    expect(own.every((row) => row['workspace_id'] === defaultWorkspaceId)).toBe(true)
    const page = await manage('GET', `/guardrails?workspace_id=${id}&offset=1&limit=1`)
    expect(page.json).toMatchObject({ total_count: 2, data: [{ name: 'elsewhere' }] })
  })
})
