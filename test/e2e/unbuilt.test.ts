/** What a caller asks of the gateway and this version lacks is a 400 that names it, in the words of each dialect. */
import { describe, expect, test } from 'bun:test'
import { isObject } from '../../src/core/json.ts'
import { unary } from '../upstream.ts'
import { ask, startForChat } from './chat-setup.ts'

const { upstream, gateway } = await startForChat()
upstream.on('tiny', unary('Hi'))

const SMALLEST: Readonly<Record<string, Record<string, unknown>>> = {
  '/chat/completions': ask(),
  '/completions': { model: 'tiny', prompt: 'Hello' },
  '/responses': { model: 'tiny', input: 'Hello' },
  '/messages': ask({ max_tokens: 9 }),
  '/models/tiny:generateContent': { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
}
const paths = Object.keys(SMALLEST)

async function send(path: string, more: Record<string, unknown>) {
  const response = await gateway.call(path, { ...SMALLEST[path], ...more })
  const json: unknown = await response.json()
  const error = isObject(json) && isObject(json['error']) ? json['error'] : {}
  return { status: response.status, json, message: String(error['message'] ?? '') }
}

const PLUGINS = ['switchyard-router']

describe.each(paths)('%s', (path) => {
  // A completion has no tools.
  const isChat = path !== '/completions'

  test.each(PLUGINS)('the plugin %s is refused by name, unless it is disabled', async (id) => {
    const refused = await send(path, { plugins: [{ id: 'file-parser' }, { id }] })
    expect(refused.status).toBe(400)
    expect(refused.message).toStartWith(
      `plugins[1].id: "${id}" is not available: this gateway does not have `,
    )
    expect((await send(path, { plugins: [{ id, enabled: false }] })).status).toBe(200)
  })

  test('an unknown plugin is refused with the known ones', async () => {
    const { status, message } = await send(path, { plugins: [{ id: 'magic' }] })
    expect(status).toBe(400)
    for (const id of PLUGINS) expect(message).toContain(`"${id}"`)
  })

  test('files are sent to models that read them; another engine is refused', async () => {
    const engines = [{ engine: 'native' }, { engine: 'pdf-text' }, { engine: 'mistral-ocr' }]
    for (const pdf of [undefined, {}, ...engines]) {
      expect((await send(path, { plugins: [{ id: 'file-parser', pdf }] })).status).toBe(200)
    }
    const { status, message } = await send(path, {
      plugins: [{ id: 'file-parser', pdf: { engine: 'eyes' } }],
    })
    expect(status).toBe(400)
    expect(message).toStartWith('plugins[0].pdf.engine: must be')
  })

  test('a transform other than middle-out is refused', async () => {
    expect((await send(path, { transforms: ['middle-out'] })).status).toBe(200)
    const { status, message } = await send(path, { transforms: ['middle-out', 'shout'] })
    expect(status).toBe(400)
    expect(message).toBe('transforms[1]: must be "middle-out", not "shout"')
  })

  test('what clients send by default is served', async () => {
    const tools = isChat ? { tools: [] } : {}
    const usual = { plugins: [], transforms: [], ...tools, max_tool_calls: null }
    expect((await send(path, usual)).status).toBe(200)
    expect((await send(path, { plugins: null, tools: null, stop_server_tools_when: null })).status).toBe(200)
  })
})

const WITH_TOOLS = paths.filter((path) => path !== '/completions')

test.each(WITH_TOOLS)('%s refuses an unknown server tool with the known ones', async (path) => {
  const { status, message } = await send(path, { tools: [{ type: 'openrouter:magic' }] })
  expect(status).toBe(400)
  expect(message).toStartWith(
    '"openrouter:magic" is not a tool that this gateway runs. It runs openrouter:calculator, openrouter:datetime',
  )
})

test.each(WITH_TOOLS)('%s refuses a tool that runs programs, and says why', async (path) => {
  for (const type of ['openrouter:bash', 'sluice:code_interpreter']) {
    const { status, message } = await send(path, { tools: [{ type }] })
    expect(status).toBe(400)
    expect(message).toStartWith(`"${type}" runs programs of a model, and this gateway runs none`)
  }
})

test('the programs of a provider are refused where only a provider of another dialect answers', async () => {
  const { status, message } = await send('/responses', { tools: [{ type: 'code_interpreter' }] })
  expect(status).toBe(400)
  expect(message).toContain('runs programs of a model')
})

test('the variant :online needs a search engine, as the first model and as a fall-back', async () => {
  for (const body of [{ model: 'tiny:online' }, { models: ['other', 'tiny:online'] }]) {
    const { status, message } = await send('/chat/completions', body)
    expect(status).toBe(400)
    expect(message).toStartWith('plugins.web.engine: no search engine is configured at this gateway')
  }
})

test.each(['chat/completions', 'responses', 'messages'])(
  'a preset of %s with a plugin that is not available is not stored',
  async (route) => {
    const body = { ...SMALLEST[`/${route}`], plugins: [{ id: 'switchyard-router' }] }
    const response = await gateway.manage('POST', `/presets/wish/${route}`, body)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('is not available')
    expect((await gateway.manage('GET', '/presets/wish')).status).toBe(404)
  },
)

test('each dialect reports it in its own shape', async () => {
  const plugins = [{ id: 'switchyard-router' }]
  const shapes = await Promise.all(paths.map(async (path) => (await send(path, { plugins })).json))
  const [chat, completions, responses, anthropic, gemini] = shapes
  for (const json of [chat, completions, responses]) {
    expect(json).toMatchObject({ error: { code: 400, metadata: { error_type: 'invalid_request' } } })
  }
  expect(anthropic).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
  expect(gemini).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } })
})
