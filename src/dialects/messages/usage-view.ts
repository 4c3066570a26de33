import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { usdOf } from '../../core/money.ts'
import type { Closing, RoutingMetadata } from '../../core/result.ts'
import { completionTokens, NO_USAGE, type Usage } from '../../core/usage.ts'
import { anthropicTier } from '../service-tier.ts'

/**
 * Usage as Anthropic counts it: `input_tokens` without what was read from or written to a cache, `output_tokens`
 * with thinking. What Anthropic itself said beside it is kept; null: nothing was told yet.
 */
export function viewTokens(told: Usage | null, serviceTier: string | null): JsonObject {
  const usage = told ?? NO_USAGE
  const native = usage.native?.dialect === 'messages' ? usage.native.fields : {}
  const { cacheWriteTokens, cacheWriteHourTokens: hour = 0, webSearchRequests } = usage
  return {
    input_tokens: usage.inputTokens + usage.audioInputTokens + usage.imageInputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    // Who does not say for how long it caches does so for five minutes.
    cache_creation: { ephemeral_5m_input_tokens: cacheWriteTokens - hour, ephemeral_1h_input_tokens: hour },
    output_tokens: completionTokens(usage),
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    server_tool_use:
      webSearchRequests === undefined
        ? null
        : { web_search_requests: webSearchRequests, web_fetch_requests: 0 },
    inference_geo: null,
    ...native,
    service_tier: anthropicTier(serviceTier),
  }
}

/** The whole account: tokens, and what they cost in USD with at most 9 decimals. */
export const viewUsage = (closing: Closing): JsonObject => ({
  ...viewTokens(closing.usage, closing.serviceTier),
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

/**
 * The routing metadata under both of its names; nothing when the caller did not ask. `lost`: what the reply had and
 * this dialect has no place for, named beside the parameters that could not be carried.
 */
export function viewMetadata(metadata: RoutingMetadata | null, lost: readonly string[] = []): JsonObject {
  if (metadata === null) return {}
  const told = lost.length === 0 ? metadata : { ...metadata, params: withLost(metadata.params, lost) }
  return { service_metadata: told, openrouter_metadata: told }
}

function withLost(params: JsonObject | undefined, lost: readonly string[]): JsonObject {
  const former = isObject(params) ? params['dropped_parameters'] : undefined
  return { ...params, dropped_parameters: [...(Array.isArray(former) ? former : []), ...lost] }
}
