import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { usdOf } from '../../core/money.ts'
import type { Closing, RoutingMetadata } from '../../core/result.ts'
import { completionTokens, promptTokens, type Usage } from '../../core/usage.ts'

/**
 * Usage as OpenAI counts it: prompt and completion tokens inclusive (cache reads and writes, reasoning), the parts
 * in the details; `cost` in USD with at most 9 decimals.
 */
export function viewUsage(closing: Closing): JsonObject {
  const { usage } = closing
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  const native = nativeOf(usage)
  const view: JsonObject = native === undefined ? {} : withoutDetails(native)
  view.prompt_tokens = prompt
  view.completion_tokens = completion
  view.total_tokens = prompt + completion
  view.prompt_tokens_details = viewPrompt(usage, native?.prompt_tokens_details)
  view.completion_tokens_details = viewCompletion(usage, native?.completion_tokens_details)
  view.cost = usdOf(closing.costNanoUsd)
  view.is_byok = closing.isByok
  view.cost_details = viewCost(closing)
  if (usage.webSearchRequests !== undefined)
    view.server_tool_use_details = { web_search_requests: usage.webSearchRequests }
  return view
}

function viewPrompt(usage: Usage, native: unknown): JsonObject {
  const view: JsonObject = isObject(native) ? { ...native } : {}
  view.cached_tokens = usage.cacheReadTokens
  view.cache_write_tokens = usage.cacheWriteTokens
  view.audio_tokens = usage.audioInputTokens
  if (usage.imageInputTokens) view.image_tokens = usage.imageInputTokens
  return view
}

function viewCompletion(usage: Usage, native: unknown): JsonObject {
  const view: JsonObject = isObject(native) ? { ...native } : {}
  const { acceptedPredictionTokens: accepted, rejectedPredictionTokens: rejected } = usage
  view.reasoning_tokens = usage.reasoningTokens
  view.audio_tokens = usage.audioOutputTokens
  if (usage.imageOutputTokens) view.image_tokens = usage.imageOutputTokens
  if (accepted !== undefined) view.accepted_prediction_tokens = accepted
  if (rejected !== undefined) view.rejected_prediction_tokens = rejected
  return view
}

function withoutDetails({
  prompt_tokens_details,
  completion_tokens_details,
  ...native
}: JsonObject): JsonObject {
  return native
}

const nativeOf = ({ native }: Usage): JsonObject | undefined =>
  native?.dialect === 'chat' ? native.fields : undefined

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
