import type { Percentiles } from '../../core/measurements.ts'

/** The most recent measured values, with their times. Adding is O(1); memory is bounded. */
export interface Samples {
  add(at: number, value: number): void
  /** Percentiles of the last 30 minutes; null without values. Recomputed at most once per second. */
  percentiles(at: number): Percentiles | null
}

const WINDOW_MS = 30 * 60_000
const INITIAL_CAPACITY = 16
const MAX_CAPACITY = 256
const FRESH_MS = 1_000

/** `better`: which end of the range is better, for percentiles: smaller for latency, larger for throughput. */
export function createSamples(better: 'smaller' | 'larger'): Samples {
  // Most endpoints see few requests, so the arrays start small and grow.
  let times = new Float64Array(INITIAL_CAPACITY)
  let values = new Float64Array(INITIAL_CAPACITY)
  let added = 0
  let known: { at: number; added: number; percentiles: Percentiles | null } | null = null

  const grow = (): void => {
    const [oldTimes, oldValues] = [times, values]
    times = new Float64Array(oldTimes.length * 2)
    values = new Float64Array(oldValues.length * 2)
    times.set(oldTimes)
    values.set(oldValues)
  }

  const compute = (at: number): Percentiles | null => {
    const recent: number[] = []
    for (let index = 0; index < Math.min(added, values.length); index++) {
      if ((times[index] ?? 0) > at - WINDOW_MS) recent.push(values[index] ?? 0)
    }
    recent.sort((left, right) => (better === 'smaller' ? left - right : right - left))
    return recent.length === 0 ? null : percentilesOf(recent)
  }

  return {
    add(at, value) {
      if (added === values.length && added < MAX_CAPACITY) grow()
      const slot = added % values.length
      times[slot] = at
      values[slot] = value
      added += 1
    },
    percentiles(at) {
      const isFresh = known !== null && at - known.at < FRESH_MS && at >= known.at
      if (isFresh && known !== null && (known.added === added || known.percentiles !== null))
        return known.percentiles
      known = { at, added, percentiles: compute(at) }
      return known.percentiles
    },
  }
}

/** Nearest-rank percentiles of values sorted from best to worst. */
function percentilesOf(sorted: readonly number[]): Percentiles {
  const at = (percent: number): number => sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? 0
  return { p50: at(50), p75: at(75), p90: at(90), p99: at(99) }
}
