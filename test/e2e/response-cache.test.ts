import { describe, expect, test } from 'bun:test'
import { startGateway } from '../gateway.ts'
import { type Answer, chunk, DONE, frames, paced, streamed, unary } from '../upstream.ts'

import { cacheHeaders, ON, replyOf, startForResponseCache } from './response-cache-setup.ts'

/** The response cache: when an answer is cached, for how long, and what the records say of a hit. */

const { clock, lines, upstream, gateway, ask, numbered, lastRow } = await startForResponseCache()

describe('a hit', () => {
  test('is the same answer under an id of its own, at no cost', async () => {
    const miss = await ask()
    const first = await replyOf(miss)
    expect(first.cache).toEqual(['MISS', null, '300', null])
    expect(lastRow()).toMatchObject({ cost_nano_usd: 10_020_000, response_cache_source_id: null })
    clock.now += 12_400
    const before = gateway.generations().length
    const response = await ask({ ...ON, 'x-service-metadata': 'enabled' })
    const { reply, text, cache } = await replyOf(response)
    expect(upstream.seen.length).toBe(1)
    expect(text).toBe('Answer 1')
    expect(cache).toEqual(['HIT', '12', '288', miss.headers.get('x-generation-id')])
    expect(reply['id']).toBe(response.headers.get('x-generation-id'))
    expect(reply['id']).not.toBe(first.reply['id'])
    expect(reply['created']).toBe(Math.floor(clock.now / 1000))
    expect(reply).not.toHaveProperty('service_metadata')
    expect(reply['usage']).toMatchObject({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      cost: 0,
      cost_details: { upstream_inference_prompt_cost: 0, upstream_inference_completions_cost: 0 },
    })
    expect(gateway.generations().length).toBe(before + 1)
    expect(lastRow()).toMatchObject({
      id: reply['id'],
      response_cache_source_id: first.reply['id'],
      model: 'tiny',
      provider_name: 'Lab',
      finish_reason: 'stop',
      cancelled: 0,
      is_byok: 0,
      cost_nano_usd: 0,
      tokens_prompt: 0,
      tokens_completion: 0,
      usage_source: 'none',
      estimated: 0,
      upstream_id: null,
      latency_ms: 0,
      provider_responses: '[]',
    })
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })

  test('is in GET /generation, in the activity and in the log', async () => {
    const source = (await replyOf(await ask())).reply['id']
    const requests = async () => {
      const day = new Date(clock.now).toISOString().slice(0, 10)
      const { data } = await (await gateway.manage('GET', `/activity?date=${day}`)).json()
      return data.reduce(
        (sum: { requests: number; usage: number }, row: { requests: number; usage: number }) => ({
          requests: sum.requests + row.requests,
          usage: sum.usage + row.usage,
        }),
        { requests: 0, usage: 0 },
      )
    }
    const before = await requests()
    const id = (await replyOf(await ask())).reply['id']
    const { data } = await (await gateway.call(`/generation?id=${id}`)).json()
    expect(data).toMatchObject({
      id,
      response_cache_source_id: source,
      total_cost: 0,
      usage: 0,
      model: 'tiny',
    })
    expect(await requests()).toEqual({ ...before, requests: before.requests + 1 })
    expect(lines.find((line) => line['generation_id'] === id)).toMatchObject({
      cached_from: source,
      cost_usd: 0,
    })
    expect(lines.find((line) => line['generation_id'] === source)).not.toHaveProperty('cached_from')
  })

  test('is served to a key without remaining budget, at no cost', async () => {
    const { key } = await gateway.makeKey({ limit: 0.012 })
    const own = { ...ON, authorization: `Bearer ${key}` }
    expect((await replyOf(await ask(own, { max_tokens: 5 }))).cache[0]).toBe('MISS')
    expect((await ask({ authorization: `Bearer ${key}` }, { max_tokens: 5 })).status).toBe(402)
    const hit = await ask(own, { max_tokens: 5 })
    expect([hit.status, (await replyOf(hit)).cache[0]]).toEqual([200, 'HIT'])
  })

  test('is served while the provider is down', async () => {
    await (await ask()).text()
    upstream.on('tiny', () => Response.json({ error: { message: 'down' } }, { status: 500 }))
    for (let count = 0; count < 30; count++) await ask({})
    expect((await ask({})).status).toBe(503)
    expect((await replyOf(await ask())).text).toBe('Answer 1')
    clock.now += 60_000
  })

  test('is not served to a disabled key', async () => {
    const { key, hash } = await gateway.makeKey({})
    await (await ask()).text()
    await gateway.manage('PATCH', `/keys/${hash}`, { disabled: true })
    expect((await ask({ ...ON, authorization: `Bearer ${key}` })).status).toBe(401)
  })
})

describe('a cache that is off', () => {
  test('stores nothing, serves nothing and sends no headers', async () => {
    const off: Record<string, string>[] = [{}, { 'x-openrouter-cache': 'false' }]
    for (const headers of off) {
      for (let count = 0; count < 2; count++)
        expect((await replyOf(await ask(headers))).cache).toEqual([null, null, null, null])
    }
    expect(upstream.seen.length).toBe(4)
    expect((await replyOf(await ask())).cache[0]).toBe('MISS')
    expect((await replyOf(await ask({}))).text).toBe('Answer 6')
  })

  test('is off for all workspaces if its setting is 0', async () => {
    const other = await startGateway({
      providers: [
        { slug: 'lab', base_url: upstream.baseUrl, models: [{ id: 'tiny', pricing: { prompt: '0' } }] },
      ],
      environment: { SLUICE_RESPONSE_CACHE_MB: '0' },
    })
    const body = { model: 'tiny', messages: [{ role: 'user', content: 'Hi' }] }
    for (let count = 0; count < 2; count++) {
      const reply = await other.call('/chat/completions', body, ON)
      expect(cacheHeaders(reply)).toEqual([null, null, null, null])
    }
    expect(upstream.seen.length).toBe(2)
    await other.stop()
  })
})

describe('the lifetime of an answer', () => {
  test('is the one of the request, to the second', async () => {
    await (await ask({ ...ON, 'x-openrouter-cache-ttl': '60' })).text()
    clock.now += 59_999
    expect((await replyOf(await ask())).cache.slice(0, 3)).toEqual(['HIT', '59', '1'])
    clock.now += 1
    expect((await replyOf(await ask())).cache).toEqual(['MISS', null, '300', null])
  })

  test('is the one of the workspace, which turns the cache on, and off for the next request', async () => {
    const set = (fields: object) => gateway.manage('PATCH', '/workspaces/default', fields)
    await set({ response_cache_enabled: true, response_cache_ttl_seconds: 30 })
    expect((await replyOf(await ask({}))).cache).toEqual(['MISS', null, '30', null])
    expect((await replyOf(await ask({}))).cache[0]).toBe('HIT')
    expect((await replyOf(await ask({ 'x-openrouter-cache': 'false' }))).text).toBe('Answer 2')
    await set({ response_cache_enabled: false, response_cache_ttl_seconds: 300 })
    expect((await replyOf(await ask({}))).text).toBe('Answer 3')
  })

  test('ends when a request refreshes it', async () => {
    await (await ask()).text()
    const { text, cache } = await replyOf(await ask({ ...ON, 'x-openrouter-cache-clear': 'true' }))
    expect([text, cache[0]]).toEqual(['Answer 2', 'MISS'])
    expect((await replyOf(await ask())).text).toBe('Answer 2')
  })
})

describe('an answer that is not cached', () => {
  const finish = (reason: string): Answer => unary('Half', { choices: [choiceOf(reason)] })
  const choiceOf = (finish_reason: string) => ({
    index: 0,
    message: { role: 'assistant', content: 'Half' },
    finish_reason,
  })
  const rows: [what: string, answer: Answer, more?: object][] = [
    ['an answer that was blocked', finish('content_filter')],
    ['an answer that says nothing', unary('')],
    ['a refusal of the provider', () => Response.json({ error: { message: 'no' } }, { status: 400 })],
    [
      'an answer that breaks off',
      () => paced(frames(['Half', ' of']).slice(0, 2), 'error'),
      { stream: true },
    ],
    ['an answer without an end', () => paced(frames(['Half']).slice(0, 2), 'close'), { stream: true }],
    [
      'an answer that ends in an error',
      () => paced([chunk({ content: 'Half' }), 'data: {"error":{"message":"broke"}}\n\n', DONE]),
      { stream: true },
    ],
    [
      'one choice of two that was blocked',
      unary('', { choices: [choiceOf('stop'), { ...choiceOf('content_filter'), index: 1 }] }),
    ],
    ['an answer of more than a sixteenth of all', unary('x'.repeat(4_000_000))],
  ]
  for (const [what, answer, more] of rows) {
    test(what, async () => {
      upstream.on('tiny', answer)
      await (await ask(ON, more)).text()
      upstream.on('tiny', numbered)
      const again = await ask(ON, more)
      expect(again.headers.get('x-openrouter-cache-status')).toBe('MISS')
      expect(await again.text()).toContain('Answer')
    })
  }

  for (const reason of ['stop', 'length', 'tool_calls']) {
    test(`but one that ends with ${reason} is`, async () => {
      upstream.on('tiny', finish(reason))
      await (await ask()).text()
      expect((await replyOf(await ask())).cache[0]).toBe('HIT')
    })
  }

  test('is one that the remaining budget of the caller shortened', async () => {
    const { key } = await gateway.makeKey({ limit: 0.02 })
    upstream.on('tiny', finish('length'))
    const poor = await ask({ ...ON, authorization: `Bearer ${key}` })
    expect(poor.status).toBe(200)
    await poor.text()
    expect(
      upstream.seen[0]?.body['max_tokens'] ?? upstream.seen[0]?.body['max_completion_tokens'],
    ).toBeNumber()
    expect((await replyOf(await ask())).cache[0]).toBe('MISS')
  })
})

describe('a client disconnect', () => {
  async function disconnect(response: Response): Promise<void> {
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    while (gateway.deps.run.running.count() > 0) await Bun.sleep(2)
  }

  test('within a new answer caches nothing', async () => {
    upstream.on('tiny', () => paced(frames(['Half', ' of', ' it']).slice(0, 3), 'hang'))
    await disconnect(await ask(ON, { stream: true }))
    expect(lastRow()).toMatchObject({ cancelled: 1 })
    upstream.on('tiny', numbered)
    expect((await replyOf(await ask())).cache[0]).toBe('MISS')
  })

  test('within a cache hit makes one row, which costs nothing', async () => {
    upstream.on('tiny', streamed(Array.from({ length: 50 }, () => 'word '.repeat(1000))))
    await (await ask(ON, { stream: true })).text()
    const before = gateway.generations().length
    await disconnect(await ask(ON, { stream: true }))
    expect(gateway.generations().length).toBe(before + 1)
    expect(lastRow()).toMatchObject({ cancelled: 1, cost_nano_usd: 0, tokens_completion: 0 })
    expect(lastRow()['response_cache_source_id']).toBeString()
    const again = await ask(ON, { stream: true })
    expect(again.headers.get('x-openrouter-cache-status')).toBe('HIT')
    expect((await again.text()).length).toBeGreaterThan(250_000)
  })
})

test('concurrent requests are each answered by the provider, and the last answer stays', async () => {
  const both = await Promise.all([ask(), ask()])
  const texts = await Promise.all(both.map(async (response) => (await replyOf(response)).text))
  expect(texts.sort()).toEqual(['Answer 1', 'Answer 2'])
  expect((await replyOf(await ask())).cache[0]).toBe('HIT')
  expect(upstream.seen.length).toBe(2)
})
