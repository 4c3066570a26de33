import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'

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
