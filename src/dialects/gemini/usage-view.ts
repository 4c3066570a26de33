import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, isString } from '../../core/json.ts'
import { usdOf } from '../../core/money.ts'
import type { Closing } from '../../core/result.ts'
import { completionTokens, promptTokens, type Usage } from '../../core/usage.ts'

/**
 * Usage as Google counts it: `promptTokenCount` with what was read from a cache, thoughts outside the candidates. What
 * Google itself said beside it (`told`: details by modality, traffic type) is kept.
 */
export function viewUsage({ usage, ...closing }: Closing, told: JsonObject = {}): JsonObject {
  return {
    ...told,
    ...viewTokens(usage, told),
    ...(closing.serviceTier === null || isString(told.serviceTier)
      ? {}
      : { serviceTier: closing.serviceTier === 'default' ? 'standard' : closing.serviceTier }),
    cost: usdOf(closing.costNanoUsd),
    is_byok: closing.isByok,
    cost_details: {
      upstream_inference_cost: closing.isByok
        ? usdOf(closing.promptCostNanoUsd + closing.completionCostNanoUsd)
        : null,
      upstream_inference_prompt_cost: usdOf(closing.promptCostNanoUsd),
      upstream_inference_completions_cost: usdOf(closing.completionCostNanoUsd),
    },
  }
}

function viewTokens(usage: Usage, told: JsonObject): JsonObject {
  const prompt = promptTokens(usage)
  const output = completionTokens(usage)
  // Google counts the prompts of its own tools apart, and we with the input.
  const ofTools = typeof told.toolUsePromptTokenCount === 'number' ? told.toolUsePromptTokenCount : 0
  return {
    promptTokenCount: Math.max(0, prompt - ofTools),
    candidatesTokenCount: output - usage.reasoningTokens,
    totalTokenCount: prompt + output,
    ...defined({
      cachedContentTokenCount: usage.cacheReadTokens || undefined,
      thoughtsTokenCount: usage.reasoningTokens || undefined,
    }),
    ...modalities(usage, prompt, told),
  }
}

/** By modality where it is not text alone, unless Google has said it. */
function modalities(usage: Usage, prompt: number, told: JsonObject): JsonObject {
  const { audioInputTokens: audio, imageInputTokens: image } = usage
  if (Array.isArray(told.promptTokensDetails) || audio + image === 0) return {}
  const counts = [
    ['TEXT', prompt - audio - image],
    ['AUDIO', audio],
    ['IMAGE', image],
  ] as const
  return {
    promptTokensDetails: counts.flatMap(([modality, tokenCount]) =>
      tokenCount > 0 ? [{ modality, tokenCount }] : [],
    ),
  }
}

/**
 * The routing metadata under both of its names; nothing when the caller did not ask. `lost`: what the reply had and
 * this dialect has no place for.
 */
export function viewMetadata(metadata: Closing['serviceMetadata'], lost: readonly string[]): JsonObject {
  if (metadata === null) return {}
  const told = lost.length === 0 ? metadata : { ...metadata, params: withLost(metadata.params, lost) }
  return { service_metadata: told, openrouter_metadata: told }
}

function withLost(params: JsonObject | undefined, lost: readonly string[]): JsonObject {
  const former = isObject(params) ? params.dropped_parameters : undefined
  return { ...params, dropped_parameters: [...(Array.isArray(former) ? former : []), ...lost] }
}
