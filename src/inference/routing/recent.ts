/** Measurements of one endpoint, for sorts by latency, throughput and tool calls. Reading and adding never depend on traffic. */
export interface Recent {
  readonly latencyMs: DecayedMedian
  readonly tokensPerSecond: DecayedMedian
  readonly toolCalls: DecayedShare
  /** When an attempt last began here; null: never. */
  triedAt: number | null
  /** The attempts that began here. */
  tries: number
  /** The attempts at all endpoints of the model until then, this one included. */
  triedCount: number
  ofModel: ModelTries
}

/** Shared by the endpoints of one model. */
export interface ModelTries {
  count: number
}

export const createRecent = (): Recent => ({
  latencyMs: createDecayedMedian(),
  tokensPerSecond: createDecayedMedian(),
  toolCalls: createDecayedShare(),
  triedAt: null,
  tries: 0,
  triedCount: 0,
  ofModel: { count: 0 },
})

/** A median in which a value weighs half as much as one that is 15 seconds younger. */
export interface DecayedMedian {
  add(at: number, value: number): void
  /** Null before the first value. Age alone does not change it: all weights shrink alike. */
  value(): number | null
}

const HALF_LIFE_MS = 15_000
const CAPACITY = 32

function createDecayedMedian(): DecayedMedian {
  const times = new Float64Array(CAPACITY)
  const values = new Float64Array(CAPACITY)
  let added = 0
  let known: number | null = null
  let isKnown = true
  return {
    add(at, value) {
      times[added % CAPACITY] = at
      values[added % CAPACITY] = value
      added += 1
      isKnown = false
    },
    value() {
      if (isKnown) return known
      known = medianOf(times, values, Math.min(added, CAPACITY))
      isKnown = true
      return known
    },
  }
}

function medianOf(times: Float64Array, values: Float64Array, count: number): number {
  const order = new Uint8Array(count)
  let newest = 0
  for (let index = 0; index < count; index++) {
    newest = Math.max(newest, times[index] ?? 0)
    // An insertion sort by value: at most 32 items, and no comparator.
    let place = index
    for (; place > 0 && (values[order[place - 1] ?? 0] ?? 0) > (values[index] ?? 0); place--) {
      order[place] = order[place - 1] ?? 0
    }
    order[place] = index
  }
  const weightOf = (index: number): number => 2 ** (((times[index] ?? 0) - newest) / HALF_LIFE_MS)
  let total = 0
  for (const index of order) total += weightOf(index)
  let sum = 0
  for (const index of order) {
    sum += weightOf(index)
    if (2 * sum >= total) return values[index] ?? 0
  }
  return values[order[count - 1] ?? 0] ?? 0
}

/** How much of what was counted was good. A count weighs half as much after an hour. */
export interface DecayedShare {
  add(at: number, good: number, all: number): void
  /** The share, from `PRIOR_WEIGHT` counts at `prior` and those that were added. */
  value(at: number, prior: number): number
}

const SHARE_HALF_LIFE_MS = 3_600_000
const PRIOR_WEIGHT = 20

function createDecayedShare(): DecayedShare {
  let good = 0
  let all = 0
  let countedAt = 0
  const factorAt = (at: number): number =>
    all === 0 ? 1 : 2 ** (-Math.max(0, at - countedAt) / SHARE_HALF_LIFE_MS)
  return {
    add(at, moreGood, more) {
      const factor = factorAt(at)
      good = good * factor + moreGood
      all = all * factor + more
      countedAt = at
    },
    value(at, prior) {
      const factor = factorAt(at)
      return (good * factor + PRIOR_WEIGHT * prior) / (all * factor + PRIOR_WEIGHT)
    },
  }
}
