import { describe, expect, test } from 'bun:test'
import type { Attempt } from '../../src/core/attempt.ts'
import type { DialectName } from '../../src/core/events.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { embeddingsIngress } from '../../src/dialects/operations/embeddings.ts'
import { embeddingsEgresses } from '../../src/dialects/operations.ts'
import { readErrorReply } from '../../src/dialects/read-error.ts'
import { endpoint, model, provider } from '../inference/fixture.ts'
import { hasTranscripts, loadRecordings, TRANSCRIPTS } from '../recordings.ts'
import { upstreamReply } from '../upstream-reply.ts'

/** Replies to requests for embeddings, in each dialect. */

const attemptAt = (dialect: DialectName): Attempt => {
  const at = endpoint('lab', 'author/vec')
  const lab = provider('lab', { dialect })
  return {
    model: model('author/vec', [at]),
    endpoint: at,
    provider: lab,
    credential: { id: 'lab', secret: null },
    dialect,
  }
}
const embed = (body: object) => embeddingsIngress.parse({ model: 'author/vec', ...body }, new Headers())

describe('replies', () => {
  const rows: [
    name: string,
    dialect: DialectName,
    body: object,
    embeddings: unknown[],
    tokens: object | null,
  ][] = [
    [
      'gemini with its count',
      'gemini',
      { embeddings: [{ values: [1, 2] }], usageMetadata: { promptTokenCount: 4 } },
      [[1, 2]],
      { inputTokens: 4 },
    ],
    [
      'gemini: an image beside a text',
      'gemini',
      {
        embeddings: [{ values: [1] }],
        usageMetadata: {
          promptTokenCount: 261,
          promptTokenDetails: [
            { modality: 'IMAGE', tokenCount: 258 },
            { modality: 'TEXT', tokenCount: 3 },
          ],
        },
      },
      [[1]],
      { inputTokens: 3, imageInputTokens: 258 },
    ],
    ['gemini without', 'gemini', { embeddings: [{ values: [1] }] }, [[1]], null],
    [
      'cohere',
      'cohere',
      { id: 'c', embeddings: { float: [[0.5]] }, meta: { billed_units: { input_tokens: 3 } } },
      [[0.5]],
      { inputTokens: 3 },
    ],
    [
      'cohere: images beside texts',
      'cohere',
      { embeddings: { float: [[0.5]] }, meta: { billed_units: { input_tokens: 3, image_tokens: 40 } } },
      [[0.5]],
      { inputTokens: 3, imageInputTokens: 40 },
    ],
    [
      'cohere: images of a model that counts no tokens',
      'cohere',
      { embeddings: { float: [[0.5]] }, meta: { billed_units: { images: 1 } } },
      [[0.5]],
      null,
    ],
    [
      'chat: a charge in parts (Perplexity)',
      'chat',
      {
        data: [{ embedding: [1] }],
        usage: { prompt_tokens: 7, total_tokens: 7, cost: { input_cost: 0.25, total_cost: 0.25 } },
      },
      [[1]],
      { inputTokens: 7, providerCostUsd: 0.25 },
    ],
    [
      'chat: parts of the prompt',
      'chat',
      {
        data: [{ embedding: [1] }],
        usage: { prompt_tokens: 10, total_tokens: 10, prompt_tokens_details: { image_tokens: 6 }, cost: 0.5 },
      },
      [[1]],
      { inputTokens: 4, imageInputTokens: 6, providerCostUsd: 0.5 },
    ],
  ]
  test.each(rows)('%s', async (_, dialect, body, embeddings, tokens) => {
    const egress = embeddingsEgresses[dialect]
    const reply = await egress?.read(
      upstreamReply(JSON.stringify(body)),
      embed({ input: 'a' }),
      attemptAt(dialect),
    )
    expect<unknown>(reply?.result).toEqual({ embeddings })
    expect(reply?.usage ?? null).toEqual(tokens === null ? null : { ...NO_USAGE, ...tokens })
  })

  const broken: [dialect: DialectName, body: object][] = [
    ['gemini', {}],
    ['gemini', { embeddings: [{}] }],
    ['cohere', { embeddings: { float: [] } }],
    ['cohere', { embeddings: [[1]] }],
    ['chat', { data: [{ embedding: [] }] }],
  ]
  test.each(broken)('%s: %j is not an answer', async (dialect, body) => {
    const egress = embeddingsEgresses[dialect]
    const reading = egress?.read(
      upstreamReply(JSON.stringify(body)),
      embed({ input: 'a' }),
      attemptAt(dialect),
    )
    expect(reading).rejects.toMatchObject({ kind: 'malformed' })
  })
})

test.skipIf(!hasTranscripts)(
  'recorded refusals are the endpoint’s unless a file could not be downloaded, with the useful reason',
  () => {
    const recorded = loadRecordings(TRANSCRIPTS).filter(
      ({ api, status }) => (api === 'embeddings' || api === 'images') && status >= 400,
    )
    expect(recorded.length).toBeGreaterThan(4)
    for (const { name, status, headers, bytes, expected } of recorded) {
      const error = readErrorReply(status, headers, new TextDecoder().decode(bytes))
      const kind = error.reason.startsWith('Error while downloading') ? 'caller' : 'unsuitable'
      expect({ name, kind: error.kind, status: error.status }).toEqual({ name, kind, status })
      expect(expected.error).toContain(JSON.stringify(error.reason).slice(1, 40))
    }
  },
)

test.skipIf(!hasTranscripts)('the recorded answer of a provider is read', async () => {
  const recorded = loadRecordings(TRANSCRIPTS).filter(
    ({ api, status }) => api === 'embeddings' && status === 200,
  )
  expect(recorded.length).toBeGreaterThan(0)
  for (const { bytes, headers, expected } of recorded) {
    const text = new TextDecoder().decode(bytes)
    const count = JSON.parse(text).data.length
    const asked = embed({ input: Array.from({ length: count }, () => 'a') })
    const reply = await embeddingsEgresses.chat?.read(
      upstreamReply(text, { headers }),
      asked,
      attemptAt('chat'),
    )
    expect(reply?.usage?.inputTokens).toBe(Number(expected.usage?.['prompt_tokens']))
    expect(reply?.result.embeddings).toHaveLength(count)
  }
})
