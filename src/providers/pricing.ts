import { type Pricing, parsePrices } from '../core/pricing.ts'
import type { ConfigProblem } from '../core/problem.ts'

/**
 * Reads prices as an operator wrote them. A bucket without a price is never silently free: `completion` falls back to
 * `prompt`, and without `prompt` there must be a price per request, image, second or character.
 */
export function readPricing(
  written: Parameters<typeof parsePrices>[0],
  path: string,
  problems: ConfigProblem[],
): Pricing | null {
  const prices = parsePrices(written, (name, error) => {
    const message = error instanceof RangeError ? error.message : 'is not a price'
    problems.push({ path: `${path}.${name}`, message })
  })
  const { request, image, imageOutput, audioSecond, inputCharacter } = prices
  const perUnit = [request, image, imageOutput, audioSecond, inputCharacter]
  const isPerUnit = perUnit.some((price) => price !== undefined)
  const prompt = prices.prompt ?? (isPerUnit ? 0n : undefined)
  if (prompt === undefined) {
    if (written.prompt === undefined) {
      problems.push({ path: `${path}.prompt`, message: 'is missing; write "0" for what costs nothing' })
    }
    return null
  }
  return { ...prices, prompt, completion: prices.completion ?? prompt, request: request ?? 0n }
}
