import { describe, expect, test } from 'bun:test'
import { startForEmbeddings } from './embeddings-setup.ts'

/** POST /rerank before providers of three forms, and invalid requests to it and to POST /embeddings. */

const { first, second, gateway, lastRow } = await startForEmbeddings()

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
  test.each(shapes)('has results in one form from %s', async (_, model, upstream, usage, costNanoUsd) => {
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
  test.each(malformed)('is a 502 if the reply has %s', async (_, upstream) => {
    first.on('rank', () => Response.json(upstream))
    const reply = await ask({ documents })
    expect(reply.status).toBe(502)
    expect(lastRow()).toMatchObject({ cost_nano_usd: 0, finish_reason: 'error' })
  })
})

describe('an invalid request', () => {
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
  test.each(rows)('to %s is rejected with the field: %j', async (path, body, status, message) => {
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
    'to %s is a 401 before the body is read, and a 403 with a management key',
    async (path) => {
      const wrong = await gateway.call(path, '{', { authorization: 'Bearer wrong' })
      expect(wrong.status).toBe(401)
      expect((await gateway.manage('POST', path, {})).status).toBe(403)
      expect((await gateway.call(path, '{')).status).toBe(400)
    },
  )
})
