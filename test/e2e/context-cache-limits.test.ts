import { describe, expect, test } from 'bun:test'
import { startGateway } from '../gateway.ts'
import {
  type Asked,
  CACHED,
  FIRST_NANO_USD,
  MINUTE_MS,
  marked,
  NEXT_NANO_USD,
  PRICES,
  startForContextCache,
} from './context-cache-setup.ts'
import { refusal } from './fake-google.ts'

/** When `cache_control` before Gemini makes no cache, and what a cache costs a request. */

const { google, gateway, state, ask, made, askTwice } = await startForContextCache()

describe('no prefix is cached', () => {
  const never = async (asked: Asked = {}) => {
    for (let i = 0; i < 4; i++) expect(await ask(asked)).toMatchObject({ status: 200, read: 0, written: 0 })
    expect(await made()).toEqual([])
  }

  test('if writing has no price: the mark is named in the metadata', async () => {
    await never({ model: 'plain' })
    expect(await ask({ model: 'plain' })).toMatchObject({ namesMark: true })
  })

  test('if the prompt is short', () =>
    never({
      messages: [
        { role: 'system', content: [marked('Be brief.')] },
        { role: 'user', content: 'Now?' },
      ],
    }))

  test('without a mark', () =>
    never({
      messages: [
        { role: 'system', content: state.system },
        { role: 'user', content: 'Now?' },
      ],
    }))

  test('for a key that forbids retention', async () => {
    const { key } = await gateway.makeGuardedKey({ enforce_zdr_anthropic: true })
    await never({ key })
  })

  test('across workspaces: each one has its own cache', async () => {
    const reply = await gateway.manage('POST', '/workspaces', {
      name: 'Other',
      slug: `other-${state.number}`,
    })
    const { key } = await gateway.makeKey({ workspace_id: (await reply.json()).data.id })
    await askTwice()
    expect(await ask({ key })).toMatchObject({ read: 0, written: 0, namesMark: true })
    expect(await ask({ key })).toMatchObject({ read: 0, written: 0 })
    expect(await made()).toHaveLength(2)
    expect(await ask({ key })).toMatchObject({ read: 0, written: CACHED })
    expect(await ask()).toMatchObject({ read: 0, written: CACHED })
  })

  test.each([
    ['refuses', () => refusal(429, 'TotalCachedContentStorageTokensPerModelFreeTier limit exceeded')],
    ['does not know how', () => refusal(404, 'not found')],
    ['fails', () => refusal(503, 'overloaded')],
    ['answers nonsense', () => new Response('<html>', { status: 200 })],
  ])('if Google %s: requests are answered, and the next try is after five minutes', async (_, reply) => {
    google.refuse = reply
    for (let i = 0; i < 5; i++) {
      expect(await ask()).toMatchObject({ status: 200, read: 0, written: 0, namesMark: true })
      expect(await made()).toHaveLength(i === 0 ? 0 : 1)
    }
    google.refuse = undefined
    state.now += 4 * MINUTE_MS
    expect(await ask()).toMatchObject({ written: 0 })
    state.now += MINUTE_MS
    expect(await ask()).toMatchObject({ written: 0 })
    expect(await made()).toHaveLength(2)
    expect(await ask()).toMatchObject({ written: CACHED, namesMark: false })
  })

  test("while Google's automatic cache has it", async () => {
    const chunk = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Low.' }] }, index: 0, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 2_005, cachedContentTokenCount: 1_990, candidatesTokenCount: 2 },
    }
    google.answer = () => Response.json(chunk)
    for (let i = 0; i < 4; i++) expect(await ask()).toMatchObject({ status: 200, read: 1_990 })
    expect(await made()).toEqual([])
  })
})

describe('the creation of a cache', () => {
  test('takes no place of a request, even if it takes long', async () => {
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
        { role: 'system', content: [marked(state.system)] },
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

describe('the cost of a cache', () => {
  test('is charged to the next request if the first answer with it failed', async () => {
    await askTwice()
    const failing = {
      content: { role: 'model', parts: [] },
      index: 0,
      finishReason: 'MALFORMED_FUNCTION_CALL',
    }
    google.answer = () =>
      Response.json({
        candidates: [failing],
        usageMetadata: { promptTokenCount: 2_005, cachedContentTokenCount: CACHED, totalTokenCount: 2_005 },
      })
    const response = await gateway.call('/chat/completions', {
      model: 'lab',
      messages: [
        { role: 'system', content: [marked(state.system)] },
        { role: 'user', content: 'When is low tide?' },
      ],
    })
    const failed = gateway.generations().at(-1)
    google.answer = undefined
    expect(failed).toMatchObject({ cost_nano_usd: 0 })
    expect(response.status).toBe(502)
    expect(await ask()).toMatchObject({ read: 0, written: CACHED, nanoUsd: FIRST_NANO_USD })
    expect(await ask()).toMatchObject({ read: CACHED, written: 0, nanoUsd: NEXT_NANO_USD })
    expect(await made()).toHaveLength(1)
  })
})

test.each<[what: string, isPlain: boolean, more: object, status: number]>([
  ['may be cached', false, {}, 402],
  ['must not be retained', false, { provider: { data_collection: 'deny' } }, 200],
  ['is not marked', true, {}, 200],
])('a limit covers the price of writing: a prompt that %s', async (_, isPlain, more, status) => {
  // Some 2,700 tokens by our estimate: at 0.0000014 they are beyond it, at 0.000001 they are not.
  const { key } = await gateway.makeKey({ limit: 0.0035 })
  const messages = [
    { role: 'system', content: isPlain ? state.system : [marked(state.system)] },
    { role: 'user', content: 'When is low tide?' },
  ]
  const body = { model: 'lab', messages, max_tokens: 100, ...more }
  const response = await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })
  expect(response.status).toBe(status)
})

test('SLUICE_CONTEXT_CACHE=off makes no cache, and reserves nothing for one', async () => {
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
      { role: 'system', content: [marked(state.system)] },
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
