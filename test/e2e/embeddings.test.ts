import { describe, expect, test } from 'bun:test'
import { API_KEY, startGateway } from '../gateway.ts'
import type { Answer } from '../upstream.ts'
import { answer, startForEmbeddings } from './embeddings-setup.ts'

/** POST /embeddings, called by OpenAI’s own client: vectors, costs and failures. */

const { first, second, gateway, client, lastRow } = await startForEmbeddings()

const base64 = (numbers: number[]): string => Buffer.from(new Float32Array(numbers).buffer).toString('base64')

const only = (slug: string) => ({ provider: { only: [slug] } })

describe('embeddings', () => {
  test('are passed on to the official client, and the row has the exact cost', async () => {
    const before = gateway.generations().length
    const reply = await client.embeddings.create({ model: 'one/vec', input: 'The tide turns' })
    expect(reply).toMatchObject({
      object: 'list',
      model: 'vec',
      usage: { prompt_tokens: 9, total_tokens: 9 },
    })
    expect(reply.data).toHaveLength(1)
    expect([...(reply.data[0]?.embedding ?? [])].length).toBe(2)
    expect(gateway.generations()).toHaveLength(before + 1)
    // 9 tokens of 130 nano-dollars, or of 200 where the other endpoint answered.
    expect(lastRow()).toMatchObject({
      api_type: 'embeddings',
      finish_reason: 'stop',
      streamed: 0,
      native_tokens_prompt: 9,
      native_tokens_completion: 0,
      usage_source: 'provider',
    })
    expect([1_170, 1_800]).toContain(Number(lastRow()['cost_nano_usd']))
  })

  const formats: [name: string, upstream: unknown, asked: string | undefined, expected: unknown][] = [
    ['numbers as numbers', [0.5, -1.25], undefined, [0.5, -1.25]],
    ['numbers as base64', [0.5, -1.25], 'base64', base64([0.5, -1.25])],
    ['base64 as base64', base64([3, 0.25]), 'base64', base64([3, 0.25])],
    ['base64 as numbers', base64([3, 0.25]), 'float', [3, 0.25]],
  ]
  test.each(formats)(
    'have the format that the caller wants: %s',
    async (_, upstream, encoding_format, expected) => {
      first.on('vec', answer([upstream]))
      const reply = await gateway.call('/embeddings', {
        model: 'vec',
        input: 'a',
        encoding_format,
        ...only('one'),
      })
      expect(reply.status).toBe(200)
      expect((await reply.json()).data).toEqual([{ object: 'embedding', index: 0, embedding: expected }])
    },
  )

  test('come from the body of the caller without the fields of the gateway', async () => {
    first.on('vec', answer([[1], [2]]))
    await gateway.call('/embeddings', {
      model: 'vec',
      input: [[1, 2], [3]],
      dimensions: 512,
      user: 'someone',
      input_type: 'query',
      truncate: 'END',
      session_id: 's',
      trace: { trace_id: 't' },
      dims: null,
      provider: { only: ['one'], options: { one: { modality: 'text' }, two: { other: true } } },
    })
    expect(first.seen[0]).toMatchObject({ path: '/v1/embeddings' })
    expect(first.seen[0]?.headers.get('authorization')).toBe('Bearer secret-of-one')
    expect(first.seen[0]?.body).toEqual({
      model: 'vec',
      input: [[1, 2], [3]],
      dimensions: 512,
      user: 'someone',
      input_type: 'query',
      truncate: 'END',
      modality: 'text',
    })
  })

  test('are in the order of the inputs', async () => {
    first.on('vec', () =>
      Response.json({
        data: [
          { index: 1, embedding: [1] },
          { index: 2, embedding: [2] },
          { index: 0, embedding: [0] },
        ],
        usage: { total_tokens: 3 },
      }),
    )
    const reply = await gateway.call('/embeddings', { model: 'vec', input: ['a', 'b', 'c'], ...only('one') })
    const { data, usage } = await reply.json()
    expect(data.map((entry: { embedding: number[] }) => entry.embedding)).toEqual([[0], [1], [2]])
    expect(usage).toMatchObject({ prompt_tokens: 3, cost: 3.9e-7, is_byok: false })
  })

  test('have estimated, flagged usage and a cost if the provider reports none', async () => {
    first.on('vec', answer([[1]], null))
    const reply = await gateway.call('/embeddings', { model: 'vec', input: 'abcdef', ...only('one') })
    expect((await reply.json()).usage).toMatchObject({ prompt_tokens: 4, cost: 5.2e-7 })
    expect(lastRow()).toMatchObject({ usage_source: 'estimated', estimated: 1, cost_nano_usd: 520 })
  })

  test.each([1e300, -1, '9', null, 9_007_199_254_740_991])(
    '%p tokens are not a count',
    async (prompt_tokens) => {
      first.on('vec', answer([[1]], { prompt_tokens }))
      const reply = await gateway.call('/embeddings', { model: 'vec', input: 'abcdef', ...only('one') })
      expect(reply.status).toBe(200)
      expect(lastRow()).toMatchObject({ usage_source: 'estimated', cost_nano_usd: 520 })
    },
  )

  test('have routing metadata and a generation record', async () => {
    const reply = await gateway.call(
      '/embeddings',
      { model: 'vec', input: 'a', user: 'u-1', ...only('one') },
      { 'x-service-metadata': 'enabled', 'http-referer': 'https://app.example/x', 'x-title': 'App' },
    )
    const body = await reply.json()
    expect(body.service_metadata).toMatchObject({ requested: 'vec', strategy: 'direct', attempt: 1 })
    expect(reply.headers.get('x-generation-id')).toBe(body.id)
    const record = await gateway.call(`/generation?id=${body.id}`)
    expect((await record.json()).data).toMatchObject({
      id: body.id,
      api_type: 'embeddings',
      external_user: 'u-1',
      finish_reason: 'stop',
      provider_name: 'One',
      total_cost: 1.17e-6,
      tokens_prompt: 9,
    })
  })
})

describe('a failed provider', () => {
  const html = () => new Response('<html><title>Bad gateway</title></html>', { status: 200 })
  const cases: [name: string, answer: Answer][] = [
    ['500', () => new Response('{"error":{"message":"boom"}}', { status: 500 })],
    ['429', () => new Response('{"error":{"message":"slow down"}}', { status: 429 })],
    ['401 of our key', () => Response.json({ error: { message: 'bad key' } }, { status: 401 })],
    ['a page of HTML', html],
    ['an empty body', () => new Response('', { status: 200 })],
    ['{}', () => Response.json({})],
    ['no data', () => Response.json({ data: [] })],
    ['one vector too few', answer([])],
    ['a vector of text', answer([['a']])],
    ['invalid base64', answer(['&&&'])],
    ['an error object', () => Response.json({ error: { message: 'overloaded', type: 'overloaded_error' } })],
    ['truncated JSON', () => new Response('{"data":[{"embedding":[0.1,', { status: 200 })],
  ]
  test.each(cases)('(%s) is replaced by another endpoint, at its own price', async (_, failing) => {
    first.on('vec', failing)
    const fresh = await startGateway({
      providers: [
        {
          slug: 'one',
          base_url: first.baseUrl,
          models: [{ id: 'vec', pricing: { prompt: '0.00000013', completion: '0' } }],
        },
        {
          slug: 'two',
          base_url: second.baseUrl,
          models: [{ id: 'vec', pricing: { prompt: '0.0000002', completion: '0' } }],
        },
      ],
    })
    const reply = await fresh.call('/embeddings', {
      model: 'vec',
      input: 'a',
      provider: { order: ['one', 'two'] },
    })
    expect(reply.status).toBe(200)
    expect((await reply.json()).data[0].embedding).toEqual([2, 4])
    expect(fresh.generations()).toHaveLength(1)
    expect(fresh.generations()[0]).toMatchObject({ provider_slug: 'two', cost_nano_usd: 1_800 })
    expect(first.seen.length).toBeGreaterThan(0)
    await fresh.stop()
  })

  const statuses: [upstream: number, body: unknown, status: number, message: string][] = [
    [400, { error: { message: 'dimensions is too large', code: 'bad_dim' } }, 400, 'dimensions is too large'],
    [400, { detail: 'Model nonexistent is not supported.' }, 400, 'Model nonexistent is not supported.'],
    [422, { message: 'texts: too many' }, 422, 'texts: too many'],
    [413, { error: { message: 'too much' } }, 413, 'too much'],
  ]
  test.each(statuses)(
    'that answers %d %j has its reason passed on',
    async (upstream, body, status, message) => {
      first.on('vec', () => Response.json(body, { status: upstream }))
      const reply = await gateway.call('/embeddings', { model: 'vec', input: 'a', ...only('one') })
      expect(reply.status).toBe(status)
      expect((await reply.json()).error).toMatchObject({ code: status, message })
      expect(lastRow()).toMatchObject({ cost_nano_usd: 0, finish_reason: 'error', usage_source: 'none' })
    },
  )

  test('that rejects the credential is a 502 without the words of the provider', async () => {
    first.on('vec', () => Response.json({ error: { message: 'key secret-of-one' } }, { status: 403 }))
    const reply = await gateway.call('/embeddings', { model: 'vec', input: 'a', ...only('one') })
    expect(reply.status).toBe(502)
    expect(await reply.text()).not.toContain('secret-of-one')
  })
})

describe('a call without an answer', () => {
  test('is a 524 after the time limit, and costs nothing', async () => {
    first.on('vec', () => new Promise<Response>(() => undefined))
    const hasty = await startGateway({
      providers: [
        {
          slug: 'one',
          base_url: first.baseUrl,
          timeouts: { first_byte_ms: 50 },
          models: [{ id: 'vec', pricing: { prompt: '0.00000013', completion: '0' } }],
        },
      ],
    })
    const reply = await hasty.call('/embeddings', { model: 'vec', input: 'a' })
    expect({ status: reply.status, body: await reply.json() }).toMatchObject({
      status: 524,
      body: { error: { metadata: { error_type: 'timeout' } } },
    })
    expect(hasty.generations()).toMatchObject([{ cost_nano_usd: 0, finish_reason: 'error' }])
    await hasty.stop()
  })

  test('is charged for the prompt, flagged, if the client disconnects, and nothing stays reserved', async () => {
    const { promise: entered, resolve } = Promise.withResolvers<void>()
    first.on('vec', () => {
      resolve()
      return new Promise<Response>(() => undefined)
    })
    const own = await startGateway({
      listens: true,
      providers: [
        {
          slug: 'one',
          base_url: first.baseUrl,
          models: [{ id: 'vec', pricing: { prompt: '0.00000013', completion: '0' } }],
        },
      ],
    })
    const abort = new AbortController()
    const reply = fetch(`${own.url}/api/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'vec', input: 'abcdef' }),
      signal: abort.signal,
    }).catch(() => null)
    await entered
    abort.abort()
    expect(await reply).toBeNull()
    await own.deps.run.running.drain(2_000)
    expect(own.generations()).toMatchObject([
      { cancelled: 1, finish_reason: 'error', usage_source: 'estimated', cost_nano_usd: 520 },
    ])
    expect(own.deps.ledger.heldNanoUsd()).toBe(0)
    await own.stop()
  })
})

describe('a key', () => {
  test('with a limit below the estimate is rejected before a provider is called', async () => {
    const { key } = await gateway.makeKey({ limit: 0.000001 })
    const headers = { authorization: `Bearer ${key}` }
    const reply = await gateway.call(
      '/embeddings',
      { model: 'vec', input: 'long '.repeat(1_000), ...only('one') },
      headers,
    )
    expect(reply.status).toBe(402)
    expect(first.seen).toHaveLength(0)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
})
