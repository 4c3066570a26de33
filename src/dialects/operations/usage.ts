import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { usdOf } from '../../core/money.ts'
import type { Closing, RoutingMetadata } from '../../core/result.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'

/** More than any request has: a figure beyond it is a mistake, and counts as not told. */
const MOST = 1_000_000_000

/** A count as a provider writes it; undefined for what is none. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= MOST ? Math.round(value) : undefined

/**
 * The `usage` of replies that have only an input: `prompt_tokens` (`total_tokens` alone at Voyage and Jina) with the
 * details of what they were. Null where it counts nothing.
 */
export function readInputUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null
  const prompt = countOf(raw['prompt_tokens']) ?? countOf(raw['input_tokens']) ?? countOf(raw['total_tokens'])
  if (prompt === undefined) return null
  const details = isObject(raw['prompt_tokens_details']) ? raw['prompt_tokens_details'] : {}
  const images = Math.min(prompt, countOf(details['image_tokens']) ?? countOf(raw['image_tokens']) ?? 0)
  const audio = Math.min(prompt - images, countOf(details['audio_tokens']) ?? 0)
  return {
    ...NO_USAGE,
    inputTokens: prompt - images - audio,
    imageInputTokens: images,
    audioInputTokens: audio,
    ...costOf(raw),
  }
}

/** What a gateway in front of the provider says that it charged. */
export const costOf = (raw: JsonObject): Pick<Usage, 'providerCostUsd'> =>
  typeof raw['cost'] === 'number' && raw['cost'] >= 0 && raw['cost'] <= MOST
    ? { providerCostUsd: raw['cost'] }
    : {}

/** USD with at most 9 decimals, as every reply of this API tells it. */
export const viewCost = (closing: Closing): JsonObject => ({
  cost: usdOf(closing.costNanoUsd),
  is_byok: closing.isByok,
  cost_details: {
    upstream_inference_cost: closing.isByok
      ? usdOf(closing.promptCostNanoUsd + closing.completionCostNanoUsd)
      : null,
    upstream_inference_prompt_cost: usdOf(closing.promptCostNanoUsd),
    upstream_inference_completions_cost: usdOf(closing.completionCostNanoUsd),
  },
})

/** The routing metadata under both of its names; nothing when the caller did not ask. */
export const viewRouting = (metadata: RoutingMetadata | null): JsonObject =>
  metadata === null ? {} : { service_metadata: metadata, openrouter_metadata: metadata }
