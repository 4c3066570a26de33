import type { DialectName, JsonObject } from '../core/events.ts'
import { asAmount, asList, fieldsOf, isObject } from '../core/json.ts'
import { usdOf } from '../core/money.ts'
import type { Closing, RoutingMetadata } from '../core/result.ts'
import type { Usage } from '../core/usage.ts'

/** Readers and views of usage that all dialects share. */

/** A number of tokens as a provider reports it, rounded; undefined for anything else. */
export const tokenCount = (value: unknown): number | undefined => {
  const amount = asAmount(value)
  return amount === undefined ? undefined : Math.min(Math.round(amount), Number.MAX_SAFE_INTEGER)
}

/** xAI reports its charge in ticks of 10⁻¹⁰ USD (its documentation, 2026). */
const TICKS_PER_USD = 10_000_000_000

/** The charge that a usage object reports, in USD: OpenRouter a number, Perplexity an object, xAI ticks. */
export function reportedCost({ cost, cost_in_usd_ticks }: JsonObject): number | undefined {
  const ticks = asAmount(cost_in_usd_ticks)
  const amount = asAmount(isObject(cost) ? cost['total_cost'] : cost)
  return amount ?? (ticks === undefined ? undefined : ticks / TICKS_PER_USD)
}

/** What a reply counts, in tokens. `input` and `output` include all of their parts; undefined: not reported. */
export interface TokenCounts {
  input?: number
  output?: number
  /** Input and output together. */
  total?: number
  cacheRead?: number
  cacheWrite?: number
  /** The part of `cacheWrite` that is cached for an hour. */
  cacheWriteHour?: number
  audioInput?: number
  imageInput?: number
  reasoning?: number
  audioOutput?: number
  imageOutput?: number
  acceptedPrediction?: number
  rejectedPrediction?: number
  webSearches?: number
}

/** A count, and the places in a usage object (`details.cached_tokens`) that may hold it: the first that does wins. */
type CountPlaces = readonly [name: keyof TokenCounts, ...places: string[]]

/** Reads the counts of a usage object from the places of its dialect. */
export function countReader(table: readonly CountPlaces[]): (raw: JsonObject) => TokenCounts {
  const rows = table.map(([name, ...places]) => ({ name, places: places.map((place) => place.split('.')) }))
  return (raw) => {
    const counts: TokenCounts = {}
    for (const { name, places } of rows) {
      for (const [first = '', second] of places) {
        const value = raw[first]
        const count = tokenCount(second === undefined ? value : isObject(value) ? value[second] : undefined)
        if (count === undefined) continue
        counts[name] = count
        break
      }
    }
    return counts
  }
}

/**
 * Counts → disjoint buckets. Each bucket takes at most what the former ones left: some providers report more cached
 * than prompt tokens.
 */
export function bucketsOf(counts: TokenCounts): Usage {
  let left = counts.input ?? 0
  const cacheReadTokens = Math.min(counts.cacheRead ?? 0, left)
  left -= cacheReadTokens
  const cacheWriteTokens = Math.min(counts.cacheWrite ?? 0, left)
  left -= cacheWriteTokens
  const audioInputTokens = Math.min(counts.audioInput ?? 0, left)
  left -= audioInputTokens
  const imageInputTokens = Math.min(counts.imageInput ?? 0, left)
  const inputTokens = left - imageInputTokens
  left = counts.output ?? 0
  const reasoningTokens = Math.min(counts.reasoning ?? 0, left)
  left -= reasoningTokens
  const audioOutputTokens = Math.min(counts.audioOutput ?? 0, left)
  left -= audioOutputTokens
  const imageOutputTokens = Math.min(counts.imageOutput ?? 0, left)
  const outputTokens = left - imageOutputTokens
  const usage: Usage = {
    inputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    audioInputTokens,
    imageInputTokens,
    outputTokens,
    reasoningTokens,
    audioOutputTokens,
    imageOutputTokens,
  }
  const cacheWriteHourTokens = Math.min(counts.cacheWriteHour ?? 0, cacheWriteTokens)
  const { acceptedPrediction, rejectedPrediction, webSearches } = counts
  if (cacheWriteHourTokens > 0) usage.cacheWriteHourTokens = cacheWriteHourTokens
  if (acceptedPrediction !== undefined) usage.acceptedPredictionTokens = acceptedPrediction
  if (rejectedPrediction !== undefined) usage.rejectedPredictionTokens = rejectedPrediction
  if (webSearches !== undefined) usage.webSearchRequests = webSearches
  return usage
}

/** The fields that the provider reported beside the counts, for a writer of the provider's dialect. */
export const nativeFieldsOf = ({ native }: Usage, dialect: DialectName): JsonObject | undefined =>
  native?.dialect === dialect ? native.fields : undefined

/** `upstream_inference_cost` is what the provider charges the caller's own account: only with a BYOK key. */
const viewCostDetails = (closing: Closing): JsonObject => ({
  upstream_inference_cost: closing.isByok
    ? usdOf(closing.promptCostNanoUsd + closing.completionCostNanoUsd)
    : null,
  upstream_inference_prompt_cost: usdOf(closing.promptCostNanoUsd),
  upstream_inference_completions_cost: usdOf(closing.completionCostNanoUsd),
  ...viewToolCost(closing),
})

/** What the gateway's own tools cost, as part of `cost`; nothing if none ran. */
export const viewToolCost = ({ serverTools }: Closing): JsonObject =>
  serverTools === undefined ? {} : { server_tool_cost: usdOf(serverTools.costNanoUsd) }

/** How often tools of the provider and of the gateway ran; undefined if none did. */
export function viewToolUse({ usage, serverTools }: Closing): JsonObject | undefined {
  const { webSearchRequests } = usage
  if (webSearchRequests === undefined && serverTools === undefined) return undefined
  const { requested, executed, searches } = serverTools ?? NO_TOOLS
  return {
    ...(requested > 0 && { tool_calls_requested: requested, tool_calls_executed: executed }),
    web_search_requests: (webSearchRequests ?? 0) + searches,
  }
}
const NO_TOOLS = { requested: 0, executed: 0, searches: 0 }

/** USD with at most 9 decimals. */
export const viewCost = (closing: Closing): JsonObject => ({
  cost: usdOf(closing.costNanoUsd),
  is_byok: closing.isByok,
  cost_details: viewCostDetails(closing),
})

/**
 * The routing metadata under both of its names; nothing unless the caller asked for it. `lost`: what the reply held and
 * the caller's dialect has no place for; it is named beside the dropped parameters.
 */
export function viewMetadata(metadata: RoutingMetadata | null, lost: readonly string[] = []): JsonObject {
  if (metadata === null) return {}
  const complete = lost.length === 0 ? metadata : { ...metadata, params: withLost(metadata.params, lost) }
  return { service_metadata: complete, openrouter_metadata: complete }
}

const withLost = (params: JsonObject | undefined, lost: readonly string[]): JsonObject => ({
  ...params,
  dropped_parameters: [...asList(fieldsOf(params)['dropped_parameters']), ...lost],
})
