import { neverBack } from './never-back.ts'

/**
 * Allowances for a minute, each under a name, in memory alone: a start begins anew. One fills up evenly (the generic
 * cell rate algorithm, counted in units instead of times): a burst may use the whole of it, and then nobody waits
 * longer than what is asked for takes to fill up.
 */
export interface Allowances {
  /** How much of it is used up and has not filled up yet; above `perMinute`: it is in debt. */
  used(name: string, perMinute: number): number
  /** Milliseconds until `amount` fits beside what is used up; 0: it fits now. */
  waitMs(name: string, perMinute: number, amount: number): number
  /** Uses up `amount`, whether it fits or not. Below 0: gives back, at most what is used up. */
  take(name: string, perMinute: number, amount: number): void
  /** How many are not whole, as far as they have been looked at. */
  size(): number
}

interface Level {
  used: number
  /** When that was true, on the clock that never goes back. */
  at: number
  perMinute: number
}

const MINUTE_MS = 60_000
/** Shares of a minute are no whole numbers: waits are told, and kept, to the microsecond. */
const STEPS_PER_MS = 1_000
/** Those that are whole again say nothing and are cleared away, every so many takings. */
const CLEAR_EVERY = 10_000

/** `now` is in milliseconds. A clock that is set back neither locks out nor gives more. */
export function createAllowances(now: () => number): Allowances {
  const levels = new Map<string, Level>()
  const steady = neverBack(now)
  let sinceClearing = 0

  function levelAt(level: Level | undefined, perMinute: number, at: number): number {
    if (level === undefined) return 0
    return Math.max(0, level.used - ((at - level.at) * perMinute) / MINUTE_MS)
  }

  function clear(at: number): void {
    sinceClearing += 1
    if (sinceClearing < CLEAR_EVERY) return
    sinceClearing = 0
    for (const [name, level] of levels) if (levelAt(level, level.perMinute, at) === 0) levels.delete(name)
  }

  return {
    used: (name, perMinute) => levelAt(levels.get(name), perMinute, steady()),
    waitMs(name, perMinute, amount) {
      const missing = levelAt(levels.get(name), perMinute, steady()) + amount - perMinute
      return Math.max(0, Math.round((missing * MINUTE_MS * STEPS_PER_MS) / perMinute) / STEPS_PER_MS)
    },
    take(name, perMinute, amount) {
      const at = steady()
      clear(at)
      const used = Math.max(0, levelAt(levels.get(name), perMinute, at) + amount)
      if (used === 0) levels.delete(name)
      else levels.set(name, { used, at, perMinute })
    },
    size: () => levels.size,
  }
}
