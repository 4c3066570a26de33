import { formatPrice, parsePrice } from '../../core/money.ts'
import { ANTHROPIC_CACHE_PRICES } from '../../providers/vendor-quirks.ts'
import type { SeedPricing } from '../seed.ts'

/** True where prompt caches are billed by Anthropic's rule: Claude, at Anthropic and at the clouds that sell it. */
export const followsAnthropic = (provider: string, modelId: string): boolean =>
  ANTHROPIC_CACHE_PRICES.includes(provider) && modelId.startsWith('anthropic/claude-')

/**
 * The same with what writing for an hour costs, in each tier by its own prices. The facts have the price of five minutes
 * alone. By Anthropic's rule that is 1.25 times the input's, and an hour's 2 times: if the first does not hold
 * exactly, the second is not known to, and nothing is added.
 */
export function withHourWrites({ tiers, ...prices }: SeedPricing): SeedPricing {
  return {
    ...prices,
    ...hourWrites(prices),
    ...(tiers === undefined ? {} : { tiers: tiers.map((tier) => ({ ...tier, ...hourWrites(tier) })) }),
  }
}

type Written = Pick<Partial<SeedPricing>, 'prompt' | 'input_cache_write' | 'input_cache_write_1h'>

function hourWrites({ prompt, input_cache_write }: Written): Pick<Written, 'input_cache_write_1h'> {
  if (prompt === undefined || input_cache_write === undefined) return {}
  const input = parsePrice(prompt)
  if (parsePrice(input_cache_write) * 4n !== input * 5n) return {}
  return { input_cache_write_1h: formatPrice(input * 2n) }
}
