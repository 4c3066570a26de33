import { badRequest } from '../core/errors.ts'
import { defined } from '../core/json.ts'
import type { Cutoffs, ProviderPreferences } from '../core/request.ts'
import { withoutTrailing } from '../core/trailing.ts'
import type { ChatPreferences } from './routing-schema.ts'

/**
 * The body's `provider`, with slugs in lower case; an empty list or null is the same as none. The deprecated
 * `route` means a sort partition: `fallback` is `model`, `sort` is `none`; `provider.sort.partition` wins over it.
 */
export function readPreferences(
  provider: ChatPreferences | null | undefined,
  route: 'fallback' | 'sort' | null | undefined,
): ProviderPreferences {
  if (!provider) {
    const sortPartition = route ? PARTITION_OF[route] : undefined
    return { allowFallbacks: true, requireParameters: false, sortPartition }
  }
  const sort = typeof provider?.sort === 'string' ? { by: provider.sort } : provider?.sort
  const partition = sort && 'partition' in sort ? sort.partition : undefined
  return defined({
    order: slugsOf(provider?.order),
    only: slugsOf(provider?.only),
    ignore: slugsOf(provider?.ignore),
    allowFallbacks: provider?.allow_fallbacks ?? true,
    requireParameters: provider?.require_parameters ?? false,
    sort: sort?.by ?? undefined,
    sortPartition: partition ?? (route ? PARTITION_OF[route] : undefined),
    dataCollection: provider?.data_collection ?? undefined,
    zdr: provider?.zdr ?? undefined,
    quantizations: slugsOf(provider?.quantizations),
    maxPrice: readMaxPrice(provider?.max_price),
    enforceDistillableText: provider?.enforce_distillable_text ?? undefined,
    preferredMinThroughput: readCutoffs(provider?.preferred_min_throughput),
    preferredMaxLatency: readCutoffs(provider?.preferred_max_latency),
  })
}

const PARTITION_OF = { fallback: 'model', sort: 'none' } as const

const slugsOf = (slugs: readonly string[] | null | undefined): string[] | undefined =>
  slugs && slugs.length > 0 ? slugs.map((slug) => slug.toLowerCase()) : undefined

const PRICES = ['prompt', 'completion', 'image', 'audio', 'request'] as const

function readMaxPrice(prices: ChatPreferences['max_price']): ProviderPreferences['maxPrice'] {
  if (!prices) return undefined
  const read: NonNullable<ProviderPreferences['maxPrice']> = {}
  for (const name of PRICES) {
    const price = prices[name]
    if (price === null || price === undefined) continue
    const decimal = typeof price === 'number' ? decimalOf(price) : price
    if (!/^\d{1,9}(\.\d{1,18})?$/.test(decimal)) {
      throw badRequest(
        'must be USD as a number, or as a plain decimal string such as "0.5"',
        `provider.max_price.${name}`,
      )
    }
    read[name] = decimal
  }
  return Object.keys(read).length === 0 ? undefined : read
}

/** Without an exponent: JSON writes 0.0000001 as 1e-7. */
function decimalOf(number: number): string {
  const text = String(number)
  return text.includes('e-') ? withoutTrailing(withoutTrailing(number.toFixed(18), '0'), '.') : text
}

function readCutoffs(cutoffs: ChatPreferences['preferred_min_throughput']): Cutoffs | undefined {
  if (cutoffs === null || cutoffs === undefined) return undefined
  if (typeof cutoffs === 'number') return { p50: cutoffs }
  const { p50, p75, p90, p99 } = cutoffs
  return defined({
    p50: p50 ?? undefined,
    p75: p75 ?? undefined,
    p90: p90 ?? undefined,
    p99: p99 ?? undefined,
  })
}
