import { Type as t } from '@sinclair/typebox'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, fieldsOf, isString } from '../../core/json.ts'
import type { RerankDocument, RerankRequest, RerankResult } from '../../core/operation.ts'
import { completionTokens, NO_USAGE, promptTokens, type Usage } from '../../core/usage.ts'
import { readRouting } from '../caller-fields.ts'
import { routingFields } from '../caller-schema.ts'
import { bounded, openObject, optional } from '../fields.ts'
import { bodyCheck } from '../mismatch.ts'
import type { OperationIngress } from '../operation.ts'
import { viewCost, viewMetadata } from '../usage.ts'
import { modelField } from './fields.ts'
import { costOf, countOf, malformed, readInputUsage } from './reply.ts'

const document = openObject({
  text: t.Optional(t.String()),
  image: t.Optional(t.String({ minLength: 1, description: 'An https URL or a data URL' })),
})

export const rerankBody = bounded(
  openObject({
    query: t.String({ minLength: 1 }),
    documents: t.Array(t.Union([t.String(), document]), {
      minItems: 1,
      description: 'Texts, or objects with `text` or `image`',
    }),
    model: modelField('A model that ranks'),
    top_n: optional(t.Integer({ minimum: 1, description: 'The most results; default all' })),
    ...routingFields,
  }),
)

const checkBody = bodyCheck(rerankBody)

/** POST /rerank. */
export const rerankIngress: OperationIngress<RerankRequest, RerankResult> = {
  parse(input, headers) {
    const body = checkBody(input)
    for (const [index, entry] of body.documents.entries()) {
      if (!isString(entry) && entry.text === undefined && entry.image === undefined) {
        throw badRequest('must have "text" or "image"', `documents[${index}]`)
      }
    }
    return defined<RerankRequest>({
      ...readRouting('rerank', body, headers),
      query: body.query,
      documents: body.documents,
      topN: body.top_n ?? undefined,
    })
  },
  writeReply(result, reply, closing) {
    const { usage } = closing
    return {
      ...reply.native,
      id: reply.generationId,
      model: reply.model,
      provider: reply.providerName,
      results: ranked(result, reply.request.topN).map((place) => ({
        ...place,
        document: documentAt(reply.request.documents, place.index),
      })),
      usage: defined({
        search_units: usage.searchUnits,
        total_tokens: promptTokens(usage) + completionTokens(usage),
        ...viewCost(closing),
      }),
      ...viewMetadata(closing.serviceMetadata),
    }
  },
}

/** The best first, at most `top_n`. */
export const ranked = ({ ranking }: RerankResult, topN: number | undefined) =>
  ranking
    .toSorted((a, b) => b.score - a.score)
    .slice(0, topN)
    .map(({ index, score }) => ({ index, relevance_score: score }))

function documentAt(documents: readonly RerankDocument[], index: number) {
  const document = documents[index]
  return isString(document) ? { text: document } : document
}

/**
 * The ranking in a list of `{index, relevance_score}` (Cohere, Jina, Together, vLLM, Voyage) or `{index, score}`
 * (Hugging Face's server). Throws `malformed` for an entry without index or score, and for an unknown or repeated index.
 */
export function readRanking(list: unknown, { documents }: RerankRequest): RerankResult {
  if (!Array.isArray(list) || list.length === 0) throw malformed('the reply has no ranking')
  const seen = new Set<number>()
  const ranking = list.map((entry: unknown) => {
    const { index, relevance_score, score: otherScore } = fieldsOf(entry)
    const score = relevance_score ?? otherScore
    if (typeof index !== 'number' || typeof score !== 'number' || !Number.isFinite(score)) {
      throw malformed('a result has no index or no score')
    }
    if (!Number.isInteger(index) || index < 0 || index >= documents.length || seen.has(index)) {
      throw malformed('a result names no document of the request, or one twice')
    }
    seen.add(index)
    return { index, score }
  })
  return { ranking }
}

/**
 * The reported usage: `meta.billed_units` (Cohere), `meta.tokens` (SiliconFlow), `usage` (Jina, Voyage, Together). Null
 * without any.
 */
export function readRankingUsage(body: JsonObject): Usage | null {
  const meta = fieldsOf(body['meta'])
  const billed = fieldsOf(meta['billed_units'])
  const usage = fieldsOf(body['usage'])
  const units = countOf(billed['search_units']) ?? countOf(usage['search_units'])
  const tokens = readInputUsage(usage) ?? readInputUsage(billed) ?? readInputUsage(meta['tokens'])
  if (units === undefined) return tokens
  return { ...(tokens ?? NO_USAGE), searchUnits: units, ...costOf(usage) }
}
