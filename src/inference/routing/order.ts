import type { Attempt } from '../../core/attempt.ts'
import type { EndpointMeasurements, Percentiles } from '../../core/measurements.ts'
import type { Cutoffs, ProviderPreferences } from '../../core/request.ts'
import { rankIn } from './endpoint-tags.ts'

export type SortKey = 'price' | 'throughput' | 'latency' | 'exacto'

export interface OrderInput {
  preferences: ProviderPreferences
  sort: SortKey | undefined
  latencyMs(attempt: Attempt): number | null
  measured?(endpointId: string): EndpointMeasurements | null
  random(): number
}

/**
 * Orders the endpoints of one model, or of several models that are sorted together: first by the caller's
 * `provider.order`, then by its preferred throughput and latency, then by its `sort`. Without a `sort`, requests are
 * distributed by inverse square of the price: an endpoint at twice the price gets a quarter of the first attempts.
 */
export function ordered(attempts: Attempt[], input: OrderInput): Attempt[] {
  if (attempts.length < 2) return attempts
  const sorted = input.sort ? bySort(attempts, input.sort, input) : byWeight(attempts, input.random)
  const listed = byokKeysFirst(listedFirst(preferredFirst(sorted, input), input.preferences.order), input)
  if (input.preferences.allowFallbacks || input.preferences.order) return listed
  const first = listed[0]
  return listed.filter((attempt) => attempt.endpoint.id === first?.endpoint.id)
}

/**
 * BYOK keys come before the gateway's credentials regardless of provider preferences; those marked as fallback come last.
 * Without preferences, BYOK keys are tried in the workspace's order.
 */
function byokKeysFirst(attempts: Attempt[], { preferences, sort }: OrderInput): Attempt[] {
  if (attempts.every(({ byokKey }) => byokKey === undefined)) return attempts
  const rank = ({ byokKey }: Attempt): number => (byokKey === undefined ? 1 : byokKey.isFallback ? 2 : 0)
  const hasWish = sort !== undefined || preferences.order !== undefined
  const own = ({ byokKey }: Attempt): number => (hasWish || byokKey === undefined ? 0 : byokKey.sortOrder)
  return [...attempts].sort((a, b) => rank(a) - rank(b) || own(a) - own(b))
}

function listedFirst(attempts: Attempt[], order: readonly string[] | undefined): Attempt[] {
  if (!order) return attempts
  const rank = ({ provider, endpoint }: Attempt): number => rankIn(order, provider, endpoint)
  return [...attempts].sort((a, b) => rank(a) - rank(b))
}

/** Endpoints that meet the preferences, then unmeasured ones, then slower ones. */
function preferredFirst(attempts: Attempt[], { preferences, measured }: OrderInput): Attempt[] {
  const { preferredMinThroughput: speeds, preferredMaxLatency: seconds } = preferences
  if (!speeds && !seconds) return attempts
  const rank = ({ endpoint }: Attempt): number => {
    const known = measured?.(endpoint.id) ?? null
    const isQuick = isWithin(known?.tokensPerSecond ?? null, speeds, (value, least) => value >= least)
    const isPrompt = isWithin(known?.latencyMs ?? null, seconds, (value, most) => value <= most * 1_000)
    if (isQuick === false || isPrompt === false) return 2
    return isQuick === null || isPrompt === null ? 1 : 0
  }
  return [...attempts].sort((a, b) => rank(a) - rank(b))
}

/** Null if the endpoint has not been measured. */
function isWithin(
  measured: Percentiles | null,
  cutoffs: Cutoffs | undefined,
  passes: (value: number, bound: number) => boolean,
): boolean | null {
  if (!cutoffs) return true
  if (measured === null) return null
  return PERCENTS.every((percent) => {
    const bound = cutoffs[percent]
    return bound === undefined || passes(measured[percent], bound)
  })
}
const PERCENTS = ['p50', 'p75', 'p90', 'p99'] as const

/** Unmeasured endpoints come last. Quality is not measured, so `exacto` sorts by the time to the first content. */
function bySort(attempts: Attempt[], sort: SortKey, { latencyMs, measured }: OrderInput): Attempt[] {
  const slowness = ({ endpoint }: Attempt): number =>
    -(measured?.(endpoint.id)?.tokensPerSecond?.p50 ?? Number.NEGATIVE_INFINITY)
  const lateness = (attempt: Attempt): number => latencyMs(attempt) ?? Number.POSITIVE_INFINITY
  if (sort === 'price') return [...attempts].sort((a, b) => compare(priceOf(a), priceOf(b)))
  const byLateness = [...attempts].sort((a, b) => compare(lateness(a), lateness(b)))
  return sort === 'throughput' ? byLateness.sort((a, b) => compare(slowness(a), slowness(b))) : byLateness
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1)

/** Assumes three prompt tokens per completion token. */
function priceOf({ endpoint: { pricing } }: Attempt): number {
  if (!pricing) return 0
  const { request, image = 0n, audioSecond = 0n, inputCharacter = 0n } = pricing
  const perThing = (request + image) / 1_000n + audioSecond / 100n + inputCharacter
  return Number(pricing.prompt * 3n + pricing.completion + perThing)
}

function byWeight(attempts: Attempt[], random: () => number): Attempt[] {
  const cheapest = Math.min(...attempts.map(priceOf))
  const weigh = (attempt: Attempt): number => {
    const price = priceOf(attempt)
    if (price === cheapest) return 1
    return cheapest === 0 ? 1e-6 : (cheapest / price) ** 2
  }
  // Efraimidis and Spirakis: sorting by u^(1/w) is a weighted draw without replacement. One draw per endpoint, so that
  // several credentials do not increase its share and keep their order.
  const keys = new Map<string, number>()
  for (const attempt of attempts) {
    if (!keys.has(attempt.endpoint.id)) keys.set(attempt.endpoint.id, random() ** (1 / weigh(attempt)))
  }
  const keyOf = ({ endpoint }: Attempt): number => keys.get(endpoint.id) ?? 0
  return [...attempts].sort((a, b) => keyOf(b) - keyOf(a))
}
