import type { Attempt } from '../../core/attempt.ts'
import type { Percentiles } from '../../core/measurements.ts'
import type { Cutoffs } from '../../core/request.ts'
import { rankIn } from './endpoint-tags.ts'
import { hasAll } from './needs.ts'
import type { PlanInput } from './plan-input.ts'

/**
 * The tier of an attempt: every attempt of a smaller one comes before it, whatever the sort. In this order:
 * - BYOK keys before the gateway's credentials, those marked as fallback after them; without a sort or `provider.order`
 *   they are tried in the workspace's order
 * - the places of `provider.order`
 * - endpoints that meet the preferred throughput and latency, then unmeasured ones, then slower ones
 * - endpoints that are known to have all that the request needs, then those of which something is unknown
 */
export function tierOf(attempt: Attempt, input: PlanInput, isSorted: boolean): number {
  const { endpoint, provider, byokKey } = attempt
  const { order } = input.request.preferences
  const isAble = input.needs === undefined || hasAll(endpoint, provider, input.needs)
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
