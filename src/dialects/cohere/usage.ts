import { fieldsOf } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { bucketsOf, countReader, tokenCount } from '../usage.ts'

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
  const counts = countsOf(fieldsOf(raw))
  const { input, output, imageInput = 0 } = counts
  if (input === undefined && output === undefined) return undefined
  counts.cacheRead = Math.min(cached, input ?? 0)
  counts.input = (input ?? 0) + imageInput
  return bucketsOf(counts)
}

const countsOf = countReader([
  ['input', 'input_tokens'],
  ['output', 'output_tokens'],
  ['imageInput', 'image_tokens'],
])
