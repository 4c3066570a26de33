import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import {
  type Asked,
  CACHED,
  FIRST_NANO_USD,
  MINUTE_MS,
  marked,
  NEXT_NANO_USD,
  QUESTION,
  startForContextCache,
} from './context-cache-setup.ts'
import { refusal } from './fake-google.ts'

/** `cache_control` before Gemini: Google caches the prefix of the prompt, and the cost is exact. */

const { google, gateway, state, ask, made, askTwice } = await startForContextCache()

describe('a marked prefix', () => {
  test('is cached on its second use, written by the next answer and read by all after it, to the nano-dollar', async () => {
    const plain = {
      status: 200,
      prompt: CACHED + QUESTION,
      read: 0,
      written: 0,
      nanoUsd: (CACHED + QUESTION) * 1_000 + 2 * 2_000,
      namesMark: true,
    }
    expect(await ask()).toEqual(plain)
    expect(await made()).toEqual([])
    expect(await ask()).toEqual(plain)
    expect(await made()).toEqual([
      { model: 'models/gemini-3-tides', systemInstruction: { parts: [{ text: state.system }] }, ttl: '300s' },
    ])
    const first = { ...plain, written: CACHED, nanoUsd: FIRST_NANO_USD, namesMark: false }
    expect(await ask()).toEqual(first)
    expect(google.seen.at(-1)?.body).toMatchObject({
      cachedContent: expect.stringMatching(/^cachedContents\/c\d+$/),
      contents: [{ role: 'user', parts: [{ text: 'When is low tide?' }] }],
    })
    const next = { ...first, read: CACHED, written: 0, nanoUsd: NEXT_NANO_USD }
    expect(await ask()).toEqual(next)
    expect(await ask({ stream: true })).toEqual(next)
    expect(await made()).toHaveLength(1)
    const rows = gateway.generations().slice(-3)
    expect(rows.map((row) => row['cost_nano_usd'])).toEqual([FIRST_NANO_USD, NEXT_NANO_USD, NEXT_NANO_USD])
    expect(rows.map((row) => [row['native_tokens_cached'], row['native_tokens_cache_write']])).toEqual([
      [0, CACHED],
      [CACHED, 0],
      [CACHED, 0],
    ])
  })

  test('is written by a streamed answer too, whose last chunk has the usage', async () => {
    await askTwice({ stream: true })
    expect(await ask({ stream: true })).toMatchObject({ read: 0, written: CACHED, nanoUsd: FIRST_NANO_USD })
  })

  test('is cached once for all concurrent requests, and charged to one of them', async () => {
    await ask()
    await Promise.all(Array.from({ length: 8 }, () => ask()))
    expect(await made()).toHaveLength(1)
    const replies = await Promise.all(Array.from({ length: 8 }, (_, i) => ask({ stream: i % 2 === 0 })))
    const costs = replies.map(({ nanoUsd }) => nanoUsd).sort((a, b) => b - a)
    expect(costs).toEqual([FIRST_NANO_USD, ...Array<number>(7).fill(NEXT_NANO_USD)])
    expect(await made()).toHaveLength(1)
  })

  test('is cached again after its five minutes if requests still have it', async () => {
    await askTwice()
    expect(await ask()).toMatchObject({ written: CACHED })
    state.now += 4 * MINUTE_MS
    expect(await ask()).toMatchObject({ read: CACHED })
    state.now += MINUTE_MS - 10_000
    expect(await ask()).toMatchObject({ read: 0, written: 0, namesMark: true })
    expect(await made()).toHaveLength(2)
    expect(await ask()).toMatchObject({ written: CACHED })
  })

  test.each<[string, () => Response]>([
    ['Google lost it', () => refusal(403, 'CachedContent not found (or permission denied)')],
    ['it has expired', () => refusal(400, 'Cache content 7016131366404227072 is expired.')],
    ['Google gives no reason', () => refusal(400, 'Request contains an invalid argument.')],
    ['Google does not know it', () => refusal(404, 'Not found: cached content metadata for 12.')],
  ])('is sent in full if %s', async (_, reply) => {
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
    // The cache is not used again soon: each refusal would cost a second request.
    for (let i = 0; i < 3; i++) expect(await ask()).toMatchObject({ status: 200, namesMark: true })
    expect(await made()).toHaveLength(1)
    expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'stop' })
  })

  test('stays cached if the request itself is invalid, and fails without the cache too', async () => {
    await askTwice()
    await ask()
    google.answer = () => refusal(400, 'Invalid JSON schema')
    const messages = [
      { role: 'system', content: [marked(state.system)] },
      { role: 'user', content: 'When is low tide?' },
    ]
    expect((await gateway.call('/chat/completions', { model: 'lab', messages })).status).toBe(400)
    google.answer = undefined
    expect(await ask()).toMatchObject({ read: CACHED })
  })

  test('is sent in full in the second attempt of a request whose first one failed with the cache', async () => {
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
    expect(await ask()).toMatchObject({ read: CACHED })
  })

  test('does not count against the provider if its cache is refused: other requests are answered', async () => {
    google.answer = () => refusal(403, 'CachedContent not found (or permission denied)')
    const ours = state.system
    for (let i = 0; i < 30; i++) {
      // Refused with a cache, and answered without.
      state.system = `${i} ${ours}`
      google.answer = undefined
      await askTwice()
      google.answer = () => {
        google.answer = undefined
        return refusal(403, 'CachedContent not found (or permission denied)')
      }
      expect(await ask()).toMatchObject({ status: 200 })
      state.now += 6 * MINUTE_MS
    }
    google.answer = undefined
    const messages = [{ role: 'user', content: 'When is low tide?' }]
    expect(await ask({ messages })).toMatchObject({ status: 200 })
  })

  test.each(['messages', 'responses'])('is cached for POST /%s too', async (api) => {
    const bodies: Record<string, object> = {
      messages: {
        model: 'lab',
        max_tokens: 100,
        system: [marked(state.system)],
        messages: [{ role: 'user', content: 'When is low tide?' }],
      },
      responses: {
        model: 'lab',
        input: [
          { role: 'system', content: [{ ...marked(state.system), type: 'input_text' }] },
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
      expect(first).toMatchObject({ cache_creation_input_tokens: CACHED, cache_read_input_tokens: 0 })
      expect(next).toMatchObject({ cache_creation_input_tokens: 0, cache_read_input_tokens: CACHED })
    } else {
      expect(first).toMatchObject({ input_tokens_details: { cached_tokens: 0, cache_write_tokens: CACHED } })
      expect(next).toMatchObject({ input_tokens_details: { cached_tokens: CACHED, cache_write_tokens: 0 } })
    }
    const costs = gateway.generations().slice(-2)
    expect(costs.map((row) => row['cost_nano_usd'])).toEqual([FIRST_NANO_USD, NEXT_NANO_USD])
  })

  test('is everything before the last question if the body is marked', async () => {
    const messages = [
      { role: 'system', content: state.system },
      { role: 'user', content: 'When is low tide?' },
    ]
    const more = { cache_control: { type: 'ephemeral' } }
    await askTwice({ messages, more })
    expect(await ask({ messages, more })).toMatchObject({ written: CACHED, namesMark: false })
  })

  test('has tools and their choice with the system message', async () => {
    const cache_control = { type: 'ephemeral' }
    const tools = [{ type: 'function', function: { name: 'tide', description: 'Tells.' }, cache_control }]
    const messages = [
      { role: 'system', content: state.system },
      { role: 'user', content: 'Now?' },
    ]
    const asked = { messages, more: { tools, tool_choice: 'required' } }
    expect(await askTwice(asked)).toEqual([
      {
        model: 'models/gemini-3-tides',
        systemInstruction: { parts: [{ text: state.system }] },
        tools: [{ functionDeclarations: [{ name: 'tide', description: 'Tells.' }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY' } },
        ttl: '300s',
      },
    ])
    expect(await ask(asked)).toMatchObject({ written: CACHED })
  })

  test.each(['the whole body', 'the last message', 'system and the last two messages'])(
    'of a conversation with marks on %s writes at most twice the longest prompt, and reads the rest',
    async (pattern) => {
      const asked = (count: number): Asked => {
        const onLast = (index: number) =>
          pattern === 'the last message'
            ? index === count
            : pattern !== 'the whole body' && index >= count - 1
        const questions = Array.from({ length: count + 1 }, (_, i) => {
          const words = `Question ${i}. ${state.system.slice(0, 1_000)}`
          return [
            { role: 'user', content: onLast(i) ? [marked(words)] : words },
            ...(i === count ? [] : [{ role: 'assistant', content: 'Low.' }]),
          ]
        })
        const first = pattern.startsWith('system') ? [marked(state.system)] : state.system
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
      expect(written).toBeGreaterThan(CACHED)
      expect(written).toBeLessThan(2 * longest)
      // Except for the first two, a part of each was cached.
      expect(seen.map(({ read, written }) => read + written > 0).slice(2)).toEqual(
        Array<boolean>(22).fill(true),
      )
    },
  )
})
