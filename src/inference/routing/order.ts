import type { Attempt } from '../../core/attempt.ts'
import type { Percentiles } from '../../core/measurements.ts'
import type { Cutoffs } from '../../core/request.ts'
import { byDraw, byValue, type Candidate, drawn, withFirst } from './candidates.ts'
import { rankIn } from './endpoint-tags.ts'
import { exploredFirst } from './explore.ts'
import { ableFirst } from './needs.ts'
import type { PlanInput } from './plan-input.ts'
import { drawsOf, formerEndpoint } from './stickiness.ts'

export type SortKey = 'price' | 'throughput' | 'latency' | 'exacto' | 'context'

export interface OrderInput extends PlanInput {
  sort: SortKey | undefined
}

/**
 * Orders the endpoints of one model, or of several models that are sorted together: first by the caller's
 * `provider.order`, then by its preferred throughput and latency, then by its `sort`. Without a `sort`, requests are
 * distributed by inverse square of the price: an endpoint at twice the price gets a quarter of the first attempts.
 */
export function ordered(attempts: Attempt[], input: OrderInput): Attempt[] {
  if (attempts.length < 2) return attempts
  const { preferences } = input.request
  const candidates = drawn(attempts, drawsOf(input))
  const chosen = input.sort ? bySort(candidates, input.sort, input) : byPriceShare(candidates, input)
  const sorted = chosen.map(({ attempt }) => attempt)
  const able = ableFirst(sorted, input.needs)
  const listed = byokKeysFirst(listedFirst(preferredFirst(able, input), preferences.order), input)
  if (preferences.allowFallbacks || preferences.order) return listed
  const first = listed[0]
  return listed.filter((attempt) => attempt.endpoint.id === first?.endpoint.id)
}

/** All endpoints share the requests. */
const byPriceShare = (candidates: Candidate[], input: OrderInput): Candidate[] =>
  shared(candidates, (one, other) => one.price === other.price, input)

/**
 * By the sort's figure, the best first. Endpoints as good as the best share the requests; of measured figures, those
 * within 5 percent are as good. An endpoint without a figure, or with an old one, is first now and then: see
 * `exploredFirst`.
 */
function bySort(candidates: Candidate[], sort: SortKey, input: OrderInput): Candidate[] {
  for (const candidate of candidates) rate(candidate, sort, input)
  candidates.sort(byValue)
  const { level = 0, value = 0 } = candidates[0] ?? {}
  const isExact = sort === 'price' || sort === 'context'
  const most = isExact ? value : value * ALIKE
  const end = candidates.findIndex((candidate) => candidate.level > level || candidate.value > most)
  const alike = end === -1 ? candidates.length : end
  const chosen =
    alike < 2
      ? candidates
      : [...shared(candidates.slice(0, alike), () => true, input), ...candidates.slice(alike)]
  return isExact || !input.recent ? chosen : exploredFirst(chosen, input.recent, input.now)
}
const ALIKE = 1.05

/** By their draws; but first the endpoint that answered the conversation last, else the less loaded of the first two. */
function shared(
  candidates: Candidate[],
  areAlike: (one: Candidate, other: Candidate) => boolean,
  input: OrderInput,
): Candidate[] {
  candidates.sort(byDraw)
  const id = formerEndpoint(input)
  const former = id === undefined ? undefined : candidates.find(({ attempt }) => attempt.endpoint.id === id)
  return former === undefined ? lessLoadedFirst(candidates, areAlike, input) : withFirst(candidates, former)
}

/**
 * Of the first two endpoints, if they are alike, the one whose provider has more free places. A difference below a quarter
 * of them counts as none: changing the endpoint loses the provider's prompt cache.
 */
function lessLoadedFirst(
  candidates: Candidate[],
  areAlike: (one: Candidate, other: Candidate) => boolean,
  { inFlight }: OrderInput,
): Candidate[] {
  const [one] = candidates
  if (inFlight === undefined || one === undefined) return candidates
  const { id } = one.attempt.endpoint
  const other = candidates.find(({ attempt }) => attempt.endpoint.id !== id)
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

/** Assumed of models without a benchmark. */
const USUAL_TOOL_SUCCESS = 0.95

/**
 * BYOK keys come before the gateway's credentials regardless of provider preferences; those marked as fallback come last.
 * Without preferences, BYOK keys are tried in the workspace's order.
 */
function byokKeysFirst(attempts: Attempt[], { request, sort }: OrderInput): Attempt[] {
  if (attempts.every(({ byokKey }) => byokKey === undefined)) return attempts
  const rank = ({ byokKey }: Attempt): number => (byokKey === undefined ? 1 : byokKey.isFallback ? 2 : 0)
  const hasWish = sort !== undefined || request.preferences.order !== undefined
  const own = ({ byokKey }: Attempt): number => (hasWish || byokKey === undefined ? 0 : byokKey.sortOrder)
  return [...attempts].sort((a, b) => rank(a) - rank(b) || own(a) - own(b))
}

function listedFirst(attempts: Attempt[], order: readonly string[] | undefined): Attempt[] {
  if (!order) return attempts
  const ranks = attempts.map((attempt) => ({
    attempt,
    rank: rankIn(order, attempt.provider, attempt.endpoint),
  }))
  return ranks.sort((a, b) => a.rank - b.rank).map(({ attempt }) => attempt)
}

/** Endpoints that meet the preferences, then unmeasured ones, then slower ones. */
function preferredFirst(attempts: Attempt[], { request, measured }: OrderInput): Attempt[] {
  const { preferredMinThroughput: speeds, preferredMaxLatency: seconds } = request.preferences
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
