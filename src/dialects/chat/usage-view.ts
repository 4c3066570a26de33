import type { JsonObject } from '../../core/events.ts'
import { usdOf } from '../../core/money.ts'
import type { Closing, RoutingMetadata } from '../../core/result.ts'
import { completionTokens, promptTokens, type Usage } from '../../core/usage.ts'
import { defined, isObject } from '../values.ts'

/**
 * Usage as OpenAI counts it: prompt and completion tokens inclusive (cache reads and writes, reasoning), the parts
 * in the details; `cost` in USD with at most 9 decimals.
 */
export function viewUsage(closing: Closing): JsonObject {
  const { usage } = closing
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  const { prompt_tokens_details, completion_tokens_details, ...native } = nativeOf(usage)
  return defined({
    ...native,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: defined({
      ...(isObject(prompt_tokens_details) ? prompt_tokens_details : {}),
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      audio_tokens: usage.audioInputTokens,
      image_tokens: usage.imageInputTokens || undefined,
    }),
    completion_tokens_details: defined({
      ...(isObject(completion_tokens_details) ? completion_tokens_details : {}),
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: usage.audioOutputTokens,
      image_tokens: usage.imageOutputTokens || undefined,
      accepted_prediction_tokens: usage.acceptedPredictionTokens,
      rejected_prediction_tokens: usage.rejectedPredictionTokens,
    }),
    cost: usdOf(closing.costNanoUsd),
    is_byok: closing.isByok,
    cost_details: viewCost(closing),
    server_tool_use_details:
      usage.webSearchRequests === undefined ? undefined : { web_search_requests: usage.webSearchRequests },
  })
}

const nativeOf = ({ native }: Usage): JsonObject => (native?.dialect === 'chat' ? native.fields : {})

/** `upstream_inference_cost` is what the caller's own account at the provider is charged: only with its own key. */
const viewCost = (closing: Closing): JsonObject => ({
  upstream_inference_cost: closing.isByok
    ? usdOf(closing.promptCostNanoUsd + closing.completionCostNanoUsd)
    : null,
  upstream_inference_prompt_cost: usdOf(closing.promptCostNanoUsd),
  upstream_inference_completions_cost: usdOf(closing.completionCostNanoUsd),
})

/** The routing metadata under both of its names; nothing when the caller did not ask. */
export const viewMetadata = (metadata: RoutingMetadata | null): JsonObject =>
  metadata === null ? {} : { service_metadata: metadata, openrouter_metadata: metadata }
