import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { type FakeGoogle, refusal, startGoogle, tokensIn } from './fake-google.ts'

/** `cache_control` before Gemini: the beginning of the prompt is kept by Google, and what that costs is exact. */

const PRICES = {
  prompt: '0.000001',
  completion: '0.000002',
  input_cache_read: '0.0000001',
  input_cache_write: '0.0000013',
}
const MINUTE_MS = 60_000

let gateway: Gateway
let google: FakeGoogle
let now = Date.UTC(2026, 6, 15, 12)
/** A text of its own for each test, 2,000 tokens long. */
let system = ''
let turn = 0

beforeAll(async () => {
  google = startGoogle()
  const entry = (slug: string, pricing: object) => ({
    slug,
    dialect: 'gemini',
    base_url: google.baseUrl,
    api_key: `secret-of-${slug}`,
    models: [{ id: slug, upstream_id: 'gemini-3-tides', pricing }],
  })
  const { input_cache_write: _, ...withoutWriting } = PRICES
  gateway = await startGateway({
    now: () => now,
    providers: [entry('lab', PRICES), entry('plain', withoutWriting)],
  })
})
afterAll(async () => {
  await gateway.stop()
  await google.stop()
})
beforeEach(() => {
  turn += 1
  now += 60 * MINUTE_MS
  system = `Test ${turn}. ${'The tides of Brest. '.repeat(500)}`.slice(0, 8_000)
  google.seen.length = 0
  google.refuse = undefined
  google.answer = undefined
})

const marked = (text: string, ttl?: string) => ({
  type: 'text',
  text,
  cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) },
})

interface Asked {
  messages?: object[]
  model?: string
  key?: string
  stream?: boolean
  more?: object
}

async function ask({ messages, model = 'lab', key, stream = false, more = {} }: Asked = {}) {
  const body = {
    model,
    stream,
    messages: messages ?? [
      { role: 'system', content: [marked(system)] },
      { role: 'user', content: 'When is low tide?' },
    ],
    ...more,
  }
  const response = await gateway.call('/chat/completions', body, {
    'x-openrouter-metadata': 'enabled',
    ...(key ? { authorization: `Bearer ${key}` } : {}),
  })
  const text = await response.text()
  const reply = stream ? lastOf(text) : objectOf(JSON.parse(text))
  const usage = objectOf(reply['usage'])
  const { cached_tokens: read, cache_write_tokens: written } = objectOf(usage['prompt_tokens_details'])
  const dropped = JSON.stringify(reply['openrouter_metadata'] ?? reply['service_metadata'] ?? {})
  return {
    status: response.status,
    prompt: Number(usage['prompt_tokens']),
    read: Number(read),
    written: Number(written),
    nanoUsd: Math.round(Number(usage['cost']) * 1e9),
    namesMark: dropped.includes('cache_control'),
  }
}

/** The last chunk that tells of usage. */
function lastOf(text: string): Record<string, unknown> {
  const chunks = text.split('\n').filter((line) => line.startsWith('data: {') && line.includes('"usage"'))
  return objectOf(JSON.parse(String(chunks.at(-1)?.slice('data: '.length))))
}

const KEPT = 2_000
const QUESTION = tokensIn({ text: 'When is low tide?' })
/** Written and read, then the question and two tokens of answer. */
const FIRST_NANO_USD = KEPT * 1_300 + KEPT * 100 + QUESTION * 1_000 + 2 * 2_000
const NEXT_NANO_USD = KEPT * 100 + QUESTION * 1_000 + 2 * 2_000

describe('what is marked', () => {
  test('is kept by the first request and read by the next, each charged to the nano-dollar', async () => {
    const first = await ask()
    expect(first).toEqual({
      status: 200,
      prompt: KEPT + QUESTION,
      read: 0,
      written: KEPT,
      nanoUsd: FIRST_NANO_USD,
      namesMark: false,
    })
    expect(google.seen.map(({ path }) => path)).toEqual([
      '/v1beta/cachedContents',
      '/v1beta/models/gemini-3-tides:generateContent',
    ])
    expect(google.made()).toEqual([
      { model: 'models/gemini-3-tides', systemInstruction: { parts: [{ text: system }] }, ttl: '300s' },
    ])
    expect(google.seen[1]?.body).toMatchObject({
      cachedContent: expect.stringMatching(/^cachedContents\/c\d+$/),
      contents: [{ role: 'user', parts: [{ text: 'When is low tide?' }] }],
    })
    const next = { ...first, read: KEPT, written: 0, nanoUsd: NEXT_NANO_USD }
    expect(await ask()).toEqual(next)
    expect(await ask({ stream: true })).toEqual(next)
    expect(google.made()).toHaveLength(1)
    const rows = gateway.generations().slice(-3)
    expect(rows.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([
      FIRST_NANO_USD,
      NEXT_NANO_USD,
      NEXT_NANO_USD,
    ])
    expect(
      rows.map(({ native_tokens_cached, native_tokens_cache_write }) => [
        native_tokens_cached,
        native_tokens_cache_write,
      ]),
    ).toEqual([
      [0, KEPT],
      [KEPT, 0],
      [KEPT, 0],
    ])
  })

  test('is written by a streamed answer too, and told in its last chunk', async () => {
    expect(await ask({ stream: true })).toMatchObject({ read: 0, written: KEPT, nanoUsd: FIRST_NANO_USD })
  })

  test('is made once for all who ask at once, and charged to one of them', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, (_, i) => ask({ stream: i % 2 === 0 })))
    expect(google.made()).toHaveLength(1)
    const costs = replies.map(({ nanoUsd }) => nanoUsd).sort((a, b) => b - a)
    expect(costs).toEqual([FIRST_NANO_USD, ...Array<number>(7).fill(NEXT_NANO_USD)])
  })

  test('is made anew shortly before it ends', async () => {
    await ask()
    now += 4 * MINUTE_MS
    expect(await ask()).toMatchObject({ read: KEPT, written: 0 })
    now += MINUTE_MS - 10_000
    expect(await ask()).toMatchObject({ read: 0, written: KEPT })
    expect(google.made()).toHaveLength(2)
  })

  test('is made anew where Google lost it, within the same request', async () => {
    await ask()
    google.forget()
    expect(await ask()).toMatchObject({ status: 200, written: KEPT })
    expect(google.seen.map(({ path }) => path.split(/[/:]/).at(-1))).toEqual([
      'cachedContents',
      'generateContent',
      'generateContent',
      'cachedContents',
      'generateContent',
    ])
    expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'stop' })
  })

  test('is left alone where a call with it is refused: the request goes on without', async () => {
    await ask()
    let times = 0
    google.answer = () => {
      times += 1
      google.answer = undefined
      return refusal(400, 'Cached content is not supported with this configuration')
    }
    expect(await ask()).toMatchObject({ status: 200, read: 0, written: 0, namesMark: true })
    expect(times).toBe(1)
    expect(google.made()).toHaveLength(1)
    expect(google.seen.at(-1)?.body['cachedContent']).toBeUndefined()
  })

  test.each(['messages', 'responses'])('is kept for POST /%s too', async (api) => {
    const bodies: Record<string, object> = {
      messages: {
        model: 'lab',
        max_tokens: 100,
        system: [marked(system)],
        messages: [{ role: 'user', content: 'When is low tide?' }],
      },
      responses: {
        model: 'lab',
        input: [
          { role: 'system', content: [{ ...marked(system), type: 'input_text' }] },
          { role: 'user', content: 'When is low tide?' },
        ],
      },
    }
    const usages = []
    for (let i = 0; i < 2; i++) {
      const response = await gateway.call(`/${api}`, bodies[api])
      expect(response.status).toBe(200)
      usages.push(objectOf(objectOf(await response.json())['usage']))
    }
    const [first, next] = usages
    if (api === 'messages') {
      expect(first).toMatchObject({ cache_creation_input_tokens: KEPT, cache_read_input_tokens: 0 })
      expect(next).toMatchObject({ cache_creation_input_tokens: 0, cache_read_input_tokens: KEPT })
    } else {
      expect(first).toMatchObject({ input_tokens_details: { cached_tokens: 0, cache_write_tokens: KEPT } })
      expect(next).toMatchObject({ input_tokens_details: { cached_tokens: KEPT, cache_write_tokens: 0 } })
    }
    const costs = gateway.generations().slice(-2)
    expect(costs.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([FIRST_NANO_USD, NEXT_NANO_USD])
  })

  test('by the mark of the whole body, what stands before the last question', async () => {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: 'When is low tide?' },
    ]
    const more = { cache_control: { type: 'ephemeral' } }
    expect(await ask({ messages, more })).toMatchObject({ written: KEPT, namesMark: false })
  })

  test('tools and their choice go into it with the system message', async () => {
    const cache_control = { type: 'ephemeral' }
    const tools = [{ type: 'function', function: { name: 'tide', description: 'Tells.' }, cache_control }]
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: 'Now?' },
    ]
    expect(await ask({ messages, more: { tools, tool_choice: 'required' } })).toMatchObject({ written: KEPT })
    expect(google.made()).toEqual([
      {
        model: 'models/gemini-3-tides',
        systemInstruction: { parts: [{ text: system }] },
        tools: [{ functionDeclarations: [{ name: 'tide', description: 'Tells.' }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY' } },
        ttl: '300s',
      },
    ])
  })

  test('of a conversation, a longer beginning is kept once it is twice as long', async () => {
    const turns = (count: number) => [
      { role: 'system', content: [marked(system)] },
      ...Array.from({ length: count }, (_, i) => [
        { role: 'user', content: [marked(`Question ${i}. ${system.slice(0, 2_800)}`)] },
        { role: 'assistant', content: 'Low.' },
      ]).flat(),
      { role: 'user', content: [marked('And now?')] },
    ]
    const seen = []
    for (let count = 0; count < 6; count++) seen.push(await ask({ messages: turns(count) }))
    // 2,000 tokens, then some 700 more with each turn: at 4,100 there is a second one.
    expect(seen.map(({ written }) => written > 0)).toEqual([true, false, false, true, false, false])
    expect(seen.map(({ read }) => read > 0)).toEqual([false, true, true, false, true, true])
    expect(google.made()).toHaveLength(2)
  })
})

describe('nothing is kept', () => {
  test('where writing has no price: the mark is named', async () => {
    expect(await ask({ model: 'plain' })).toMatchObject({ status: 200, written: 0, namesMark: true })
    expect(google.made()).toEqual([])
  })

  test('of what is short', async () => {
    const messages = [
      { role: 'system', content: [marked('Be brief.')] },
      { role: 'user', content: 'Now?' },
    ]
    expect(await ask({ messages })).toMatchObject({ status: 200, namesMark: true })
    expect(google.made()).toEqual([])
  })

  test('without a mark', async () => {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: 'Now?' },
    ]
    expect(await ask({ messages })).toMatchObject({ status: 200, written: 0 })
    expect(google.made()).toEqual([])
  })

  test('for who wants that nothing is retained, in the request or in a guardrail', async () => {
    const provider = { data_collection: 'allow', zdr: false }
    expect(await ask({ more: { provider } })).toMatchObject({ written: KEPT })
    const { key } = await gateway.makeGuardedKey({ enforce_zdr_anthropic: true })
    expect(await ask({ key })).toMatchObject({ status: 200, read: 0, written: 0, namesMark: true })
  })

  test('for others: a key of another workspace has its own', async () => {
    const made = await (
      await gateway.manage('POST', '/workspaces', { name: 'Other', slug: `other-${turn}` })
    ).json()
    const { key } = await gateway.makeKey({ workspace_id: made.data.id })
    await ask()
    expect(await ask({ key })).toMatchObject({ read: 0, written: KEPT })
    expect(await ask({ key })).toMatchObject({ read: KEPT, written: 0 })
    expect(google.made()).toHaveLength(2)
  })

  test.each([
    ['refuses', () => refusal(429, 'TotalCachedContentStorageTokensPerModelFreeTier limit exceeded')],
    ['does not know how', () => refusal(404, 'not found')],
    ['fails', () => refusal(503, 'overloaded')],
    ['answers nonsense', () => new Response('<html>', { status: 200 })],
  ])('where Google %s: the request goes on, and it is not tried again for five minutes', async (_, reply) => {
    google.refuse = reply
    expect(await ask()).toMatchObject({ status: 200, read: 0, written: 0, namesMark: true })
    expect(await ask()).toMatchObject({ status: 200, namesMark: true })
    expect(google.made()).toHaveLength(1)
    google.refuse = undefined
    now += 4 * MINUTE_MS
    expect(await ask()).toMatchObject({ written: 0 })
    now += 2 * MINUTE_MS
    expect(await ask()).toMatchObject({ written: KEPT, namesMark: false })
  })

  test('of what Google finds too short, and longer ones are still tried', async () => {
    // Long enough by our count, which takes names of fields for text; not by Google's.
    const system = 'The tides. '.repeat(372).slice(0, 4_090)
    const messages = (text: string) => [
      { role: 'system', content: [marked(text)] },
      { role: 'user', content: 'When is low tide?' },
    ]
    expect(await ask({ messages: messages(system) })).toMatchObject({ status: 200, namesMark: true })
    // Nor is another of that length: the model told what it keeps.
    expect(await ask({ messages: messages(system.toUpperCase()) })).toMatchObject({ namesMark: true })
    expect(google.made()).toHaveLength(1)
    expect(await ask({ messages: messages(system.repeat(2)) })).toMatchObject({ namesMark: false })
  })
})

test('what was written for an answer that failed is charged to the first one that reads it', async () => {
  google.answer = () => refusal(400, 'The model does not want to')
  const failed = await gateway.call('/chat/completions', {
    model: 'lab',
    messages: [
      { role: 'system', content: [marked(system)] },
      { role: 'user', content: 'When is low tide?' },
    ],
  })
  expect(failed.status).toBe(400)
  expect(gateway.generations().at(-1)).toMatchObject({ cost_nano_usd: 0 })
  google.answer = undefined
  expect(await ask()).toMatchObject({ read: 0, written: KEPT, nanoUsd: FIRST_NANO_USD })
  expect(await ask()).toMatchObject({ read: KEPT, written: 0, nanoUsd: NEXT_NANO_USD })
  expect(google.made()).toHaveLength(1)
})

test('a limit holds for what is written: such a request is not begun', async () => {
  // Some 2,700 tokens by our estimate: at 0.0000014 they are beyond it, at 0.000001 they are not.
  const { key } = await gateway.makeKey({ limit: 0.0035 })
  const statusOf = async (content: unknown) => {
    const messages = [
      { role: 'system', content },
      { role: 'user', content: 'When is low tide?' },
    ]
    const body = { model: 'lab', messages, max_tokens: 100 }
    return (await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })).status
  }
  expect(await statusOf([marked(system)])).toBe(402)
  expect(google.seen).toEqual([])
  expect(await statusOf(system)).toBe(200)
})

test('it can be turned off', async () => {
  const off = await startGateway({
    environment: { SLUICE_CONTEXT_CACHE: 'off' },
    providers: [
      {
        slug: 'lab',
        dialect: 'gemini',
        base_url: google.baseUrl,
        api_key: 'secret',
        models: [{ id: 'lab', upstream_id: 'gemini-3-tides', pricing: PRICES }],
      },
    ],
  })
  try {
    const messages = [
      { role: 'system', content: [marked(system)] },
      { role: 'user', content: 'Now?' },
    ]
    const reply = await off.call('/chat/completions', { model: 'lab', messages })
    expect(reply.status).toBe(200)
    expect(google.made()).toEqual([])
  } finally {
    await off.stop()
  }
})
