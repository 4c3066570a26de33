import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'
import { type Answer, type FakeUpstream, startUpstream } from '../upstream.ts'

/** POST /embeddings and POST /rerank, called as their clients call them, with real providers' shapes behind. */

let first: FakeUpstream
let second: FakeUpstream
let gateway: Gateway
let client: OpenAI

const vectors = { architecture: { output_modalities: ['embeddings'] } }
const ranking = { architecture: { output_modalities: ['rerank'] } }

beforeAll(async () => {
  first = startUpstream()
  second = startUpstream()
  gateway = await startGateway({
    listens: true,
    providers: [
      {
        slug: 'one',
        name: 'One',
        base_url: first.baseUrl,
        api_key: 'secret-of-one',
        models: [
          { id: 'vec', ...vectors, pricing: { prompt: '0.00000013', completion: '0' } },
          { id: 'vec-free', pricing: { prompt: '0', completion: '0' } },
          { id: 'vec-unpriced', ...vectors },
          { id: 'rank', ...ranking, pricing: { request: '0.002' } },
          { id: 'rank-tokens', ...ranking, pricing: { prompt: '0.00000005' } },
          { id: 'talk', architecture: { output_modalities: ['text'] }, pricing: { prompt: '0.000001' } },
        ],
      },
      {
        slug: 'two',
        name: 'Two',
        base_url: second.baseUrl,
        models: [{ id: 'vec', ...vectors, pricing: { prompt: '0.0000002', completion: '0' } }],
      },
    ],
  })
  client = new OpenAI({ baseURL: `${gateway.url}/api/v1`, apiKey: API_KEY, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.stop()
  await first.stop()
  await second.stop()
})
beforeEach(() => {
  first.seen.length = 0
  second.seen.length = 0
  first.on('vec', answer([[0.5, -1.25]]))
  second.on('vec', answer([[2, 4]]))
})

const base64 = (numbers: number[]): string => Buffer.from(new Float32Array(numbers).buffer).toString('base64')
const answer =
  (embeddings: unknown[], usage: unknown = { prompt_tokens: 9, total_tokens: 9 }, more = {}): Answer =>
  () =>
    Response.json({
      object: 'list',
      model: 'upstream-name',
      data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      usage,
      ...more,
    })

const lastRow = () => gateway.generations().at(-1) ?? {}
const only = (slug: string) => ({ provider: { only: [slug] } })

describe('embeddings', () => {
  test('the official client gets its vectors, and the row has the exact cost', async () => {
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
  test.each(formats)('%s', async (_, upstream, encoding_format, expected) => {
    first.on('vec', answer([upstream]))
    const reply = await gateway.call('/embeddings', {
      model: 'vec',
      input: 'a',
      encoding_format,
      ...only('one'),
    })
    expect(reply.status).toBe(200)
    expect((await reply.json()).data).toEqual([{ object: 'embedding', index: 0, embedding: expected }])
  })

  test('the body goes on as it came, without what is the gateway’s', async () => {
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

  test('vectors stand in the order of the inputs', async () => {
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

  test('usage that is not told is estimated, flagged and not free', async () => {
    first.on('vec', answer([[1]], null))
    const reply = await gateway.call('/embeddings', { model: 'vec', input: 'abcdef', ...only('one') })
    expect((await reply.json()).usage).toMatchObject({ prompt_tokens: 4, cost: 5.2e-7 })
    expect(lastRow()).toMatchObject({ usage_source: 'estimated', estimated: 1, cost_nano_usd: 520 })
  })

  test.each([1e300, -1, '9', null, 9_007_199_254_740_991])(
    '%p tokens are no count',
    async (prompt_tokens) => {
      first.on('vec', answer([[1]], { prompt_tokens }))
      const reply = await gateway.call('/embeddings', { model: 'vec', input: 'abcdef', ...only('one') })
      expect(reply.status).toBe(200)
      expect(lastRow()).toMatchObject({ usage_source: 'estimated', cost_nano_usd: 520 })
    },
  )

  test('routing metadata and the generation record', async () => {
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

describe('when the provider fails', () => {
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
    ['base64 that is none', answer(['&&&'])],
    ['an error object', () => Response.json({ error: { message: 'overloaded', type: 'overloaded_error' } })],
    ['JSON that is cut off', () => new Response('{"data":[{"embedding":[0.1,', { status: 200 })],
  ]
  test.each(cases)('%s: another endpoint answers, at its own price', async (_, failing) => {
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
  test.each(statuses)('%d %j of the request keeps its reason', async (upstream, body, status, message) => {
    first.on('vec', () => Response.json(body, { status: upstream }))
    const reply = await gateway.call('/embeddings', { model: 'vec', input: 'a', ...only('one') })
    expect(reply.status).toBe(status)
    expect((await reply.json()).error).toMatchObject({ code: status, message })
    expect(lastRow()).toMatchObject({ cost_nano_usd: 0, finish_reason: 'error', usage_source: 'none' })
  })

  test('a refused credential is a 502 that does not repeat the provider', async () => {
    first.on('vec', () => Response.json({ error: { message: 'key secret-of-one' } }, { status: 403 }))
    const reply = await gateway.call('/embeddings', { model: 'vec', input: 'a', ...only('one') })
    expect(reply.status).toBe(502)
    expect(await reply.text()).not.toContain('secret-of-one')
  })
})

describe('when nobody answers', () => {
  test('the provider hangs: 524 in its time, and nothing is charged', async () => {
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

  test('the caller leaves: the prompt is charged, flagged, and nothing stays held', async () => {
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

describe('the budget holds', () => {
  test('a key whose limit is below the estimate is refused before anything is sent', async () => {
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

describe('rerank', () => {
  const results = (...scores: number[]) =>
    scores.map((relevance_score, index) => ({ index, relevance_score }))
  const ask = (body: object) => gateway.call('/rerank', { model: 'rank', query: 'tide', ...body })
  const documents = ['low', { text: 'high', id: 7 }, 'middle']

  const shapes: [name: string, model: string, reply: unknown, usage: object, costNanoUsd: number][] = [
    [
      'Cohere',
      'rank',
      { id: 'r', results: results(0.1, 0.9, 0.5), meta: { billed_units: { search_units: 2 } } },
      { search_units: 2, total_tokens: 0, cost: 0.004 },
      4_000_000,
    ],
    [
      'Jina',
      'rank-tokens',
      { results: results(0.1, 0.9, 0.5), usage: { total_tokens: 30 } },
      { total_tokens: 30, cost: 1.5e-6 },
      1_500,
    ],
    [
      'Voyage',
      'rank-tokens',
      { object: 'list', data: results(0.1, 0.9, 0.5), usage: { total_tokens: 31 } },
      { total_tokens: 31, cost: 1.55e-6 },
      1_550,
    ],
    [
      'Together',
      'rank-tokens',
      { id: 't', results: results(0.1, 0.9, 0.5), usage: { prompt_tokens: 12, total_tokens: 12 } },
      { total_tokens: 12, cost: 6e-7 },
      600,
    ],
    [
      'SiliconFlow',
      'rank-tokens',
      { results: results(0.1, 0.9, 0.5), meta: { tokens: { input_tokens: 20, output_tokens: 0 } } },
      { total_tokens: 20, cost: 1e-6 },
      1_000,
    ],
    [
      'a bare list',
      'rank',
      [
        { index: 1, score: 0.9 },
        { index: 2, score: 0.5 },
        { index: 0, score: 0.1 },
      ],
      { cost: 0.002 },
      2_000_000,
    ],
  ]
  test.each(shapes)('%s', async (_, model, upstream, usage, costNanoUsd) => {
    first.on(model, () => Response.json(upstream))
    const reply = await gateway.call('/rerank', { model, query: 'tide', documents, top_n: 2 })
    expect(reply.status).toBe(200)
    const body = await reply.json()
    expect(body).toMatchObject({ model, provider: 'One', usage })
    expect(body.results).toEqual([
      { index: 1, relevance_score: 0.9, document: { text: 'high', id: 7 } },
      { index: 2, relevance_score: 0.5, document: { text: 'middle' } },
    ])
    expect(first.seen.at(-1)).toMatchObject({
      path: '/v1/rerank',
      body: { query: 'tide', documents, top_n: 2 },
    })
    expect(lastRow()).toMatchObject({ api_type: 'rerank', cost_nano_usd: costNanoUsd, id: body.id })
  })

  const malformed: [name: string, reply: unknown][] = [
    ['no results', { results: [] }],
    ['an index of no document', { results: [{ index: 3, relevance_score: 1 }] }],
    ['a document twice', { results: [...results(1), ...results(1)] }],
    ['no score', { results: [{ index: 0 }] }],
  ]
  test.each(malformed)('%s is no answer', async (_, upstream) => {
    first.on('rank', () => Response.json(upstream))
    const reply = await ask({ documents })
    expect(reply.status).toBe(502)
    expect(lastRow()).toMatchObject({ cost_nano_usd: 0, finish_reason: 'error' })
  })
})

describe('requests that are not as they must be', () => {
  const rows: [path: string, body: object, status: number, message: string][] = [
    ['/embeddings', { input: 'a' }, 400, 'model: is required'],
    ['/embeddings', { model: 'vec' }, 400, 'input: is required'],
    ['/embeddings', { model: 'vec', input: '' }, 400, 'input: must not be empty'],
    ['/embeddings', { model: 'vec', input: [] }, 400, 'input: must have at least 1 entry'],
    ['/embeddings', { model: 'vec', input: ['a', ''] }, 400, 'input[1]: must not be empty'],
    ['/embeddings', { model: 'vec', input: ['a', 4] }, 400, 'input[1]: must be a text'],
    ['/embeddings', { model: 'vec', input: [1, 1.5] }, 400, 'input[1]: must be a token id'],
    ['/embeddings', { model: 'vec', input: [[1], [-1]] }, 400, 'input[1][0]: must be a token id'],
    ['/embeddings', { model: 'vec', input: [[1], []] }, 400, 'input[1]: must have at least 1 entry'],
    ['/embeddings', { model: 'vec', input: [true] }, 400, 'input[0]: must be a text'],
    ['/embeddings', { model: 'vec', input: 7 }, 400, 'input: '],
    ['/embeddings', { model: 'vec', input: [{ content: [] }] }, 400, 'input[0].content: must have'],
    [
      '/embeddings',
      { model: 'vec', input: [{ content: [{ type: 'image_url', image_url: {} }] }] },
      400,
      'input[0].content[0].image_url.url: is required',
    ],
    ['/embeddings', { model: 'vec', input: 'a', dimensions: 0 }, 400, 'dimensions: must be a whole number'],
    [
      '/embeddings',
      { model: 'vec', input: 'a', encoding_format: 'int8' },
      400,
      'encoding_format: must be one of',
    ],
    ['/embeddings', { model: 'vec-unpriced', input: 'a' }, 400, 'has no price'],
    ['/embeddings', { model: 'nothing-like-it', input: 'a' }, 404, 'There is no model'],
    ['/embeddings', { model: 'talk', input: 'a' }, 400, 'POST /chat/completions'],
    ['/embeddings', { model: 'rank', input: 'a' }, 400, 'POST /rerank'],
    ['/rerank', { model: 'vec', query: 'q', documents: ['a'] }, 400, 'POST /embeddings'],
    ['/rerank', { model: 'rank', query: '', documents: ['a'] }, 400, 'query: must not be empty'],
    ['/rerank', { model: 'rank', query: 'q', documents: [] }, 400, 'documents: must have'],
    ['/rerank', { model: 'rank', query: 'q', documents: ['a', {}] }, 400, 'documents[1]: must have "text"'],
    ['/rerank', { model: 'rank', query: 'q', documents: ['a', 3] }, 400, 'documents[1]: must be'],
    ['/rerank', { model: 'rank', query: 'q', documents: ['a'], top_n: 0 }, 400, 'top_n: must be'],
    [
      '/rerank',
      { model: 'rank', query: 'q', documents: [{ image: 'http://10.0.0.1/a.png' }] },
      400,
      'documents[0].image: ',
    ],
    [
      '/chat/completions',
      { model: 'vec', messages: [{ role: 'user', content: 'a' }] },
      400,
      'POST /embeddings',
    ],
  ]
  test.each(rows)('%s %j', async (path, body, status, message) => {
    const before = gateway.generations().length
    const reply = await gateway.call(path, body)
    const { error } = await reply.json()
    expect({ status: reply.status, message: error.message }).toMatchObject({
      status,
      message: expect.stringContaining(message),
    })
    expect(error.code).toBe(status)
    expect(gateway.generations()).toHaveLength(before)
    expect([...first.seen, ...second.seen]).toHaveLength(0)
  })

  test.each(['/embeddings', '/rerank'])(
    '%s: 401 before the body is read, 403 with a management key',
    async (path) => {
      const wrong = await gateway.call(path, '{', { authorization: 'Bearer nobody' })
      expect(wrong.status).toBe(401)
      expect((await gateway.manage('POST', path, {})).status).toBe(403)
      expect((await gateway.call(path, '{')).status).toBe(400)
    },
  )
})
