import { describe, expect, test } from 'bun:test'
import type { Attempt } from '../../src/core/attempt.ts'
import type { DialectName } from '../../src/core/events.ts'
import { embeddingsIngress } from '../../src/dialects/operations/embeddings.ts'
import { rerankIngress } from '../../src/dialects/operations/rerank.ts'
import { embeddingsEgresses, rerankEgresses } from '../../src/dialects/operations.ts'
import { quirksOfAddress } from '../../src/providers/vendor-quirks.ts'
import { endpoint, model, provider } from '../inference/fixture.ts'
import { upstreamReply } from '../upstream-reply.ts'

/** Requests for embeddings and rankings in each dialect. */

const attemptAt = (dialect: DialectName, quirks: Attempt['provider']['quirks'] = {}): Attempt => {
  const at = endpoint('lab', 'author/vec')
  const lab = provider('lab', { dialect, quirks })
  const credential = { id: 'lab', secret: null }
  return { model: model('author/vec', [at]), endpoint: at, provider: lab, credential, dialect }
}
const embed = (body: object) => embeddingsIngress.parse({ model: 'author/vec', ...body }, new Headers())
const rank = (body: object) => rerankIngress.parse({ model: 'author/vec', ...body }, new Headers())
const IMAGE = 'data:image/png;base64,iVBORw0KGgo='

describe('requests', () => {
  const rows: [
    name: string,
    dialect: DialectName,
    body: object,
    path: string,
    sent: object,
    dropped: string[],
  ][] = [
    [
      'gemini: texts',
      'gemini',
      { input: ['a', 'b'], dimensions: 64, input_type: 'query', user: 'u' },
      '/models/vec:batchEmbedContents',
      {
        requests: ['a', 'b'].map((text) => ({
          model: 'models/vec',
          content: { parts: [{ text }] },
          taskType: 'RETRIEVAL_QUERY',
          outputDimensionality: 64,
        })),
      },
      ['user'],
    ],
    [
      'gemini: parts',
      'gemini',
      {
        input: [
          {
            content: [
              { type: 'text', text: 'a' },
              { type: 'image_url', image_url: { url: IMAGE } },
            ],
          },
        ],
        input_type: 'SEMANTIC_SIMILARITY',
      },
      '/models/vec:batchEmbedContents',
      {
        requests: [
          {
            model: 'models/vec',
            content: {
              parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
            },
            taskType: 'SEMANTIC_SIMILARITY',
          },
        ],
      },
      [],
    ],
    [
      'cohere: texts',
      'cohere',
      { input: 'a', encoding_format: 'base64', dimensions: 256, input_type: 'query' },
      '/embed',
      {
        model: 'vec',
        texts: ['a'],
        input_type: 'search_query',
        embedding_types: ['base64'],
        output_dimension: 256,
      },
      [],
    ],
    [
      'cohere: parts and texts alike, and a type that must be there',
      'cohere',
      { input: [{ content: [{ type: 'image_url', image_url: { url: IMAGE } }] }], user: 'u' },
      '/embed',
      {
        model: 'vec',
        inputs: [{ content: [{ type: 'image_url', image_url: { url: IMAGE } }] }],
        input_type: 'search_document',
        embedding_types: ['float'],
      },
      ['user'],
    ],
    ['responses: OpenAI’s', 'responses', { input: 'a' }, '/embeddings', { model: 'vec', input: 'a' }, []],
  ]
  test.each(rows)('%s', (_, dialect, body, path, sent, dropped) => {
    const built = embeddingsEgresses[dialect]?.build(embed(body), attemptAt(dialect))
    expect(built).toMatchObject({ path, dropped })
    expect(built?.body).toEqual({ ...sent })
  })

  test('vendors whose API has words for the use of the vectors get theirs', () => {
    const quirks = quirksOfAddress('https://integrate.api.nvidia.com/v1')
    const sent = (input_type: string) =>
      embeddingsEgresses.chat?.build(embed({ input: 'a', input_type }), attemptAt('chat', quirks)).body
    for (const query of ['query', 'search_query', 'RETRIEVAL_QUERY'])
      expect(sent(query)).toMatchObject({ input_type: 'query' })
    for (const passage of ['document', 'search_document', 'passage'])
      expect(sent(passage)).toMatchObject({ input_type: 'passage' })
    expect(sent('classification')).toMatchObject({ input_type: 'classification' })
  })

  test('Vertex: an instance for each text, and its counts', async () => {
    const attempt = attemptAt('gemini', { embeddings: { form: 'instances' } })
    const asked = embed({ input: ['a', 'b'], dimensions: 64, input_type: 'document' })
    const built = embeddingsEgresses.gemini?.build(asked, attempt)
    expect(built).toMatchObject({
      path: '/models/vec:predict',
      body: {
        instances: ['a', 'b'].map((content) => ({ content, task_type: 'RETRIEVAL_DOCUMENT' })),
        parameters: { outputDimensionality: 64 },
      },
    })
    const predictions = [1, 2].map((value) => ({
      embeddings: { values: [value], statistics: { token_count: 3, truncated: false } },
    }))
    const reply = await embeddingsEgresses.gemini?.read(
      upstreamReply(JSON.stringify({ predictions })),
      asked,
      attempt,
    )
    expect(reply).toMatchObject({ result: { embeddings: [[1], [2]] }, usage: { inputTokens: 6 } })
    const image = embed({ input: [{ content: [{ type: 'image_url', image_url: { url: IMAGE } }] }] })
    expect(() => embeddingsEgresses.gemini?.build(image, attempt)).toThrow('input[0].content: must be text')
  })

  test('Mistral and Voyage have other names for the length; Voyage has no encoding format', () => {
    const attempt = attemptAt('chat', {
      embeddings: { dimensionsField: 'output_dimension', floatFormat: false },
    })
    const built = embeddingsEgresses.chat?.build(
      embed({ input: 'a', dimensions: 8, encoding_format: 'float' }),
      attempt,
    )
    expect(built?.body).toEqual({ model: 'vec', input: 'a', output_dimension: 8 })
  })

  test('rankings: Cohere accepts texts, Voyage has top_k', () => {
    const documents = ['a', { text: 'b' }, { title: 'T', text: 'c', tags: ['x'] }]
    const asked = rank({
      query: 'q',
      documents,
      top_n: 2,
      return_documents: true,
      user: 'u',
      max_tokens_per_doc: 9,
    })
    expect(rerankEgresses.cohere?.build(asked, attemptAt('cohere'))).toMatchObject({
      path: '/rerank',
      body: {
        model: 'vec',
        query: 'q',
        documents: ['a', 'b', 'title: T\ntext: c\ntags: ["x"]'],
        top_n: 2,
        max_tokens_per_doc: 9,
      },
      dropped: ['user'],
    })
    const body = rerankEgresses.chat?.build(asked, attemptAt('chat', { rankingBoundField: 'top_k' })).body
    expect(body).toEqual({ model: 'vec', query: 'q', documents, top_k: 2, user: 'u', max_tokens_per_doc: 9 })
  })

  const refused: [dialect: DialectName, body: object, reason: string | null][] = [
    ['gemini', { input: [1, 2] }, 'embeds text, not token ids'],
    ['cohere', { input: [[1], [2]] }, 'embeds text, not token ids'],
    [
      'gemini',
      { input: [{ content: [{ type: 'image_url', image_url: { url: 'https://a.example/x' } }] }] },
      'embeds images from data URLs, not from addresses',
    ],
    [
      'cohere',
      { input: [{ content: [{ type: 'video_url', video_url: { url: 'https://a.example/x' } }] }] },
      'embeds texts and images alone',
    ],
    ['gemini', { input: 'a' }, null],
    ['cohere', { input: [{ content: [{ type: 'text', text: 'a' }] }] }, null],
  ]
  test.each(refused)('%s cannot carry %j: %p', (dialect, body, reason) => {
    expect(
      embeddingsEgresses[dialect]?.cannot?.(embed(body), endpoint('lab', 'x'), provider('lab')) ?? null,
    ).toBe(reason)
  })
})
