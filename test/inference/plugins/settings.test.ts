import { afterEach, expect, test } from 'bun:test'
import type { Plugin } from '../../../src/plugins/plugin.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { startUpstream, unary } from '../../upstream.ts'

const upstream = startUpstream()
const models = [{ id: 'tiny', pricing: { prompt: '0', completion: '0' } }]
const gateway = await gatewayOfFile(
  { providers: [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }] },
  upstream,
)
upstream.on('tiny', unary('ok'))
const ID = 'file-parser'
const seen: unknown[] = []
const noting: Plugin = {
  id: ID,
  request(request, { pdf, enforcement }) {
    seen.push(enforcement ?? pdf ?? 'plain')
    return request
  },
}
Object.assign(gateway.deps.run, { plugins: [noting] })

const chat = async (more: Record<string, unknown> = {}, headers: Record<string, string> = {}) => {
  seen.length = 0
  const body = { model: 'tiny', messages: [{ role: 'user', content: 'Hello' }], ...more }
  return gateway.call('/chat/completions', body, headers)
}
const setWorkspace = (plugins: unknown) => gateway.manage('PATCH', '/workspaces/default', { plugins })
const withKey = (key: string) => ({ authorization: `Bearer ${key}` })
afterEach(async () => {
  await setWorkspace(null)
})

test('the default of a workspace holds for its requests, until one disables it or it is removed', async () => {
  const set = await setWorkspace([{ id: ID, pdf: { engine: 'native' } }])
  expect((await set.json()).data.plugins).toEqual([{ id: ID, pdf: { engine: 'native' } }])
  await chat()
  expect(seen).toEqual([{ engine: 'native' }])
  await chat({ plugins: [{ id: ID, enabled: false }] })
  expect(seen).toEqual([])
  await setWorkspace(null)
  await chat()
  expect(seen).toEqual([])
})

test('a preset enables one, and the list of the request replaces its list', async () => {
  const made = await gateway.manage('POST', '/presets/parsing/chat/completions', { plugins: [{ id: ID }] })
  expect(made.status).toBe(200)
  await chat({ preset: 'parsing' })
  expect(seen).toEqual(['plain'])
  await chat({ preset: 'parsing', plugins: [] })
  expect(seen).toEqual([])
})

test('a guardrail sets one always, whatever the request says', async () => {
  const { key } = await gateway.makeGuardedKey({ plugins: [{ id: ID, enforcement: 'always' }] })
  await chat({ plugins: [{ id: ID, enabled: false }] }, withKey(key))
  expect(seen).toEqual(['always'])
})

test('a guardrail forbids one: 403 that names both', async () => {
  const { key } = await gateway.makeGuardedKey({ plugins: [{ id: ID, enforcement: 'never' }] })
  const response = await chat({ plugins: [{ id: ID }] }, withKey(key))
  expect(response.status).toBe(403)
  expect((await response.json()).error.message).toBe(
    'plugins: the guardrail "Careful" does not allow the plugin "file-parser"',
  )
  expect((await chat({}, withKey(key))).status).toBe(200)
  expect(seen).toEqual([])
})

test.each([
  [[{ id: 'nothing' }], 'plugins[0].id'],
  [[{ id: 'web', max_results: 100 }], 'plugins[0].max_results'],
  [[{ id: 'pareto-router' }, { id: 'pareto-router', enabled: 'yes' }], 'plugins[1].enabled'],
])('what a request could not send is not stored: %j', async (plugins, place) => {
  for (const response of [
    await setWorkspace(plugins),
    await gateway.manage('POST', '/guardrails', {
      name: 'Careful',
      plugins: plugins.map((plugin) => ({ ...plugin, enforcement: 'default' })),
    }),
  ]) {
    expect(response.status).toBe(400)
    expect((await response.json()).error.message).toContain(place)
  }
})

test('a cached reply is not given to a request that has other plugins', async () => {
  const cached = { 'x-openrouter-cache': 'true' }
  const status = async (more = {}) => {
    const response = await chat(more, cached)
    await response.text()
    return response.headers.get('x-openrouter-cache-status')
  }
  expect([await status(), await status()]).toEqual(['MISS', 'HIT'])
  await setWorkspace([{ id: ID }])
  expect([await status(), await status()]).toEqual(['MISS', 'HIT'])
})
