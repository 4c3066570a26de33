import type { JsonObject } from '../../core/events.ts'
import { asNumber, defined, fieldsOf, isString, isText, objectsIn } from '../../core/json.ts'
import type { Closing } from '../../core/result.ts'
import { completionTokens, promptTokens, type Usage } from '../../core/usage.ts'
import { bucketsOf, countReader, tokenCount, viewCost } from '../usage.ts'

/**
 * `usageMetadata` in disjoint buckets, in tokens:
 *
 * | Google's | ours |
 * |---|---|
 * | `promptTokenCount` + `toolUsePromptTokenCount` | all input, cached included |
 * | `cachedContentTokenCount` (inside the prompt) | cache read |
 * | `promptTokensDetails` AUDIO, IMAGE, without their cached part | audio in, image in |
 * | `candidatesTokenCount`, by `candidatesTokensDetails` | output, audio out, image out |
 * | `thoughtsTokenCount` (outside the candidates) | reasoning |
 *
 * Every chunk repeats it. Undefined if it counts nothing (Vertex: `{trafficType}`).
 */
export function readUsage(raw: unknown): Usage | undefined {
  const fields = fieldsOf(raw)
  const counts = countsOf(fields)
  const { input, output, total, reasoning = 0 } = counts
  if (input === undefined && output === undefined && total === undefined) return undefined
  // Embeddings have the second name (recorded 2026).
  const prompt = byModality(fields['promptTokensDetails'] ?? fields['promptTokenDetails'])
  const cached = byModality(fields['cacheTokensDetails'])
  const candidates = byModality(fields['candidatesTokensDetails'])
  counts.output = (output ?? 0) + reasoning
  counts.audioInput = Math.max(0, prompt.audio - cached.audio)
  counts.imageInput = Math.max(0, prompt.image - cached.image)
  counts.audioOutput = candidates.audio
  counts.imageOutput = candidates.image
  const usage = bucketsOf(counts)
  usage.inputTokens += tokenCount(fields['toolUsePromptTokenCount']) ?? 0
  return usage
}

/** Vertex reports the tier as the kind of traffic. */
const TRAFFIC_TIERS = new Map<unknown, string>([
  ['ON_DEMAND_FLEX', 'flex'],
  ['ON_DEMAND_PRIORITY', 'priority'],
])

/** `serviceTier` of `usageMetadata`; Google writes it in lower case, its libraries in upper case too. */
export function readServiceTier({ serviceTier, trafficType }: JsonObject): string | undefined {
  return isText(serviceTier) ? serviceTier.toLowerCase() : TRAFFIC_TIERS.get(trafficType)
}

const countsOf = countReader([
  ['input', 'promptTokenCount'],
  ['output', 'candidatesTokenCount'],
  ['total', 'totalTokenCount'],
  ['cacheRead', 'cachedContentTokenCount'],
  ['reasoning', 'thoughtsTokenCount'],
])

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
