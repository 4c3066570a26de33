import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { forbidden } from '../../../src/core/errors.ts'
import type { FrameBatch, InferenceFrames } from '../../../src/core/events.ts'
import { type InferenceRequest, newConversation } from '../../../src/core/request.ts'
import type { Plugin, PluginContext } from '../../../src/plugins/plugin.ts'
import { gatewayOfFile, labOf } from '../../file-setup.ts'
import { startUpstream, streamed, unary } from '../../upstream.ts'

const upstream = startUpstream()
const price = { prompt: '0.000001', completion: '0.000002' }
const gateway = await gatewayOfFile(
  {
    providers: [
      labOf(
        upstream,
        ['tiny', 'other'].map((id) => ({ id, pricing: price })),
      ),
    ],
  },
  upstream,
)
const ID = 'file-parser'
const { run } = gateway.deps
const own = run.plugins

const install = (...plugins: Plugin[]) => Object.assign(run, { plugins })
afterEach(() => install(...own))
beforeEach(() => {
  upstream.seen.length = 0
  upstream.on('tiny', unary('A quiet answer'))
  upstream.on('other', unary('Another'))
})

const chat = (more: Record<string, unknown> = {}) =>
  gateway.call('/chat/completions', {
    model: 'tiny',
    messages: [{ role: 'user', content: 'Hello' }],
    plugins: [{ id: ID }],
    ...more,
  })
const rows = (parentId: unknown) =>
  gateway.generations().filter((row) => row['parent_id'] === parentId || row['id'] === parentId)

describe('a plugin that changes the request', () => {
  const shouting: Plugin = {
    id: ID,
    request: (request, _, { report }) => {
      report({ type: 'plugin', name: ID, summary: 'shouted' })
      return { ...request, messages: [{ role: 'user', content: 'HELLO' }], rewritten: true }
    },
  }

  test.each([
    ['/chat/completions', { messages: [{ role: 'user', content: 'Hello' }] }],
    ['/responses', { input: 'Hello' }],
    ['/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] }],
    ['/models/tiny:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }],
  ])('%s', async (path, body) => {
    install(shouting)
    for (const stream of path.includes(':') ? [false] : [false, true]) {
      upstream.on('tiny', stream ? streamed(['ok']) : unary('ok'))
      const sent = path.includes(':') ? body : { ...body, model: 'tiny', stream }
      const response = await gateway.call(path, { ...sent, plugins: [{ id: ID }] })
      expect(response.status).toBe(200)
      await response.text()
      expect(JSON.stringify(upstream.seen.at(-1)?.body['messages'])).toContain('HELLO')
    }
    expect(upstream.seen.length).toBeGreaterThan(0)
  })

  test('reports what it did in the routing metadata', async () => {
    install(shouting)
    const response = await gateway.call(
      '/chat/completions',
      { model: 'tiny', messages: [{ role: 'user', content: 'Hi' }], plugins: [{ id: ID }] },
      { 'x-service-metadata': 'enabled' },
    )
    const { service_metadata: metadata } = await response.json()
    expect(metadata.pipeline).toEqual([{ type: 'plugin', name: ID, summary: 'shouted' }])
  })

  test('several plugins see the request in their order', async () => {
    const adding = (id: string): Plugin => ({
      id,
      implied: () => ({ id }),
      request: (request) => ({
        ...request,
        messages: [...request.messages, { role: 'user', content: id }],
        rewritten: true,
      }),
    })
    install(adding('a'), adding('b'))
    await (await chat()).text()
    expect(upstream.seen[0]?.body['messages']).toEqual([
      { role: 'user', content: 'Hello' },
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ])
  })
})

test.each([false, true])('a step of a plugin is in the cost of the reply (stream: %p)', async (stream) => {
  install({
    id: ID,
    async request(request, _, { ask, pay }) {
      await ask(newConversation({ models: ['other'], messages: request.messages }), { kind: 'panel' })
      await pay(
        { kind: 'tool', name: 'openrouter:web_search', engine: 'searxng', atMostNanoUsd: 5_000_000 },
        async () => ({
          value: null,
          costNanoUsd: 5_000_000,
          counts: { searches: 1, searchResults: 3, searchEngine: 'searxng' },
        }),
      )
      return request
    },
  })
  upstream.on('tiny', stream ? streamed(['ok']) : unary('ok'))
  const response = await chat({ stream, max_tokens: 9 })
  const id = response.headers.get('x-generation-id')
  const text = await response.text()
  const usage = stream
    ? text
        .split('\n')
        .flatMap((line) => (line.includes('"usage":{') ? [JSON.parse(line.slice(6)).usage] : []))[0]
    : JSON.parse(text).usage
  // 10 + 2 × 5 tokens at each of the two models, and the search.
  expect(usage).toMatchObject({
    cost: 0.00504,
    cost_details: { server_tool_cost: 0.005 },
    server_tool_use_details: { web_search_requests: 1 },
  })
  expect(rows(id).map(({ model, cost_nano_usd }) => [model, cost_nano_usd])).toEqual([
    ['tiny', 20_000],
    ['other', 20_000],
    ['openrouter:web_search', 5_000_000],
  ])
  const { data } = await (await gateway.call(`/generation?id=${id}`)).json()
  expect(data).toMatchObject({
    id,
    parent_id: null,
    total_cost: 0.00504,
    usage: 0.00504,
    num_search_results: 3,
    web_search_engine: 'searxng',
    steps: [
      { kind: 'panel', model: 'other', total_cost: 0.00002, tokens_prompt: 10, finish_reason: 'stop' },
      { kind: 'tool', model: 'openrouter:web_search', api_type: 'tool', total_cost: 0.005 },
    ],
  })
  const step = await (await gateway.call(`/generation?id=${data.steps[0].id}`)).json()
  expect(step.data).toMatchObject({ parent_id: id, total_cost: 0.00002, steps: [] })
  const plan = gateway.database.file
    .query<{ detail: string }, [string]>('EXPLAIN QUERY PLAN SELECT * FROM generations WHERE parent_id = ?')
    .all('gen-1')
  expect(plan[0]?.detail).toContain('generations_parent')
})

describe('a request that a plugin refuses after a step', () => {
  const asking = (request: InferenceRequest, { ask }: PluginContext) =>
    ask(newConversation({ models: ['other'], messages: request.messages }), { kind: 'panel' })

  test.each([false, true])('has an id whose record shows the step (stream: %p)', async (stream) => {
    install({
      id: ID,
      async request(request, _, context) {
        await asking(request, context)
        throw forbidden('Not that')
      },
    })
    const response = await chat({ stream })
    expect(response.status).toBe(403)
    const id = response.headers.get('x-generation-id')
    const { data } = await (await gateway.call(`/generation?id=${id}`)).json()
    expect(data).toMatchObject({
      id,
      finish_reason: '',
      tokens_prompt: 0,
      total_cost: 0.00002,
      parent_id: null,
      steps: [{ kind: 'panel', model: 'other', total_cost: 0.00002 }],
    })
    const stranger = await gateway.manage('POST', '/workspaces', {
      name: `Other ${stream}`,
      slug: `o-${stream}`,
    })
    const { data: workspace } = await stranger.json()
    const { key } = await gateway.makeKey({ workspace_id: workspace.id })
    const hidden = await gateway.call(`/generation?id=${id}`, undefined, { authorization: `Bearer ${key}` })
    expect(hidden.status).toBe(404)
  })

  test('because its step fails has its own id, not that of the step', async () => {
    install({
      id: ID,
      async request(request, _, context) {
        await asking(request, context)
        return request
      },
    })
    upstream.on('other', () => Response.json({ error: { message: 'no' } }, { status: 400 }))
    const response = await chat()
    expect(response.status).toBe(400)
    const id = response.headers.get('x-generation-id')
    expect(rows(id)).toMatchObject([{ parent_id: id, model: 'other', finish_reason: 'error' }])
  })
})

describe('a plugin that looks at the reply', () => {
  const collected = async (frames: InferenceFrames): Promise<FrameBatch> => {
    const all = []
    for await (const batch of frames) all.push(...batch)
    return all
  }
  const loud: Plugin = {
    id: ID,
    async *frames(frames: InferenceFrames) {
      const all = await collected(frames)
      yield all.map(({ events }) => ({
        events: events.map((event) =>
          event.type === 'text-delta' ? { ...event, text: event.text.toUpperCase() } : event,
        ),
      }))
    },
  }

  test.each([false, true])('changes it, and the provider is charged (stream: %p)', async (stream) => {
    install(loud)
    upstream.on('tiny', stream ? streamed(['quiet ', 'words']) : unary('quiet words'))
    const response = await chat({ stream })
    const id = response.headers.get('x-generation-id')
    expect(await response.text()).toContain(stream ? 'WORDS' : 'QUIET WORDS')
    expect(rows(id)).toMatchObject([
      { cost_nano_usd: 20_000, usage_source: 'provider', finish_reason: 'stop' },
    ])
  })

  test.each([false, true])('rejects it: the caller gets the error and pays (stream: %p)', async (stream) => {
    install({
      id: ID,
      async *frames(frames: InferenceFrames) {
        await collected(frames)
        yield* []
        throw forbidden('Not that')
      },
    })
    upstream.on('tiny', stream ? streamed(['quiet ', 'words']) : unary('quiet words'))
    const response = await chat({ stream })
    expect(response.status).toBe(stream ? 200 : 403)
    const id = response.headers.get('x-generation-id')
    const text = await response.text()
    expect(text).toContain('Not that')
    expect(text).not.toContain('words')
    expect(rows(id)).toMatchObject([{ cost_nano_usd: 20_000, finish_reason: 'error' }])
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })

  test('the last one to see the request is the first one to see the reply', async () => {
    const wrapping = (id: string): Plugin => ({
      id,
      implied: () => ({ id }),
      async *frames(frames) {
        for await (const batch of frames)
          yield batch.map(({ events }) => ({
            events: events.map((event) =>
              event.type === 'text-delta' ? { ...event, text: `${id}(${event.text})` } : event,
            ),
          }))
      },
    })
    install(wrapping('a'), wrapping('b'))
    expect((await (await chat()).json()).choices[0].message.content).toBe('a(b(A quiet answer))')
  })
})
