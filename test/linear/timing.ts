/** Measures whether work grows with its input, in CPU time of this thread: other processes may run in between. */

/** Linear work costs 4 times as much at 4n, quadratic 16 times; between lie caches, garbage and rising addresses. */
const MOST_GROWTH = 6
/** The limit of a second measurement: on a shared machine, caches and the garbage collector weigh that much. */
const MOST_GROWTH_AGAIN = 9
/** Below this, the clock and the garbage collector dominate, so shorter times are not compared. */
const MEASURABLE_MS = 4
const TRIES = 4

const msSince = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

export interface Growth {
  n: number
  ms: number
  msAt4n: number
  isLinear: boolean
}

export const growthText = ({ n, ms, msAt4n }: Growth): string =>
  `${ms.toFixed(1)} ms for ${n}, ${msAt4n.toFixed(1)} ms for ${4 * n}`

/**
 * Compares work on n things with work on 4n, each the least of as many runs as are needed to see that it is linear; what
 * does not look so is measured once more with twice as many things, where noise weighs less. `prepare` makes the input
 * and is not timed.
 */
export async function growthOf<T>(
  n: number,
  prepare: (n: number) => T | Promise<T>,
  work: (input: T) => unknown,
): Promise<Growth> {
  const timed = async (count: number): Promise<number> => {
    const prepared = prepare(count)
    const input = prepared instanceof Promise ? await prepared : prepared
    const before = process.threadCpuUsage()
    const running = work(input)
    if (running instanceof Promise) await running
    return msSince(before)
  }
  const first = await leastOf(n, timed)
  return first.isLinear ? first : leastOf(2 * n, timed, MOST_GROWTH_AGAIN)
}

/** True for work that takes so short that nothing needs to be compared. */
export async function isQuick(work: () => unknown): Promise<boolean> {
  const before = process.threadCpuUsage()
  const running = work()
  if (running instanceof Promise) await running
  return msSince(before) <= MEASURABLE_MS * MOST_GROWTH
}

async function leastOf(
  n: number,
  timed: (count: number) => Promise<number>,
  mostGrowth = MOST_GROWTH,
): Promise<Growth> {
  let ms = 0
  let msAt4n = Number.POSITIVE_INFINITY
  const isLinear = (): boolean => msAt4n <= Math.max(ms, MEASURABLE_MS) * mostGrowth
  for (let run = 0; run < TRIES && !isLinear(); run++) {
    // Garbage of earlier runs must not count for this one.
    if (run > 0) Bun.gc(true)
    msAt4n = Math.min(msAt4n, await timed(4 * n))
    if (isLinear()) break
    const took = await timed(n)
    ms = ms === 0 ? took : Math.min(ms, took)
  }
  return { n, ms, msAt4n, isLinear: isLinear() }
}
