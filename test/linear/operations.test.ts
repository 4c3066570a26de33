import { describe, expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import type { DialectName, JsonObject } from '../../src/core/events.ts'
import type { RoutedRequest } from '../../src/core/request.ts'
import type { OperationIngress } from '../../src/dialects/operation.ts'
import { embeddingsBody, embeddingsIngress } from '../../src/dialects/operations/embeddings.ts'
import { imagesBody, imagesIngress } from '../../src/dialects/operations/images.ts'
import { ocrIngress } from '../../src/dialects/operations/ocr.ts'
import { rerankBody, rerankIngress } from '../../src/dialects/operations/rerank.ts'
import {
  embeddingsEgresses,
  type OperationEgresses,
  ocrEgresses,
  rerankEgresses,
} from '../../src/dialects/operations.ts'
import { attemptFor } from '../dialects/attempt.ts'
import { upstreamReply } from '../upstream-reply.ts'
import { unlessRefused } from './carried.ts'
import { range } from './samples.ts'
import { placesIn } from './schema-places.ts'
import { growthOf, growthText } from './timing.ts'

/** The lists of embeddings, ranking and images: requests from the schemas, handwritten replies. */

const N = 1_000
const DIALECTS: readonly DialectName[] = ['chat', 'gemini', 'cohere']

async function steepIn<Request extends RoutedRequest, Result>(
  ingress: OperationIngress<Request, Result>,
  schema: TSchema,
  base: JsonObject,
  egresses: OperationEgresses<Request, Result>,
): Promise<string[]> {
  const parse = (body: JsonObject) => unlessRefused(() => ingress.parse(body, new Headers()))
  const steep: string[] = []
  for (const { name, body } of placesIn(schema, base, () => true)) {
    const reading = await growthOf(N, body, parse)
    if (!reading.isLinear) steep.push(`read, ${name}: ${growthText(reading)}`)
    for (const dialect of DIALECTS) {
      const attempt = attemptFor(dialect)
      const writing = await growthOf(
        N,
        (n) => parse(body(n)),
        (request) =>
          unlessRefused(() => (request === null ? null : egresses[dialect]?.build(request, attempt))),
      )
      if (!writing.isLinear) steep.push(`write to ${dialect}, ${name}: ${growthText(writing)}`)
    }
  }
  return steep
}

describe('work that grows with a list of a request', () => {
  test('for embeddings', async () => {
    const base = { model: 'a', input: 'x' }
    expect(await steepIn(embeddingsIngress, embeddingsBody, base, embeddingsEgresses)).toEqual([])
  }, 60_000)

  test('for ranking', async () => {
    const base = { model: 'a', query: 'q', documents: ['a'] }
    expect(await steepIn(rerankIngress, rerankBody, base, rerankEgresses)).toEqual([])
  }, 60_000)

  test('for images', async () => {
    expect(await steepIn(imagesIngress, imagesBody, { model: 'a', prompt: 'x' }, {})).toEqual([])
  }, 60_000)
})

describe('work that grows with the list of a reply', () => {
  const vector = [0.1, 0.2]
  const EMBEDDINGS: [dialect: DialectName, reply: (n: number) => JsonObject][] = [
    [
      'chat',
      (n) => ({ data: range(n, (index) => ({ index, embedding: vector })), usage: { prompt_tokens: 1 } }),
    ],
    ['gemini', (n) => ({ embeddings: range(n, () => ({ values: vector })) })],
    ['cohere', (n) => ({ embeddings: { float: range(n, () => vector) } })],
  ]
  test.each(EMBEDDINGS)('embeddings in %s', async (dialect, reply) => {
    const read = async (n: number) => {
      const request = embeddingsIngress.parse({ model: 'a', input: range(n, () => 'x') }, new Headers())
      const body = JSON.stringify(reply(n))
      return () => embeddingsEgresses[dialect]?.read(upstreamReply(body), request, attemptFor(dialect))
    }
    const growth = await growthOf(N, read, (work) => work())
    expect(growth).toMatchObject({ isLinear: true })
  })

  test.each(['chat', 'cohere'] as const)('ranking in %s', async (dialect) => {
    const read = async (n: number) => {
      const documents = range(n, (i) => `d${i}`)
      const request = rerankIngress.parse({ model: 'a', query: 'q', documents }, new Headers())
      const body = JSON.stringify({ results: range(n, (index) => ({ index, relevance_score: 0.5 })) })
      return () => rerankEgresses[dialect]?.read(upstreamReply(body), request, attemptFor(dialect))
    }
    const growth = await growthOf(N, read, (work) => work())
    expect(growth).toMatchObject({ isLinear: true })
  })

  test('the pages of recognized text', async () => {
    const read = async (n: number) => {
      const request = ocrIngress.parse({ model: 'a', pages: [] }, new Headers())
      const body = JSON.stringify({ pages: range(n, (index) => ({ index, markdown: 'x' })) })
      return () => ocrEgresses.chat?.read(upstreamReply(body), request, attemptFor('chat'))
    }
    const growth = await growthOf(N, read, (work) => work())
    expect(growth).toMatchObject({ isLinear: true })
  })
})
