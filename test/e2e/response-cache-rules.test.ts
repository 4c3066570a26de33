import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'
import { type Answer, type FakeUpstream, startUpstream, streamed, unary } from '../upstream.ts'

/** Whom a kept answer may be given to, and what else than chat is kept. */

let gateway: Gateway
let upstream: FakeUpstream
/** Who was asked, by the credential that was shown. */
let asked: string[] = []
let turn = 0
const ON = { 'x-openrouter-cache': 'true' }

const PRICES = { prompt: '0.000001', completion: '0.000002' }
const GIVEN = {
  tiny: 'text',
  answers: 'text',
  vec: 'embeddings',
  rank: 'rerank',
  paint: 'image',
  speak: 'speech',
}
const models = Object.entries(GIVEN).map(([id, given]) => ({
  id,
  pricing: PRICES,
  architecture: { output_modalities: [given] },
}))

/** Takes forms, as transcriptions are asked for. */
let heard = 0
const ears = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch() {
    heard += 1
    return Response.json({ text: `Heard ${heard}` })
  },
})

beforeAll(async () => {
  upstream = startUpstream()
  gateway = await startGateway({
    providers: [
      { slug: 'one', base_url: upstream.baseUrl, api_key: 'one', models },
      {
        slug: 'two',
        base_url: upstream.baseUrl,
        api_key: 'two',
        models: [{ ...models[0], pricing: { prompt: '0.001', completion: '0.001' } }],
      },
      {
        slug: 'ears',
        base_url: `http://127.0.0.1:${ears.port}/v1`,
        models: [{ id: 'hear', pricing: PRICES, architecture: { output_modalities: ['transcription'] } }],
      },
    ],
  })
  gateway.deps.run.wait = async () => undefined
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  await ears.stop(true)
})
beforeEach(() => {
  turn += 1
  asked = []
  upstream.on('tiny', named)
})

const named: Answer = (seen, request) => {
  const who = seen.headers.get('authorization')?.replace('Bearer ', '') ?? ''
  asked.push(who)
  return (seen.body['stream'] === true ? streamed(['By ', who]) : unary(`By ${who}`))(seen, request)
}

async function ask(key: string, more: object = {}) {
  const body = {
    model: 'tiny',
    provider: { sort: 'price' },
    messages: [{ role: 'user', content: `Question ${turn}` }],
    ...more,
  }
  const response = await gateway.call('/chat/completions', body, { ...ON, authorization: `Bearer ${key}` })
  const { choices } = await response.json()
  return [response.headers.get('x-openrouter-cache-status'), choices?.[0].message.content]
}
const dataOf = async (response: Response): Promise<Record<string, unknown>> => {
  const body = objectOf(await response.json())
  expect(body).not.toHaveProperty('error')
  return objectOf(body['data'])
}
async function guarded(fields: object) {
  const { key, hash, guardrailId } = await gateway.makeGuardedKey(fields)
  return { key, hash, change: (more: object) => gateway.manage('PATCH', `/guardrails/${guardrailId}`, more) }
}

describe('keys of one workspace', () => {
  test('share their answers', async () => {
    const { key } = await gateway.makeKey({})
    expect(await ask(API_KEY)).toEqual(['MISS', 'By one'])
    expect(await ask(key)).toEqual(['HIT', 'By one'])
  })

  test('of which one may not use the provider: each has its own', async () => {
    const { key } = await guarded({ ignored_providers: ['one'] })
    expect(await ask(API_KEY)).toEqual(['MISS', 'By one'])
    expect(await ask(key)).toEqual(['MISS', 'By two'])
    expect(await ask(key)).toEqual(['HIT', 'By two'])
    expect(await ask(API_KEY)).toEqual(['HIT', 'By one'])
  })

  test('of which one may not use the model: it is told so', async () => {
    const { key } = await guarded({ allowed_models: ['answers'] })
    await ask(API_KEY)
    expect(await ask(key)).toEqual([null, undefined])
  })

  test('with the same rules under two names share, also where a budget differs', async () => {
    const first = await guarded({ ignored_providers: ['one'] })
    const second = await guarded({ ignored_providers: ['one'], limit_usd: 5, reset_interval: 'daily' })
    const free = await guarded({ limit_usd: 5, reset_interval: 'daily' })
    await ask(first.key)
    expect(await ask(second.key)).toEqual(['HIT', 'By two'])
    await ask(API_KEY)
    expect(await ask(free.key)).toEqual(['HIT', 'By one'])
  })

  test('whose rules change have no answers from before', async () => {
    const { key, change } = await guarded({ ignored_models: ['answers'] })
    await ask(key)
    expect((await ask(key))[0]).toBe('HIT')
    await change({ ignored_providers: ['one'] })
    expect(await ask(key)).toEqual(['MISS', 'By two'])
  })

  test('are known by what was really asked: what a filter redacts is the same', async () => {
    const { key } = await guarded({ content_filters: [{ pattern: 'code-[a-z]+', action: 'redact' }] })
    const of = (text: string) => ask(key, { messages: [{ role: 'user', content: text }] })
    expect((await of('My code-abc'))[0]).toBe('MISS')
    expect((await of('My code-xyz'))[0]).toBe('HIT')
    expect((await ask(API_KEY, { messages: [{ role: 'user', content: 'My code-abc' }] }))[0]).toBe('MISS')
  })

  test('of which one wants nothing retained: it keeps nothing, and is told nothing', async () => {
    const { key } = await guarded({ enforce_zdr_anthropic: true })
    await ask(API_KEY)
    expect(await ask(key)).toEqual([null, 'By one'])
    expect(await ask(key)).toEqual([null, 'By one'])
  })
})

test('workspaces never share', async () => {
  const { id } = await dataOf(await gateway.manage('POST', '/workspaces', { name: 'Other', slug: 'other' }))
  const there = await gateway.makeKey({ workspace_id: id })
  expect((await ask(API_KEY))[0]).toBe('MISS')
  expect((await ask(there.key))[0]).toBe('MISS')
  expect((await ask(there.key))[0]).toBe('HIT')
  expect(asked).toEqual(['one', 'one'])
})

test("an answer of the workspace's own provider key is for those who may use it", async () => {
  const { id: workspace } = await dataOf(
    await gateway.manage('POST', '/workspaces', { name: 'Own', slug: 'own' }),
  )
  const first = await gateway.makeKey({ workspace_id: workspace })
  const second = await gateway.makeKey({ workspace_id: workspace })
  const own = await dataOf(
    await gateway.manage('POST', '/byok', {
      provider: 'one',
      key: 'sk-own-0123456789',
      workspace_id: workspace,
      allowed_api_key_hashes: [first.hash],
    }),
  )
  expect(await ask(first.key)).toEqual(['MISS', 'By sk-own-0123456789'])
  expect(await ask(first.key)).toEqual(['HIT', 'By sk-own-0123456789'])
  expect(gateway.generations().at(-1)).toMatchObject({ is_byok: 0, cost_nano_usd: 0 })
  expect(await ask(second.key)).toEqual(['MISS', 'By one'])
  await gateway.manage('DELETE', `/byok/${own['id']}`)
  expect(await ask(first.key)).toEqual(['HIT', 'By one'])
})

test('an answer is not given once its provider is gone', async () => {
  await ask(API_KEY)
  const { snapshot } = gateway.deps
  const current = snapshot.current()
  const without = new Map([...current.providersBySlug].filter(([slug]) => slug !== 'one'))
  snapshot.current = () => ({ ...current, providersBySlug: without })
  expect(await ask(API_KEY)).toEqual(['MISS', 'By two'])
  snapshot.current = () => current
})

describe('responses', () => {
  const respond = async (more: object, headers: Record<string, string> = ON) => {
    const body = { model: 'tiny', input: `Question ${turn}`, ...more }
    const response = await gateway.call('/responses', body, headers)
    return {
      cache: response.headers.get('x-openrouter-cache-status'),
      reply: objectOf(await response.json()),
    }
  }

  test('that are stored are given again, and stored anew under ids of their own', async () => {
    const first = await respond({ store: true, metadata: { of: 'the first' } })
    const second = await respond({ store: true, metadata: { of: 'the second' } })
    const third = await respond({})
    expect([first.cache, second.cache, third.cache]).toEqual(['MISS', 'HIT', 'HIT'])
    expect(second.reply['id']).not.toBe(first.reply['id'])
    expect(second.reply).toMatchObject({ metadata: { of: 'the second' }, store: true })
    expect(third.reply).toMatchObject({ metadata: {}, store: false })
    const status = async ({ reply }: typeof first) => (await gateway.call(`/responses/${reply['id']}`)).status
    expect([await status(first), await status(second), await status(third)]).toEqual([200, 200, 404])
    const next = await respond({ previous_response_id: second.reply['id'], input: 'And then?' })
    expect([next.cache, next.reply['status']]).toEqual([null, 'completed'])
    const sent = upstream.seen.at(-1)?.body['messages']
    expect(Array.isArray(sent) && sent.length).toBe(3)
  })

  test('that run in the background are none of its business', async () => {
    await respond({})
    const { cache, reply } = await respond({ background: true })
    expect([cache, reply['status']]).toEqual([null, 'queued'])
    await gateway.deps.responses.background.find(String(reply['id']))?.ended
    expect(asked.length).toBe(2)
  })
})

test('a request to see what is sent upstream is sent', async () => {
  const echo = { stream: true, debug: { echo_upstream_body: true } }
  const body = { model: 'tiny', messages: [{ role: 'user', content: 'Echo' }], ...echo }
  for (let count = 0; count < 2; count++) {
    const reply = await gateway.call('/chat/completions', body, ON)
    expect(reply.headers.get('x-openrouter-cache-status')).toBeNull()
    expect(await reply.text()).toContain('echo_upstream_body')
  }
  expect(asked.length).toBe(2)
})

describe('beside conversations', () => {
  const post = async (path: string, body: object) => {
    const response = await gateway.call(path, body, ON)
    const { id, usage, ...reply } = objectOf(await response.json())
    return { cache: response.headers.get('x-openrouter-cache-status'), id, usage: objectOf(usage), reply }
  }
  const vector = () =>
    Response.json({
      object: 'list',
      model: 'up',
      data: [{ object: 'embedding', index: 0, embedding: [0.1, -1.25, 3e-9] }],
      usage: { prompt_tokens: 9, total_tokens: 9, prompt_tokens_details: { cached_tokens: 3 } },
      further: { field: true },
    })
  const ranking = () =>
    Response.json({
      id: 'up',
      results: [
        { index: 1, relevance_score: 0.75 },
        { index: 0, relevance_score: 0.25 },
      ],
      meta: { billed_units: { search_units: 1 } },
    })
  const rows: [path: string, model: string, answer: Answer, body: object][] = [
    ['/embeddings', 'vec', vector, { input: 'The tide turns' }],
    ['/embeddings', 'vec', vector, { input: 'The tide turns', encoding_format: 'base64' }],
    ['/rerank', 'rank', ranking, { query: 'tide', documents: ['sand', 'sea'], top_n: 2 }],
  ]
  for (const [path, model, answer, body] of rows) {
    test(`${path} ${JSON.stringify(body)}`, async () => {
      upstream.on(model, answer)
      upstream.seen.length = 0
      const miss = await post(path, { model, ...body })
      const hit = await post(path, { ...body, user: 'ann', model })
      expect([miss.cache, hit.cache, upstream.seen.length]).toEqual(['MISS', 'HIT', 1])
      expect(hit.reply).toEqual(miss.reply)
      expect(hit.id).not.toBe(miss.id)
      const { cost_details, is_byok, ...counted } = hit.usage
      expect(Object.values({ ...counted, ...objectOf(cost_details) }).filter(Boolean)).toEqual([])
      expect(gateway.generations().at(-1)).toMatchObject({
        id: hit.id,
        response_cache_source_id: miss.id,
        cost_nano_usd: 0,
        tokens_prompt: 0,
        model,
      })
    })
  }

  test('the route is part of the question', async () => {
    expect((await post('/embeddings', { model: 'vec', input: 'tide' })).cache).toBe('MISS')
    expect((await post('/embeddings', { model: 'vec', input: ['tide'] })).cache).toBe('MISS')
  })

  const unkept: [path: string, model: string, answer: () => Response, body: object][] = [
    [
      '/images',
      'paint',
      () => Response.json({ created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }] }),
      { prompt: 'A boat' },
    ],
    [
      '/audio/speech',
      'speak',
      () => new Response('sound', { headers: { 'content-type': 'audio/mpeg' } }),
      { input: 'Hello', voice: 'ann' },
    ],
  ]
  for (const [path, model, answer, body] of unkept) {
    test(`${path} is asked for every time`, async () => {
      upstream.on(model, answer)
      upstream.seen.length = 0
      for (let count = 0; count < 2; count++) {
        const response = await gateway.call(path, { model, ...body }, ON)
        await response.arrayBuffer()
        expect([response.status, response.headers.get('x-openrouter-cache-status')]).toEqual([200, null])
      }
      expect(upstream.seen.length).toBe(2)
    })
  }

  test('/audio/transcriptions is asked for every time', async () => {
    const body = { model: 'hear', input_audio: { data: 'UklGRg==', format: 'wav' } }
    for (const text of ['Heard 1', 'Heard 2']) {
      const { cache, reply } = await post('/audio/transcriptions', body)
      expect([cache, reply['text']]).toEqual([null, text])
    }
  })
})
