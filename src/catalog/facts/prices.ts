import { isObject } from '../../core/json.ts'
import { withoutTrailing } from '../../core/trailing.ts'
import type { SeedPricing } from '../seed.ts'

/** USD per million tokens in the metadata → the API's bucket, USD per token. The first present name counts. */
export const TOKEN_BUCKETS = [
  ['prompt', ['input']],
  ['completion', ['output']],
  ['input_cache_read', ['cache_read', 'cached_input', 'cache_input']],
  ['input_cache_write', ['cache_write', 'cached_write']],
  ['internal_reasoning', ['reasoning']],
  // A name of our own supplement.
  ['image_token', ['input_image']],
  ['audio', ['input_audio']],
  ['audio_output', ['output_audio']],
] as const

/** Null: no price in the metadata, which is not the same as free. */
export function pricingOf(cost: Readonly<Record<string, unknown>> | null): SeedPricing | null {
  if (cost === null) return null
  const prices = tokenPrices(cost)
  if (prices.prompt === undefined || prices.completion === undefined) return null
  // Perplexity's request fee is USD per thousand requests in the facts.
  const request = perUnit(cost['request'], 3)
  // Names of our own supplement: USD per second, and per million characters.
  const audio_second = perUnit(cost['audio_second'], 0)
  const input_character = perUnit(cost['input_character'], 6)
  const tiers = tiersOf(cost)
  return {
    ...prices,
    prompt: prices.prompt,
    completion: prices.completion,
    ...(request === undefined ? {} : { request }),
    ...(audio_second === undefined ? {} : { audio_second }),
    ...(input_character === undefined ? {} : { input_character }),
    ...(tiers.length === 0 ? {} : { tiers }),
  }
}

function tokenPrices(cost: Readonly<Record<string, unknown>>): Partial<SeedPricing> {
  const prices: Record<string, string> = {}
  for (const [bucket, names] of TOKEN_BUCKETS) {
    const name = names.find((candidate) => cost[candidate] !== undefined)
    const price = name === undefined ? undefined : perUnit(cost[name], 6)
    if (price !== undefined) prices[bucket] = price
  }
  return prices
}

/** A tier applies to prompts of more tokens than its size; `minPromptTokens` is one more. */
function tiersOf(cost: Readonly<Record<string, unknown>>): NonNullable<SeedPricing['tiers']> {
  const listed = Array.isArray(cost['tiers']) ? cost['tiers'].filter(isObject) : []
  const rows = listed.flatMap((row) => {
    const size = isObject(row['tier']) ? row['tier']['size'] : undefined
    return typeof size === 'number' && Number.isInteger(size) && size > 0 ? [{ size, row }] : []
  })
  const over = cost['context_over_200k']
  if (rows.length === 0 && isObject(over)) rows.push({ size: 200_000, row: over })
  return rows
    .sort((left, right) => left.size - right.size)
    .map(({ size, row }) => ({ min_prompt_tokens: size + 1, ...tierPrices(row) }))
}

function tierPrices(row: Readonly<Record<string, unknown>>): Partial<SeedPricing> {
  const { prompt, completion, input_cache_read, input_cache_write } = tokenPrices(row)
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(completion === undefined ? {} : { completion }),
    ...(input_cache_read === undefined ? {} : { input_cache_read }),
    ...(input_cache_write === undefined ? {} : { input_cache_write }),
  }
}

const PRICE_DECIMALS = 18

/**
 * A JSON number divided by a power of ten, as an exact plain decimal: the digits are moved, nothing is computed. More
 * than 12 significant digits come from floating-point arithmetic (0.8999999999999999) and are rounded, as are digits
 * below the smallest price. Undefined for a value that is not a price (negative, not finite, not a number).
 */
export function perUnit(value: unknown, powerOfTen: number): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return undefined
  const rounded = Number(Number(value.toPrecision(12)).toFixed(PRICE_DECIMALS - powerOfTen))
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(rounded))
  if (match === null) return undefined
  const [, whole = '0', fraction = '', exponent = '0'] = match
  const point = whole.length + Number(exponent) - powerOfTen
  const digits = whole + fraction
  const padded = point < 0 ? '0'.repeat(-point) + digits : digits.padEnd(point, '0')
  const at = Math.max(0, point)
  const integer = padded.slice(0, at).replace(/^0+(?=\d)/, '') || '0'
  const decimals = withoutTrailing(padded.slice(at), '0')
  return decimals === '' ? integer : `${integer}.${decimals}`
}
