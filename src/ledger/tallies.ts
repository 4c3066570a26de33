import type { Interval } from '../core/gate.ts'
import { type CounterKey, counterKey, nameOf, type Scope, type Spent } from './counter-key.ts'
import { INTERVALS, windowStart } from './windows.ts'

/** A counter in memory. */
export interface Tally {
  readonly interval: Interval
  readonly windowStart: number
  usageNanoUsd: number
  byokUsageNanoUsd: number
}

/** The counters of the windows that have not ended, in memory. One that is not there is 0. */
export interface Tallies {
  /** The start of the oldest window of each interval. */
  oldest(): Readonly<Record<Interval, number>>
  /** Null for a window that has ended. */
  spent(key: CounterKey): Spent | null
  /** The counters of one scope at one time; the same objects until `advance` returns true. */
  at(scope: Scope, scopeId: string, at: number): Tally[]
  set(key: CounterKey, spent: Spent): void
  /** Removes windows that have ended. False if none has. */
  advance(now: number): boolean
}

export const NOTHING: Spent = Object.freeze({ usageNanoUsd: 0, byokUsageNanoUsd: 0 })

export function createTallies(now: number): Tallies {
  const known = new Map<string, Tally>()
  // The organisation's spending is that of its workspaces: it is booked nowhere else.
  const ofOrganization = new Map<string, Tally>()
  let oldest = startsAt(now)

  return {
    oldest: () => oldest,
    spent(key) {
      if (key.windowStart < oldest[key.interval]) return null
      if (key.scope === 'organization') return ofOrganization.get(windowOf(key)) ?? NOTHING
      return known.get(nameOf(key)) ?? NOTHING
    },
    at(scope, scopeId, at) {
      const tallies: Tally[] = []
      for (const interval of INTERVALS) {
        const key = counterKey(scope, scopeId, interval, at)
        if (key.windowStart < oldest[interval]) continue
        tallies.push(tallyIn(known, nameOf(key), key))
        if (scope === 'workspace') tallies.push(tallyIn(ofOrganization, windowOf(key), key))
      }
      return tallies
    },
    set(key, { usageNanoUsd, byokUsageNanoUsd }) {
      if (key.windowStart < oldest[key.interval]) return
      const tally = tallyIn(known, nameOf(key), key)
      if (key.scope === 'workspace') {
        const sum = tallyIn(ofOrganization, windowOf(key), key)
        sum.usageNanoUsd += usageNanoUsd - tally.usageNanoUsd
        sum.byokUsageNanoUsd += byokUsageNanoUsd - tally.byokUsageNanoUsd
      }
      tally.usageNanoUsd = usageNanoUsd
      tally.byokUsageNanoUsd = byokUsageNanoUsd
    },
    advance(at) {
      const starts = startsAt(at)
      if (starts.daily <= oldest.daily) return false
      oldest = starts
      for (const tallies of [known, ofOrganization])
        for (const [name, tally] of tallies)
          if (tally.windowStart < oldest[tally.interval]) tallies.delete(name)
      return true
    },
  }
}

function tallyIn(tallies: Map<string, Tally>, name: string, key: CounterKey): Tally {
  let tally = tallies.get(name)
  if (tally === undefined) {
    const { interval, windowStart: start } = key
    tally = { interval, windowStart: start, usageNanoUsd: 0, byokUsageNanoUsd: 0 }
    tallies.set(name, tally)
  }
  return tally
}

const windowOf = ({ interval, windowStart: start }: CounterKey): string => `${interval}|${start}`

const startsAt = (at: number): Record<Interval, number> => ({
  daily: windowStart('daily', at),
  weekly: windowStart('weekly', at),
  monthly: windowStart('monthly', at),
  lifetime: 0,
})
