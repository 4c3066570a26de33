import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { RerankRequest, RerankResult } from '../../core/operation.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import { malformed } from './reply-body.ts'
import { costOf, countOf, readInputUsage } from './usage.ts'

/**
 * The ranking in a list of `{index, relevance_score}` (Cohere, Jina, Together, vLLM, Voyage) or `{index, score}`
 * (Hugging Face's server). Throws `malformed` for an entry that is none, names no document, or names one twice.
 */
export function readRanking(list: unknown, { documents }: RerankRequest): RerankResult {
  if (!Array.isArray(list) || list.length === 0) throw malformed('the reply has no ranking')
  const seen = new Set<number>()
  const ranking = list.map((entry: unknown) => {
    const index = isObject(entry) ? entry['index'] : undefined
    const score = isObject(entry) ? (entry['relevance_score'] ?? entry['score']) : undefined
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
 * What was counted: `meta.billed_units` (Cohere), `meta.tokens` (SiliconFlow), `usage` (Jina, Voyage, Together).
 * Null where nothing was told.
 */
export function readRankingUsage(body: JsonObject): Usage | null {
  const meta = isObject(body['meta']) ? body['meta'] : {}
  const billed = isObject(meta['billed_units']) ? meta['billed_units'] : {}
  const usage = isObject(body['usage']) ? body['usage'] : {}
  const units = countOf(billed['search_units']) ?? countOf(usage['search_units'])
  const tokens = readInputUsage(usage) ?? readInputUsage(billed) ?? readInputUsage(meta['tokens'])
  if (units === undefined) return tokens
  return { ...(tokens ?? NO_USAGE), searchUnits: units, ...costOf(usage) }
}
