import { neverBack } from './never-back.ts'

/**
 * Allowances per minute, each under a name, in memory only: a restart resets them. They refill evenly (the generic cell
 * rate algorithm, in units instead of times). A burst may use a complete allowance, and then a request waits until the
 * amount that it needs has refilled.
 */
export interface Allowances {
  /** The amount that is used and not yet refilled; above `perMinute`: it is in debt. */
  used(name: string, perMinute: number): number
  /** Milliseconds until `amount` is available; 0: now. */
  waitMs(name: string, perMinute: number, amount: number): number
  /** Uses `amount`, even if it is not available. Below 0: returns an amount, at most the used one. */
  take(name: string, perMinute: number, amount: number): void
  /** Number of allowances that may not be full. */
  size(): number
}

interface Level {
  used: number
  /** When that was true, on the clock that never goes back. */
  at: number
  perMinute: number
}

const MINUTE_MS = 60_000
/** Waits are counted in microseconds, because shares of a minute are fractions of a millisecond. */
const STEPS_PER_MS = 1_000
/** Full allowances are removed after this many calls of `take`. */
const CLEAR_EVERY = 10_000

/** `now` is in milliseconds. A clock that is set back neither blocks requests nor adds to an allowance. */
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
