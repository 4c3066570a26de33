import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, isString } from '../../core/json.ts'
import { usdOf } from '../../core/money.ts'
import type { Closing } from '../../core/result.ts'
import { completionTokens, NO_USAGE, promptTokens, type Usage } from '../../core/usage.ts'

/**
 * `usageMetadata` in disjoint buckets, in tokens:
 *
 * | Google's | ours |
 * |---|---|
 * | `promptTokenCount` + `toolUsePromptTokenCount` | all input, cached included |
 * | `cachedContentTokenCount` (inside the prompt) | cache read |
 * | `promptTokensDetails` AUDIO, IMAGE, less what of them was cached | audio in, image in |
 * | `candidatesTokenCount`, by `candidatesTokensDetails` | output, audio out, image out |
 * | `thoughtsTokenCount` (outside the candidates) | reasoning |
 *
 * Every chunk tells it anew. Undefined where it counts nothing (Vertex: `{trafficType}`).
 */
export function readUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const prompt = countOf(raw['promptTokenCount'])
  const candidates = countOf(raw['candidatesTokenCount'])
  const total = countOf(raw['totalTokenCount'])
  if (prompt === undefined && candidates === undefined && total === undefined) return undefined
  const thoughts = countOf(raw['thoughtsTokenCount']) ?? 0
  return {
    ...NO_USAGE,
    ...inputOf(raw, prompt ?? 0),
    ...outputOf(raw, candidates ?? 0),
    reasoningTokens: thoughts,
  }
}

function inputOf(raw: JsonObject, prompt: number) {
  const cached = Math.min(countOf(raw['cachedContentTokenCount']) ?? 0, prompt)
  const ofTools = countOf(raw['toolUsePromptTokenCount']) ?? 0
  const all = byModality(raw['promptTokensDetails'])
  const fromCache = byModality(raw['cacheTokensDetails'])
  let left = prompt - cached
  const take = (wanted: number): number => {
    const taken = Math.min(Math.max(0, wanted), left)
    left -= taken
    return taken
  }
  const audioInputTokens = take(all.audio - fromCache.audio)
  const imageInputTokens = take(all.image - fromCache.image)
  return { inputTokens: left + ofTools, cacheReadTokens: cached, audioInputTokens, imageInputTokens }
}

function outputOf(raw: JsonObject, candidates: number) {
  const details = byModality(raw['candidatesTokensDetails'])
  const audioOutputTokens = Math.min(details.audio, candidates)
  const imageOutputTokens = Math.min(details.image, candidates - audioOutputTokens)
  const outputTokens = candidates - audioOutputTokens - imageOutputTokens
  return { outputTokens, audioOutputTokens, imageOutputTokens }
}

/** Vertex writes modalities as numbers too: 2 is IMAGE, 4 is AUDIO. */
function byModality(details: unknown): { audio: number; image: number } {
  const sums = { audio: 0, image: 0 }
  for (const detail of Array.isArray(details) ? details : []) {
    if (!isObject(detail)) continue
    const { modality, tokenCount } = detail
    const count = countOf(tokenCount) ?? 0
    if (modality === 'AUDIO' || modality === 4) sums.audio += count
    if (modality === 'IMAGE' || modality === 2) sums.image += count
  }
  return sums
}

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

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
