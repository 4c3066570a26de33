import { formatPrice, parsePrice } from '../../core/money.ts'
import type { WrittenPrices } from '../../core/pricing.ts'
import type { SeedPricing, SeedServiceTier, SeedTier } from '../seed.ts'

/** Prices of a service tier, as a fraction of the usual ones. The longest `model` that an id starts with applies. */
interface TierRule {
  readonly model: string
  readonly factor: readonly [numerator: bigint, denominator: bigint]
  /** Prices that the vendor rounds. */
  readonly rounded?: WrittenPrices
}

interface VendorTiers {
  readonly flex: readonly TierRule[]
  readonly priority: readonly TierRule[]
  /** False: most of a cache write's price is storage, which no tier changes. */
  readonly scalesCacheWrites: boolean
}

const HALF = [1n, 2n] as const
const DOUBLE = [2n, 1n] as const

/**
 * Sources: LiteLLM's model_prices_and_context_window.json of 2026-07-24, and for OpenAI's priority tier a copy of
 * openai.com/api-priority-processing (summer 2026); `bun run check:prices` compares both. Where they differ (gpt-5.5), the
 * vendor's page holds. Google's price page was not compared. Models of a family without a row get its factor.
 */
const OPENAI: VendorTiers = {
  scalesCacheWrites: true,
  flex: [
    { model: 'openai/gpt-5', factor: HALF },
    { model: 'openai/o3', factor: HALF },
    { model: 'openai/o4-mini', factor: HALF },
    { model: 'openai/gpt-5.4', factor: HALF, rounded: { input_cache_read: '0.00000013' } },
    { model: 'openai/gpt-5.4-', factor: HALF },
  ],
  priority: [
    { model: 'openai/gpt-5', factor: DOUBLE },
    { model: 'openai/gpt-5.5', factor: [5n, 2n] },
    { model: 'openai/gpt-5.5-', factor: DOUBLE },
    { model: 'openai/gpt-5-mini', factor: [9n, 5n] },
    { model: 'openai/gpt-5.1-codex-mini', factor: [9n, 5n] },
    { model: 'openai/gpt-4.1', factor: [7n, 4n] },
    { model: 'openai/gpt-4.1-nano', factor: DOUBLE },
    { model: 'openai/gpt-4o', factor: [17n, 10n] },
    { model: 'openai/gpt-4o-2024-05-13', factor: [7n, 4n] },
    { model: 'openai/gpt-4o-mini', factor: [5n, 3n] },
    { model: 'openai/o3', factor: [7n, 4n] },
    { model: 'openai/o4-mini', factor: [20n, 11n] },
  ],
}
const GOOGLE: VendorTiers = {
  scalesCacheWrites: false,
  flex: [
    { model: 'google/gemini-', factor: HALF },
    { model: 'google/gemini-3.5-flash-lite', factor: HALF, rounded: { input_cache_read: '0.00000002' } },
  ],
  priority: [
    { model: 'google/gemini-', factor: [9n, 5n] },
    { model: 'google/gemini-3.5-flash-lite', factor: [9n, 5n], rounded: { input_cache_read: '0.00000005' } },
  ],
}
const VENDORS: Readonly<Record<string, VendorTiers>> = {
  openai: OPENAI,
  google: GOOGLE,
  'google-vertex': GOOGLE,
}

/** The buckets that a tier changes. */
const BUCKETS = [
  'prompt',
  'completion',
  'image_token',
  'image_output',
  'audio',
  'audio_output',
  'input_cache_read',
  'input_cache_write',
  'internal_reasoning',
] as const

/** The same prices with those of the vendor's service tiers. Models that cost nothing have no tiers. */
export function withServiceTiers(provider: string, modelId: string, pricing: SeedPricing): SeedPricing {
  const vendor = Object.hasOwn(VENDORS, provider) ? VENDORS[provider] : undefined
  if (vendor === undefined || (pricing.prompt === '0' && pricing.completion === '0')) return pricing
  const { scalesCacheWrites } = vendor
  const flex = tierOf(ruleFor(modelId, vendor.flex), pricing, scalesCacheWrites)
  const priority = tierOf(ruleFor(modelId, vendor.priority), pricing, scalesCacheWrites)
  if (flex === undefined && priority === undefined) return pricing
  return { ...pricing, service_tiers: { ...(flex && { flex }), ...(priority && { priority }) } }
}

const ruleFor = (modelId: string, rules: readonly TierRule[]): TierRule | undefined =>
  rules
    .filter(({ model }) => modelId.startsWith(model))
    .sort((left, right) => right.model.length - left.model.length)[0]

function tierOf(
  rule: TierRule | undefined,
  pricing: SeedPricing,
  scalesCacheWrites: boolean,
): SeedServiceTier | undefined {
  if (rule === undefined) return undefined
  const tiers = pricing.tiers?.map(
    (tier): SeedTier => ({ ...tier, ...scaled(tier, rule, scalesCacheWrites) }),
  )
  return { ...scaled(pricing, rule, scalesCacheWrites), ...rule.rounded, ...(tiers && { tiers }) }
}

function scaled(
  prices: WrittenPrices,
  { factor: [numerator, denominator] }: TierRule,
  scalesCacheWrites: boolean,
): WrittenPrices {
  const written: Partial<Record<(typeof BUCKETS)[number], string>> = {}
  for (const bucket of BUCKETS) {
    const price = prices[bucket]
    if (price === undefined || (bucket === 'input_cache_write' && !scalesCacheWrites)) continue
    // Rounded up to the smallest price.
    const product = parsePrice(price) * numerator
    written[bucket] = formatPrice((product + denominator - 1n) / denominator)
  }
  return written
}
