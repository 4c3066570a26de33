import { type Static, Type as t } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { badRequest } from '../../core/errors.ts'
import { defined, isString } from '../../core/json.ts'
import type { RerankDocument, RerankRequest, RerankResult } from '../../core/operation.ts'
import { completionTokens, promptTokens } from '../../core/usage.ts'
import { bounded } from '../bounded.ts'
import { OPEN, optional } from '../fields.ts'
import { mismatch } from '../mismatch.ts'
import type { OperationIngress } from '../operation.ts'
import { modelField, readRouting, routingFields } from './fields.ts'
import { viewCost, viewRouting } from './usage.ts'

const document = t.Object(
  {
    text: t.Optional(t.String()),
    image: t.Optional(t.String({ minLength: 1, description: 'An https URL or a data URL' })),
  },
  OPEN,
)

export const rerankBody = bounded(
  t.Object(
    {
      query: t.String({ minLength: 1 }),
      documents: t.Array(t.Union([t.String(), document]), {
        minItems: 1,
        description: 'Texts, or objects with `text` or `image`',
      }),
      model: modelField('A model that ranks'),
      top_n: optional(t.Integer({ minimum: 1, description: 'The most results; default all' })),
      ...routingFields,
    },
    OPEN,
  ),
)
export type RerankBody = Static<typeof rerankBody>

/** Compiled at the first request: the start does not pay for it. */
let compiled: TypeCheck<typeof rerankBody> | undefined

/** POST /rerank. */
export const rerankIngress: OperationIngress<RerankRequest, RerankResult> = {
  parse(body, headers) {
    compiled ??= TypeCompiler.Compile(rerankBody)
    if (!compiled.Check(body)) throw mismatch(compiled, body)
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
      ...viewRouting(closing.serviceMetadata),
    }
  },
}

/** The best first, as many as were asked for. */
export const ranked = ({ ranking }: RerankResult, topN: number | undefined) =>
  ranking
    .toSorted((a, b) => b.score - a.score)
    .slice(0, topN)
    .map(({ index, score }) => ({ index, relevance_score: score }))

function documentAt(documents: readonly RerankDocument[], index: number) {
  const document = documents[index]
  return isString(document) ? { text: document } : document
}
