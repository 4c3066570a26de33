import type { Attempt } from '../core/attempt.ts'
import type { ProviderPreferences } from '../core/request.ts'
import { isNamed } from './eligible.ts'

export type SortKey = 'price' | 'throughput' | 'latency' | 'exacto'

export interface OrderInput {
  preferences: ProviderPreferences
  sort: SortKey | undefined
  latencyMs(attempt: Attempt): number | null
  random(): number
}

/**
 * The order in which the endpoints of one model are tried: the caller's own list first, then by the asked sort,
 * else spread by price (an endpoint twice as dear gets a quarter of the first tries).
 */
export function ordered(attempts: Attempt[], input: OrderInput): Attempt[] {
  if (attempts.length < 2) return attempts
  const sorted = input.sort ? bySort(attempts, input.sort, input) : byWeight(attempts, input.random)
  const listed = listedFirst(sorted, input.preferences.order)
  if (input.preferences.allowFallbacks || input.preferences.order) return listed
  const first = listed[0]
  return listed.filter((attempt) => attempt.endpoint.id === first?.endpoint.id)
}

function listedFirst(attempts: Attempt[], order: readonly string[] | undefined): Attempt[] {
  if (!order) return attempts
  const rank = ({ provider }: Attempt): number => {
    const index = order.findIndex((name) => isNamed([name], provider))
    return index === -1 ? order.length : index
  }
  return [...attempts].sort((a, b) => rank(a) - rank(b))
}

/** Throughput and quality are not measured apart yet: the quickest first content stands for both. */
function bySort(attempts: Attempt[], sort: SortKey, { latencyMs }: OrderInput): Attempt[] {
  const unmeasuredLast = (attempt: Attempt): number => latencyMs(attempt) ?? Number.POSITIVE_INFINITY
  const value = sort === 'price' ? priceOf : unmeasuredLast
  return [...attempts].sort((a, b) => compare(value(a), value(b)))
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1)

/** A typical request is three parts prompt to one part answer. */
function priceOf({ endpoint: { pricing } }: Attempt): number {
  return pricing ? Number(pricing.prompt * 3n + pricing.completion + pricing.request / 1_000n) : 0
}

function byWeight(attempts: Attempt[], random: () => number): Attempt[] {
  const cheapest = Math.min(...attempts.map(priceOf))
  const weigh = (attempt: Attempt): number => {
    const price = priceOf(attempt)
    if (price === cheapest) return 1
    return cheapest === 0 ? 1e-6 : (cheapest / price) ** 2
  }
  // Efraimidis and Spirakis: sorting by u^(1/w) draws without replacement, by weight. One draw for each endpoint:
  // several credentials are no larger share, and stay in their own order.
  const keys = new Map<string, number>()
  for (const attempt of attempts) {
    if (!keys.has(attempt.endpoint.id)) keys.set(attempt.endpoint.id, random() ** (1 / weigh(attempt)))
  }
  const keyOf = ({ endpoint }: Attempt): number => keys.get(endpoint.id) ?? 0
  return [...attempts].sort((a, b) => keyOf(b) - keyOf(a))
}
