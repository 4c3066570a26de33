import type { Attempt } from '../../core/attempt.ts'
import type { Percentiles } from '../../core/measurements.ts'
import type { Cutoffs } from '../../core/request.ts'
import { byDraw, byValue, type Candidate, drawn, withFirst } from './candidates.ts'
import { rankIn } from './endpoint-tags.ts'
import { exploredFirst } from './explore.ts'
import { hasAll } from './needs.ts'
import type { PlanInput } from './plan-input.ts'
import { drawsOf, formerEndpoint } from './stickiness.ts'

export type SortKey = 'price' | 'throughput' | 'latency' | 'exacto' | 'context'

export interface OrderInput extends PlanInput {
  sort: SortKey | undefined
}

/**
 * Orders the endpoints of one model, or of several models that are sorted together: by tier (`tierOf`), then by `sort`.
 * Without a `sort`, requests are distributed by inverse square of the price: an endpoint at twice the price gets a quarter
 * of the first attempts. Endpoints of the first tier that are as good as the best share the requests.
 */
export function ordered(attempts: Attempt[], input: OrderInput): Attempt[] {
  if (attempts.length < 2) return attempts
  const { allowFallbacks, order } = input.request.preferences
  const candidates = drawn(attempts, drawsOf(input))
  for (const candidate of candidates) {
    candidate.tier = tierOf(candidate.attempt, input, input.sort !== undefined)
    if (input.sort) rate(candidate, input.sort, input)
  }
  const chosen = input.sort ? bySort(candidates, input.sort, input) : byPriceShare(candidates, input)
  const listed = chosen.map(({ attempt }) => attempt)
  if (allowFallbacks || order) return listed
  const first = listed[0]
  return listed.filter((attempt) => attempt.endpoint.id === first?.endpoint.id)
}

function byPriceShare(candidates: Candidate[], input: OrderInput): Candidate[] {
  candidates.sort(byDraw)
  return shared(candidates, countWhile(candidates, isInTierOf(candidates)), samePrice, input)
}

const samePrice = (one: Candidate, other: Candidate): boolean => one.price === other.price

/**
 * By the sort's figure, the best first. Of measured figures, those within 5 percent of the best are as good. An endpoint
 * without a figure, or with an old one, is first now and then: see `exploredFirst`.
 */
function bySort(candidates: Candidate[], sort: SortKey, input: OrderInput): Candidate[] {
  candidates.sort(byValue)
  const { level = 0, value = 0 } = candidates[0] ?? {}
  const isExact = sort === 'price' || sort === 'context'
  const most = isExact ? value : value * ALIKE
  const isInTier = isInTierOf(candidates)
  const alike = countWhile(candidates, (one) => isInTier(one) && one.level === level && one.value <= most)
  const chosen =
    alike < 2
      ? candidates
      : shared([...candidates.slice(0, alike).sort(byDraw), ...candidates.slice(alike)], alike, always, input)
  if (isExact || input.recent === undefined) return chosen
  return exploredFirst(chosen, countWhile(chosen, isInTier), input.recent, input.now)
}
const ALIKE = 1.05
const always = (): boolean => true

function isInTierOf([best]: readonly Candidate[]): (candidate: Candidate) => boolean {
  const tier = best?.tier
  return (candidate) => candidate.tier === tier
}

function countWhile(candidates: readonly Candidate[], passes: (candidate: Candidate) => boolean): number {
  const end = candidates.findIndex((candidate) => !passes(candidate))
  return end === -1 ? candidates.length : end
}

/**
 * Of the first `count` candidates, the endpoint that answered the conversation last is first; else the less loaded of the
 * first two, if they are alike.
 */
function shared(
  candidates: Candidate[],
  count: number,
  areAlike: (one: Candidate, other: Candidate) => boolean,
  input: OrderInput,
): Candidate[] {
  if (count < 2) return candidates
  const id = formerEndpoint(input)
  for (let index = 0; id !== undefined && index < count; index++) {
    const candidate = candidates[index]
    if (candidate?.attempt.endpoint.id === id) return withFirst(candidates, candidate)
  }
  return lessLoadedFirst(candidates, count, areAlike, input)
}

/** A difference below a quarter of the places counts as none: changing the endpoint loses the provider's prompt cache. */
function lessLoadedFirst(
  candidates: Candidate[],
  count: number,
  areAlike: (one: Candidate, other: Candidate) => boolean,
  { inFlight }: OrderInput,
): Candidate[] {
  const [one] = candidates
  if (inFlight === undefined || one === undefined) return candidates
  const { id } = one.attempt.endpoint
  const next = candidates.findIndex(({ attempt }) => attempt.endpoint.id !== id)
  const other = next < count ? candidates[next] : undefined
  if (other === undefined || !areAlike(one, other)) return candidates
  const loadOf = ({ attempt: { provider } }: Candidate): number =>
    inFlight(provider.slug) / provider.maxInFlight
  return loadOf(one) - loadOf(other) < CLEARLY_LESS ? candidates : withFirst(candidates, other)
}
const CLEARLY_LESS = 0.25

/** Sets the level and the value. */
function rate(candidate: Candidate, sort: SortKey, { recent, now }: OrderInput): void {
  if (sort === 'price') {
    candidate.value = candidate.price
    return
  }
  const { endpoint, model } = candidate.attempt
  if (sort === 'context') {
    candidate.value = 1 / (endpoint.contextLength ?? 1)
    return
  }
  const known = recent?.(endpoint.id)
  const speed = sort === 'throughput' ? (known?.tokensPerSecond.value() ?? null) : null
  if (speed !== null) {
    candidate.value = 1 / speed
    return
  }
  const latencyMs = known?.latencyMs.value() ?? null
  candidate.value = latencyMs ?? 0
  candidate.level = latencyMs === null ? 2 : sort === 'throughput' ? 1 : 0
  if (sort === 'exacto') {
    const prior = model.scores?.toolSuccessRate ?? USUAL_TOOL_SUCCESS
    const share = known?.toolCalls.value(now, prior) ?? prior
    candidate.level += 3 * (100 - Math.round(100 * share))
  }
}

/** By endpoint: from 0 to 1, the best is 1; see `AvailableEndpoint.score`. For the explanation of a plan. */
export function scoresOf(attempts: readonly Attempt[], input: OrderInput): Map<string, number> {
  const { sort } = input
  const candidates = drawn(attempts, () => 0.5)
  for (const candidate of candidates) if (sort) rate(candidate, sort, input)
  const best = Math.min(
    ...candidates.map((candidate) => figureOf(candidate, sort) ?? Number.POSITIVE_INFINITY),
  )
  const scores = new Map<string, number>()
  for (const candidate of candidates) {
    const { attempt, level } = candidate
    const figure = figureOf(candidate, sort)
    if (sort === 'exacto') scores.set(attempt.endpoint.id, 1 - Math.floor(level / 3) / 100)
    else if (figure !== null)
      scores.set(attempt.endpoint.id, figure === 0 ? 1 : Number((best / figure).toFixed(4)))
  }
  return scores
}

/** The smallest is the best; null: not measured. Without a sort, an endpoint at twice the price has a quarter of the weight. */
function figureOf({ price, level, value }: Candidate, sort: SortKey | undefined): number | null {
  if (sort === undefined) return price ** 2
  if (sort === 'price' || sort === 'context') return value
  return level > 0 ? null : value
}

/** Assumed of models without a benchmark. */
const USUAL_TOOL_SUCCESS = 0.95

/**
 * The tier of an attempt: every attempt of a smaller one comes before it, whatever the sort. In this order:
 * - BYOK keys before the gateway's credentials, those marked as fallback after them; without a sort or `provider.order`
 *   they are tried in the workspace's order
 * - the places of `provider.order`
 * - endpoints that meet the preferred throughput and latency, then unmeasured ones, then slower ones
 * - endpoints that are known to have all that the request needs, then those of which something is unknown
 */
function tierOf(attempt: Attempt, input: PlanInput, isSorted: boolean): number {
  const { endpoint, provider, byokKey } = attempt
  const { order } = input.request.preferences
  const isAble = input.needs === undefined || hasAll(attempt, input.needs)
  const listed = order === undefined ? 0 : rankIn(order, provider, endpoint)
  const within = (isAble ? 0 : 1) + 2 * preferredRank(attempt, input) + PREFERRED * listed
  if (byokKey === undefined) return within + BYOK_KEYS
  const place = isSorted || order !== undefined ? 0 : Math.min(byokKey.sortOrder, MOST_KEYS)
  return within + LISTED * place + (byokKey.isFallback ? 2 * BYOK_KEYS : 0)
}

/** How many tiers each part has, multiplied with those of the parts below it. */
const PREFERRED = 6
const LISTED = 1e6
const MOST_KEYS = 1e9 - 1
const BYOK_KEYS = LISTED * (MOST_KEYS + 1)

function preferredRank({ endpoint }: Attempt, { request, measured }: PlanInput): number {
  const { preferredMinThroughput: speeds, preferredMaxLatency: seconds } = request.preferences
  if (!speeds && !seconds) return 0
  const known = measured?.(endpoint.id) ?? null
  const isQuick = isWithin(known?.tokensPerSecond ?? null, speeds, (value, least) => value >= least)
  const isPrompt = isWithin(known?.latencyMs ?? null, seconds, (value, most) => value <= most * 1_000)
  if (isQuick === false || isPrompt === false) return 2
  return isQuick === null || isPrompt === null ? 1 : 0
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
