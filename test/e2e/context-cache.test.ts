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

/** Nobody waits for a cache to be made; tests do. */
const made = async () => {
  await gateway.deps.run.contexts?.whenIdle()
  return google.made()
}

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

/** The first answers on a beginning, after which it is kept. */
async function askTwice(asked: Asked = {}) {
  for (let i = 0; i < 2; i++) expect(await ask(asked)).toMatchObject({ status: 200, read: 0, written: 0 })
  return made()
}

describe('what is marked', () => {
  test('is kept once it came again, written by the next answer and read by all after it, to the nano-dollar', async () => {
    const plain = {
      status: 200,
      prompt: KEPT + QUESTION,
      read: 0,
      written: 0,
      nanoUsd: (KEPT + QUESTION) * 1_000 + 2 * 2_000,
      namesMark: true,
    }
    expect(await ask()).toEqual(plain)
    expect(await made()).toEqual([])
    expect(await ask()).toEqual(plain)
    expect(await made()).toEqual([
      { model: 'models/gemini-3-tides', systemInstruction: { parts: [{ text: system }] }, ttl: '300s' },
    ])
    const first = { ...plain, written: KEPT, nanoUsd: FIRST_NANO_USD, namesMark: false }
    expect(await ask()).toEqual(first)
    expect(google.seen.at(-1)?.body).toMatchObject({
      cachedContent: expect.stringMatching(/^cachedContents\/c\d+$/),
      contents: [{ role: 'user', parts: [{ text: 'When is low tide?' }] }],
    })
    const next = { ...first, read: KEPT, written: 0, nanoUsd: NEXT_NANO_USD }
    expect(await ask()).toEqual(next)
    expect(await ask({ stream: true })).toEqual(next)
    expect(await made()).toHaveLength(1)
    const rows = gateway.generations().slice(-3)
    expect(rows.map((row) => row['cost_nano_usd'])).toEqual([FIRST_NANO_USD, NEXT_NANO_USD, NEXT_NANO_USD])
    expect(rows.map((row) => [row['native_tokens_cached'], row['native_tokens_cache_write']])).toEqual([
      [0, KEPT],
      [KEPT, 0],
      [KEPT, 0],
    ])
  })

  test('is written by a streamed answer too, and told in its last chunk', async () => {
    await askTwice({ stream: true })
    expect(await ask({ stream: true })).toMatchObject({ read: 0, written: KEPT, nanoUsd: FIRST_NANO_USD })
  })

  test('is made once for all who ask at once, and charged to one of them', async () => {
    await ask()
    await Promise.all(Array.from({ length: 8 }, () => ask()))
    expect(await made()).toHaveLength(1)
    const replies = await Promise.all(Array.from({ length: 8 }, (_, i) => ask({ stream: i % 2 === 0 })))
    const costs = replies.map(({ nanoUsd }) => nanoUsd).sort((a, b) => b - a)
    expect(costs).toEqual([FIRST_NANO_USD, ...Array<number>(7).fill(NEXT_NANO_USD)])
    expect(await made()).toHaveLength(1)
  })

  test('is made anew after its five minutes, where it still comes again', async () => {
    await askTwice()
    expect(await ask()).toMatchObject({ written: KEPT })
    now += 4 * MINUTE_MS
    expect(await ask()).toMatchObject({ read: KEPT })
    now += MINUTE_MS - 10_000
    expect(await ask()).toMatchObject({ read: 0, written: 0, namesMark: true })
    expect(await made()).toHaveLength(2)
    expect(await ask()).toMatchObject({ written: KEPT })
  })

  test.each<[string, () => Response]>([
    ['Google lost it', () => refusal(403, 'CachedContent not found (or permission denied)')],
    ['it has expired', () => refusal(400, 'Cache content 7016131366404227072 is expired.')],
    ['it is not told why', () => refusal(400, 'Request contains an invalid argument.')],
    ['Google does not know it', () => refusal(404, 'Not found: cached content metadata for 12.')],
  ])('is left where %s: the request goes on without', async (_, reply) => {
    await askTwice()
    await ask()
    const before = google.seen.length
    google.answer = () => {
      google.answer = undefined
      return reply()
    }
    expect(await ask()).toMatchObject({ status: 200, read: 0, written: 0, namesMark: true })
    expect(google.seen.slice(before).map(({ body }) => body['cachedContent'] !== undefined)).toEqual([
      true,
      false,
    ])
    // Nor is it tried again soon: for as long as it is refused, a request would be sent twice.
    for (let i = 0; i < 3; i++) expect(await ask()).toMatchObject({ status: 200, namesMark: true })
    expect(await made()).toHaveLength(1)
    expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'stop' })
  })

  test('stays where the request itself was at fault: it is refused without it too', async () => {
    await askTwice()
    await ask()
    google.answer = () => refusal(400, 'Invalid JSON schema')
    const messages = [
      { role: 'system', content: [marked(system)] },
      { role: 'user', content: 'When is low tide?' },
    ]
    expect((await gateway.call('/chat/completions', { model: 'lab', messages })).status).toBe(400)
    google.answer = undefined
    expect(await ask()).toMatchObject({ read: KEPT })
  })

  test('is not named in the second try of a request whose first one failed with it', async () => {
    await askTwice()
    await ask()
    const before = google.seen.length
    google.answer = () => {
      google.answer = undefined
      return refusal(500, 'Internal error encountered.')
    }
    expect(await ask()).toMatchObject({ status: 200, read: 0, namesMark: true })
    expect(google.seen.slice(before).map(({ body }) => body['cachedContent'] !== undefined)).toEqual([
      true,
      false,
    ])
    expect(await ask()).toMatchObject({ read: KEPT })
  })

  test('is no fault of the provider: whoever asks without a mark is answered after all refusals', async () => {
    google.answer = () => refusal(403, 'CachedContent not found (or permission denied)')
    const ours = system
    for (let i = 0; i < 30; i++) {
      // Refused with a cache, and answered without.
      system = `${i} ${ours}`
      google.answer = undefined
      await askTwice()
      google.answer = () => {
        google.answer = undefined
        return refusal(403, 'CachedContent not found (or permission denied)')
      }
      expect(await ask()).toMatchObject({ status: 200 })
      now += 6 * MINUTE_MS
    }
    google.answer = undefined
    const messages = [{ role: 'user', content: 'When is low tide?' }]
    expect(await ask({ messages })).toMatchObject({ status: 200 })
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
    for (let i = 0; i < 4; i++) {
      const response = await gateway.call(`/${api}`, bodies[api])
      expect(response.status).toBe(200)
      usages.push(objectOf(objectOf(await response.json())['usage']))
      await made()
    }
    const [first, next] = usages.slice(2)
    if (api === 'messages') {
      expect(first).toMatchObject({ cache_creation_input_tokens: KEPT, cache_read_input_tokens: 0 })
      expect(next).toMatchObject({ cache_creation_input_tokens: 0, cache_read_input_tokens: KEPT })
    } else {
      expect(first).toMatchObject({ input_tokens_details: { cached_tokens: 0, cache_write_tokens: KEPT } })
      expect(next).toMatchObject({ input_tokens_details: { cached_tokens: KEPT, cache_write_tokens: 0 } })
    }
    const costs = gateway.generations().slice(-2)
    expect(costs.map((row) => row['cost_nano_usd'])).toEqual([FIRST_NANO_USD, NEXT_NANO_USD])
  })

  test('by the mark of the whole body, what stands before the last question', async () => {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: 'When is low tide?' },
    ]
    const more = { cache_control: { type: 'ephemeral' } }
    await askTwice({ messages, more })
    expect(await ask({ messages, more })).toMatchObject({ written: KEPT, namesMark: false })
  })

  test('tools and their choice go into it with the system message', async () => {
    const cache_control = { type: 'ephemeral' }
    const tools = [{ type: 'function', function: { name: 'tide', description: 'Tells.' }, cache_control }]
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: 'Now?' },
    ]
    const asked = { messages, more: { tools, tool_choice: 'required' } }
    expect(await askTwice(asked)).toEqual([
      {
        model: 'models/gemini-3-tides',
        systemInstruction: { parts: [{ text: system }] },
        tools: [{ functionDeclarations: [{ name: 'tide', description: 'Tells.' }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY' } },
        ttl: '300s',
      },
    ])
    expect(await ask(asked)).toMatchObject({ written: KEPT })
  })

  test.each(['the whole body', 'the last message', 'system and the last two messages'])(
    'of a conversation with marks on %s: what is written stays within twice the longest, the rest is read',
    async (pattern) => {
      const asked = (count: number): Asked => {
        const onLast = (index: number) =>
          pattern === 'the last message'
            ? index === count
            : pattern !== 'the whole body' && index >= count - 1
        const questions = Array.from({ length: count + 1 }, (_, i) => {
          const words = `Question ${i}. ${system.slice(0, 1_000)}`
          return [
            { role: 'user', content: onLast(i) ? [marked(words)] : words },
            ...(i === count ? [] : [{ role: 'assistant', content: 'Low.' }]),
          ]
        })
        const first = pattern.startsWith('system') ? [marked(system)] : system
        return {
          messages: [{ role: 'system', content: first }, ...questions.flat()],
          more: pattern === 'the whole body' ? { cache_control: { type: 'ephemeral' } } : {},
        }
      }
      const seen = []
      for (let count = 0; count < 24; count++) {
        seen.push(await ask(asked(count)))
        await made()
      }
      const longest = Math.max(...seen.map(({ prompt }) => prompt))
      const written = seen.reduce((sum, { written }) => sum + written, 0)
      expect(written).toBeGreaterThan(KEPT)
      expect(written).toBeLessThan(2 * longest)
      // But for the first two, some of each was kept.
      expect(seen.map(({ read, written }) => read + written > 0).slice(2)).toEqual(
        Array<boolean>(22).fill(true),
      )
    },
  )
})

describe('nothing is kept', () => {
  const never = async (asked: Asked = {}) => {
    for (let i = 0; i < 4; i++) expect(await ask(asked)).toMatchObject({ status: 200, read: 0, written: 0 })
    expect(await made()).toEqual([])
  }

  test('where writing has no price: the mark is named', async () => {
    await never({ model: 'plain' })
    expect(await ask({ model: 'plain' })).toMatchObject({ namesMark: true })
  })

  test('of what is short', () =>
    never({
      messages: [
        { role: 'system', content: [marked('Be brief.')] },
        { role: 'user', content: 'Now?' },
      ],
    }))

  test('without a mark', () =>
    never({
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: 'Now?' },
      ],
    }))

  test('for who wants that nothing is retained', async () => {
    const { key } = await gateway.makeGuardedKey({ enforce_zdr_anthropic: true })
    await never({ key })
  })

  test('for others: a key of another workspace has its own', async () => {
    const reply = await gateway.manage('POST', '/workspaces', { name: 'Other', slug: `other-${turn}` })
    const { key } = await gateway.makeKey({ workspace_id: (await reply.json()).data.id })
    await askTwice()
    expect(await ask({ key })).toMatchObject({ read: 0, written: 0, namesMark: true })
    expect(await ask({ key })).toMatchObject({ read: 0, written: 0 })
    expect(await made()).toHaveLength(2)
    expect(await ask({ key })).toMatchObject({ read: 0, written: KEPT })
    expect(await ask()).toMatchObject({ read: 0, written: KEPT })
  })

  test.each([
    ['refuses', () => refusal(429, 'TotalCachedContentStorageTokensPerModelFreeTier limit exceeded')],
    ['does not know how', () => refusal(404, 'not found')],
    ['fails', () => refusal(503, 'overloaded')],
    ['answers nonsense', () => new Response('<html>', { status: 200 })],
  ])('where Google %s: requests go on, and it is not tried again for five minutes', async (_, reply) => {
    google.refuse = reply
    for (let i = 0; i < 5; i++) {
      expect(await ask()).toMatchObject({ status: 200, read: 0, written: 0, namesMark: true })
      expect(await made()).toHaveLength(i === 0 ? 0 : 1)
    }
    google.refuse = undefined
    now += 4 * MINUTE_MS
    expect(await ask()).toMatchObject({ written: 0 })
    now += MINUTE_MS
    expect(await ask()).toMatchObject({ written: 0 })
    expect(await made()).toHaveLength(2)
    expect(await ask()).toMatchObject({ written: KEPT, namesMark: false })
  })

  test("while Google's automatic cache does it", async () => {
    const chunk = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Low.' }] }, index: 0, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 2_005, cachedContentTokenCount: 1_990, candidatesTokenCount: 2 },
    }
    google.answer = () => Response.json(chunk)
    for (let i = 0; i < 4; i++) expect(await ask()).toMatchObject({ status: 200, read: 1_990 })
    expect(await made()).toEqual([])
  })
})

describe('its making', () => {
  test('takes no place of a request, however long it takes', async () => {
    const narrow = await startGateway({
      providers: [
        {
          slug: 'lab',
          dialect: 'gemini',
          base_url: google.baseUrl,
          api_key: 'secret',
          max_in_flight: 1,
          models: [{ id: 'lab', upstream_id: 'gemini-3-tides', pricing: PRICES }],
        },
      ],
    })
    const held = Promise.withResolvers<Response>()
    google.refuse = () => held.promise
    try {
      const messages = [
        { role: 'system', content: [marked(system)] },
        { role: 'user', content: 'Now?' },
      ]
      for (let i = 0; i < 4; i++) {
        expect((await narrow.call('/chat/completions', { model: 'lab', messages })).status).toBe(200)
      }
      expect(google.made()).toHaveLength(1)
    } finally {
      held.resolve(refusal(503, 'overloaded'))
      await narrow.stop()
    }
  })
})

describe('its writing', () => {
  test('is charged to the next one where an answer failed that read it', async () => {
    await askTwice()
    const failing = {
      content: { role: 'model', parts: [] },
      index: 0,
      finishReason: 'MALFORMED_FUNCTION_CALL',
    }
    google.answer = () =>
      Response.json({
        candidates: [failing],
        usageMetadata: { promptTokenCount: 2_005, cachedContentTokenCount: KEPT, totalTokenCount: 2_005 },
      })
    const response = await gateway.call('/chat/completions', {
      model: 'lab',
      messages: [
        { role: 'system', content: [marked(system)] },
        { role: 'user', content: 'When is low tide?' },
      ],
    })
    const failed = gateway.generations().at(-1)
    google.answer = undefined
    expect(failed).toMatchObject({ cost_nano_usd: 0 })
    expect(response.status).toBe(502)
    expect(await ask()).toMatchObject({ read: 0, written: KEPT, nanoUsd: FIRST_NANO_USD })
    expect(await ask()).toMatchObject({ read: KEPT, written: 0, nanoUsd: NEXT_NANO_USD })
    expect(await made()).toHaveLength(1)
  })
})

test.each<[what: string, isPlain: boolean, more: object, status: number]>([
  ['may be kept', false, {}, 402],
  ['must not be retained', false, { provider: { data_collection: 'deny' } }, 200],
  ['is not marked', true, {}, 200],
])('a limit holds for what may be written: a prompt that %s', async (_, isPlain, more, status) => {
  // Some 2,700 tokens by our estimate: at 0.0000014 they are beyond it, at 0.000001 they are not.
  const { key } = await gateway.makeKey({ limit: 0.0035 })
  const messages = [
    { role: 'system', content: isPlain ? system : [marked(system)] },
    { role: 'user', content: 'When is low tide?' },
  ]
  const body = { model: 'lab', messages, max_tokens: 100, ...more }
  const response = await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })
  expect(response.status).toBe(status)
})

test('turned off, nothing is kept, and nothing is reserved for it', async () => {
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
    const { key } = await off.makeKey({ limit: 0.02 })
    const messages = [
      { role: 'system', content: [marked(system)] },
      { role: 'user', content: 'Now?' },
    ]
    const headers = { authorization: `Bearer ${key}` }
    for (let i = 0; i < 4; i++) {
      const reply = await off.call('/chat/completions', { model: 'lab', messages, max_tokens: 100 }, headers)
      expect(reply.status).toBe(200)
    }
    const tight = await off.makeKey({ limit: 0.0035 })
    const last = await off.call(
      '/chat/completions',
      { model: 'lab', messages, max_tokens: 100 },
      {
        authorization: `Bearer ${tight.key}`,
      },
    )
    expect(last.status).toBe(200)
    expect(google.made()).toEqual([])
  } finally {
    await off.stop()
  }
})
