/** Measures whether work grows with its input, in CPU time: other processes may have the machine in between. */

/** Linear work costs 4 times as much at 4n, quadratic 16 times; between lie caches, garbage and rising addresses. */
const MOST_GROWTH = 6
/** Shorter than this, the clock and the collector decide, so nothing is compared with less. */
const MEASURABLE_MS = 2
const TRIES = 6

function timed(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

export interface Growth {
  ms: number
  msAt4n: number
  isLinear: boolean
}

/**
 * Compares `work` on n things with `work` on 4n, each the least of as many runs as are needed to see that it is linear.
 * `prepare` makes the input and is not timed.
 */
export function growthOf<T>(n: number, prepare: (n: number) => T, work: (input: T) => void): Growth {
  let ms = 0
  let msAt4n = Number.POSITIVE_INFINITY
  const isLinear = (): boolean => msAt4n <= Math.max(ms, MEASURABLE_MS) * MOST_GROWTH
  for (let run = 0; run < TRIES && !isLinear(); run++) {
    // Garbage of the former runs is not this one's.
    if (run > 0) Bun.gc(true)
    const large = prepare(4 * n)
    msAt4n = Math.min(
      msAt4n,
      timed(() => work(large)),
    )
    if (isLinear()) break
    const small = prepare(n)
    const smallMs = timed(() => work(small))
    ms = ms === 0 ? smallMs : Math.min(ms, smallMs)
  }
  return { ms, msAt4n, isLinear: isLinear() }
}
