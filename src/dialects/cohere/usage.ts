import { fieldsOf } from '../../core/json.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import { remainder, tokenCount } from '../usage.ts'

/**
 * `usage` in tokens. `billed_units` is what Cohere charges for, at its price per token. `tokens` includes Cohere's own
 * instructions to the model (1,394 for a prompt of 8, recorded 2026), so it counts only if nothing was billed by name.
 * `cached_tokens` is a part of `tokens` and changes nothing about the billed units.
 */
export function readUsage(raw: unknown): Usage | undefined {
  const { billed_units, tokens, cached_tokens } = fieldsOf(raw)
  return usageOf(billed_units, 0) ?? usageOf(tokens, tokenCount(cached_tokens) ?? 0)
}

function usageOf(raw: unknown, cached: number): Usage | undefined {
  const { input_tokens, output_tokens, image_tokens } = fieldsOf(raw)
  const [input, output] = [tokenCount(input_tokens), tokenCount(output_tokens)]
  if (input === undefined && output === undefined) return undefined
  const { take, rest } = remainder(input ?? 0)
  return {
    ...NO_USAGE,
    cacheReadTokens: take(cached),
    inputTokens: rest(),
    imageInputTokens: tokenCount(image_tokens) ?? 0,
    outputTokens: output ?? 0,
  }
}
