import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../gateway.ts'

/** What holds for every route that is not a conversation, as it does for chat: one table, each route a row. */

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
type Answer = () => Response

interface Upstream {
  url: string
  answer: Answer
  calls: number
  stop(): Promise<void>
}

function startProvider(): Upstream {
  const provider: Upstream = {
    url: '',
    answer: () => new Response(null, { status: 500 }),
    calls: 0,
    stop: () => server.stop(true),
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      await request.bytes()
      provider.calls += 1
      return provider.answer()
    },
  })
  provider.url = `http://127.0.0.1:${server.port}/v1`
  return provider
}

const one = startProvider()
const two = startProvider()
let gateway: Gateway

const PRICING = {
  prompt: '0.000001',
  completion: '0.000002',
  request: '0.001',
  image: '0.01',
  audio_second: '0.0001',
  input_character: '0.00001',
}

beforeAll(async () => {
  // One for each route, so that failures of one route do not open the breaker of another.
  const models = rows.map(({ path }) => ({ id: nameOf(path), pricing: PRICING }))
  gateway = await startGateway({
    providers: [
      { slug: 'one', name: 'One', base_url: one.url, models },
      { slug: 'two', name: 'Two', base_url: two.url, models },
    ],
  })
})
afterAll(async () => {
  await gateway.stop()
  await one.stop()
  await two.stop()
})
beforeEach(() => {
  one.calls = 0
  two.calls = 0
})

const nameOf = (path: string): string => `for${path.replaceAll('/', '-')}`

interface Row {
  path: string
  body: Record<string, unknown>
  good: Answer
  apiType: string
  costNanoUsd: number
}

const picture = () =>
  Response.json({ created: 1, data: [{ b64_json: PNG }], usage: { input_tokens: 4, output_tokens: 9 } })
const rows: Row[] = [
  {
    path: '/embeddings',
    body: { input: 'a' },
    good: () => Response.json({ data: [{ embedding: [1] }], usage: { prompt_tokens: 5 } }),
    apiType: 'embeddings',
    costNanoUsd: 1_000_000 + 5 * 1_000,
  },
  {
    path: '/rerank',
    body: { query: 'q', documents: ['a'] },
    good: () => Response.json({ results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 7 } }),
    apiType: 'rerank',
    costNanoUsd: 1_000_000 + 7 * 1_000,
  },
  ...['/images', '/images/generations'].map((path) => ({
    path,
    body: { prompt: 'a' },
    good: picture,
    apiType: 'image',
    costNanoUsd: 1_000_000 + 4 * 1_000 + 10_000_000,
  })),
  {
    path: '/images/edits',
    body: { prompt: 'a', images: [{ image_url: `data:image/png;base64,${PNG}` }] },
    good: picture,
    apiType: 'image',
    costNanoUsd: 1_000_000 + 4 * 1_000 + 10_000_000,
  },
  {
    path: '/audio/speech',
    body: { input: 'abc' },
    good: () => new Response('sound', { headers: { 'content-type': 'audio/pcm' } }),
    apiType: 'tts',
    costNanoUsd: 1_000_000 + 3 * 10_000,
  },
  {
    path: '/audio/transcriptions',
    body: { input_audio: { data: 'UklGRg==', format: 'wav' } },
    good: () => Response.json({ text: 'a', usage: { type: 'duration', seconds: 2 } }),
    apiType: 'stt',
    costNanoUsd: 1_000_000 + 2 * 100_000,
  },
]

describe.each(rows)('$path', ({ path, body, good, apiType, costNanoUsd }) => {
  const ask = (more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    gateway.call(path, { model: nameOf(path), ...body, ...more }, headers)
  const lastRow = () => gateway.generations().at(-1) ?? {}
  const inOrder = { provider: { order: ['one', 'two'] } }

  test('another endpoint answers where the first fails, and its record says so', async () => {
    // A 503 of several models would shut their credential.
    one.answer = () => new Response('boom', { status: 500 })
    two.answer = good
    const reply = await ask(inOrder)
    expect(reply.status).toBe(200)
    await reply.bytes()
    expect([one.calls, two.calls]).toEqual([1, 1])
    expect(lastRow()).toMatchObject({
      api_type: apiType,
      provider_slug: 'two',
      cost_nano_usd: costNanoUsd,
      finish_reason: 'stop',
    })
    const id = reply.headers.get('x-generation-id')
    const { data } = await (await gateway.call(`/generation?id=${id}`)).json()
    expect(data).toMatchObject({ api_type: apiType, provider_name: 'Two', total_cost: costNanoUsd / 1e9 })
    expect(data.provider_responses.map(({ status }: { status: number }) => status)).toEqual([500, 200])
  })

  test('a preference that leaves no endpoint, and one that leaves the other', async () => {
    one.answer = good
    two.answer = good
    expect((await ask({ provider: { only: ['nobody'] } })).status).toBe(404)
    await (await ask({ provider: { only: ['two'] } })).bytes()
    expect([one.calls, two.calls]).toEqual([0, 1])
    expect((await ask({ provider: { max_price: { request: '0.0001' } } })).status).toBe(404)
  })

  test('the caller’s mistake is not tried elsewhere, and is free', async () => {
    one.answer = () => Response.json({ error: { message: 'no such thing' } }, { status: 400 })
    const reply = await ask(inOrder)
    expect(reply.status).toBe(400)
    expect((await reply.json()).error).toMatchObject({ code: 400, message: 'no such thing' })
    expect(reply.headers.get('x-generation-id')).toStartWith('gen-')
    expect([one.calls, two.calls]).toEqual([1, 0])
    expect(lastRow()).toMatchObject({ api_type: apiType, cost_nano_usd: 0, usage_source: 'none' })
  })

  test('a key without remaining budget is refused before a provider is called', async () => {
    const { key } = await gateway.makeKey({ limit: 0.0001 })
    const reply = await ask({}, { authorization: `Bearer ${key}` })
    expect(reply.status).toBe(402)
    expect((await reply.json()).error.message).toContain('limit')
    expect([one.calls, two.calls]).toEqual([0, 0])
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })

  test('401 and 403 before the body is read, 413 and 400 after', async () => {
    expect((await gateway.call(path, '{', { authorization: 'Bearer nobody' })).status).toBe(401)
    expect((await gateway.manage('POST', path, {})).status).toBe(403)
    expect((await gateway.call(path, '{')).status).toBe(400)
    expect((await gateway.call(path, '{}', { 'content-length': '20000001' })).status).toBe(413)
  })
})
