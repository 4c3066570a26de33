import type { JsonObject } from '../../core/events.ts'
import { asNumber, defined, fieldsOf, isString, objectsIn } from '../../core/json.ts'
import type { Closing } from '../../core/result.ts'
import { completionTokens, NO_USAGE, promptTokens, type Usage } from '../../core/usage.ts'
import { remainder, tokenCount, viewCost } from '../usage.ts'

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
 * Every chunk repeats it. Undefined if it counts nothing (Vertex: `{trafficType}`).
 */
export function readUsage(raw: unknown): Usage | undefined {
  const fields = fieldsOf(raw)
  const prompt = tokenCount(fields['promptTokenCount'])
  const candidates = tokenCount(fields['candidatesTokenCount'])
  const total = tokenCount(fields['totalTokenCount'])
  if (prompt === undefined && candidates === undefined && total === undefined) return undefined
  return {
    ...NO_USAGE,
    ...inputOf(fields, prompt ?? 0),
    ...outputOf(fields, candidates ?? 0),
    reasoningTokens: tokenCount(fields['thoughtsTokenCount']) ?? 0,
  }
}

function inputOf(raw: JsonObject, prompt: number) {
  const all = byModality(raw['promptTokensDetails'])
  const fromCache = byModality(raw['cacheTokensDetails'])
  const { take, rest } = remainder(prompt)
  const cacheReadTokens = take(tokenCount(raw['cachedContentTokenCount']))
  const audioInputTokens = take(all.audio - fromCache.audio)
  const imageInputTokens = take(all.image - fromCache.image)
  const inputTokens = rest() + (tokenCount(raw['toolUsePromptTokenCount']) ?? 0)
  return { inputTokens, cacheReadTokens, audioInputTokens, imageInputTokens }
}

function outputOf(raw: JsonObject, candidates: number) {
  const { audio, image } = byModality(raw['candidatesTokensDetails'])
  const { take, rest } = remainder(candidates)
  const audioOutputTokens = take(audio)
  const imageOutputTokens = take(image)
  return { outputTokens: rest(), audioOutputTokens, imageOutputTokens }
}

/** Vertex writes modalities as numbers too: 2 is IMAGE, 4 is AUDIO. */
function byModality(details: unknown): { audio: number; image: number } {
  const sums = { audio: 0, image: 0 }
  for (const { modality, tokenCount: count } of objectsIn(details)) {
    if (modality === 'AUDIO' || modality === 4) sums.audio += tokenCount(count) ?? 0
    if (modality === 'IMAGE' || modality === 2) sums.image += tokenCount(count) ?? 0
  }
  return sums
}

/**
 * Usage as Google counts it: `promptTokenCount` includes cache hits, and thoughts are outside the candidates. `native`:
 * what Google itself reported (details by modality, traffic type), which is kept.
 */
export const viewUsage = (closing: Closing, native: JsonObject = {}): JsonObject => ({
  ...native,
  ...viewTokens(closing.usage, native),
  ...(closing.serviceTier === null || isString(native.serviceTier)
    ? {}
    : { serviceTier: closing.serviceTier === 'default' ? 'standard' : closing.serviceTier }),
  ...viewCost(closing),
})

function viewTokens(usage: Usage, native: JsonObject): JsonObject {
  const prompt = promptTokens(usage)
  const output = completionTokens(usage)
  // Google counts the prompts of its own tools apart, and we with the input.
  const ofTools = asNumber(native.toolUsePromptTokenCount) ?? 0
  return {
    promptTokenCount: Math.max(0, prompt - ofTools),
    candidatesTokenCount: output - usage.reasoningTokens,
    totalTokenCount: prompt + output,
    ...defined({
      cachedContentTokenCount: usage.cacheReadTokens || undefined,
      thoughtsTokenCount: usage.reasoningTokens || undefined,
    }),
    ...modalities(usage, prompt, native),
  }
}

/** The prompt by modality, unless it is text alone or Google reported the details. */
function modalities(usage: Usage, prompt: number, native: JsonObject): JsonObject {
  const { audioInputTokens: audio, imageInputTokens: image } = usage
  if (Array.isArray(native.promptTokensDetails) || audio + image === 0) return {}
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
