import type { RerankDocument, RerankRequest, RerankResult } from '../../core/operation.ts'
import { NO_USAGE, promptTokens } from '../../core/usage.ts'
import { ranked, rerankIngress } from '../../dialects/operations/rerank.ts'
import { rerankEgresses } from '../../dialects/operations.ts'
import { textTokens } from '../admission/estimate.ts'
import { inputNeeds } from '../routing/needs.ts'
import type { Task } from './task.ts'

/**
 * POST /rerank: priced by tokens, with the query counted once per document, or by search units at the price per request.
 * A unit is a query with up to 100 documents. A document and query of more than 500 tokens count as several (Cohere's rule).
 */
export const rerank: Task<RerankRequest, RerankResult> = {
  ingress: rerankIngress,
  egresses: rerankEgresses,
  isRepeatable: true,
  needs: ({ documents }) =>
    inputNeeds(documents.some((document) => typeof document !== 'string' && document.image) ? ['image'] : []),
  bound: ({ query, documents }) => {
    const queryTokens = textTokens(query)
    const lengths = documents.map((document) => queryTokens + FRAME_TOKENS + tokensOf(document))
    const chunks = lengths.reduce((sum, length) => sum + Math.ceil(length / CHUNK_TOKENS), 0)
    return {
      ...NO_USAGE,
      inputTokens: lengths.reduce((sum, length) => sum + length, 0),
      searchUnits: Math.ceil(chunks / DOCUMENTS_PER_UNIT),
    }
  },
  count(request, _, reported, pricing) {
    const bound = rerank.bound(request, pricing)
    if (reported === null) {
      // Providers that charge by search units report them.
      const { searchUnits: _units, ...tokens } = bound
      return { usage: tokens, source: 'estimated' }
    }
    const areTokensMissing = promptTokens(reported) === 0 && pricing.prompt > 0n
    return areTokensMissing
      ? { usage: { ...reported, inputTokens: bound.inputTokens }, source: 'estimated' }
      : { usage: reported, source: 'provider' }
  },
  logged: (result, { topN }) => ranked(result, topN),
}

const CHUNK_TOKENS = 500
const DOCUMENTS_PER_UNIT = 100
const FRAME_TOKENS = 4
const IMAGE_TOKENS = 1_500

function tokensOf(document: RerankDocument): number {
  if (typeof document === 'string') return textTokens(document)
  const { image, ...rest } = document
  return (image === undefined ? 0 : IMAGE_TOKENS) + textTokens(JSON.stringify(rest))
}
