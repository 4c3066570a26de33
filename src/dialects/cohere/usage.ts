import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'

/**
 * `usage` in tokens. `billed_units` is what Cohere charges for, at its price per token; `tokens` counts its own
 * instructions to the model too (1,394 for a prompt of 8, recorded 2026) and is read only where nothing was billed by
 * name. `cached_tokens` is a part of those, so beside billed units it says nothing about money.
 */
export function readUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const billed = isObject(raw['billed_units']) ? raw['billed_units'] : {}
  if (count(billed['input_tokens']) !== undefined || count(billed['output_tokens']) !== undefined) {
    return usageOf(billed, 0)
  }
  const tokens = isObject(raw['tokens']) ? raw['tokens'] : {}
  if (count(tokens['input_tokens']) === undefined && count(tokens['output_tokens']) === undefined) {
    return undefined
  }
  return usageOf(tokens, count(raw['cached_tokens']) ?? 0)
}

function usageOf(counts: JsonObject, cached: number): Usage {
  const input = count(counts['input_tokens']) ?? 0
  const images = count(counts['image_tokens']) ?? 0
  const cacheReadTokens = Math.min(cached, input)
  return {
    ...NO_USAGE,
    inputTokens: input - cacheReadTokens,
    cacheReadTokens,
    imageInputTokens: images,
    outputTokens: count(counts['output_tokens']) ?? 0,
  }
}

/** A whole number of tokens; anything else was not told. */
const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? Math.min(Math.round(value), Number.MAX_SAFE_INTEGER)
    : undefined
