import { and, eq, gte, or, sql } from 'drizzle-orm'
import type { Gate, Interval } from '../core/gate.ts'
import type { Database } from '../db/database.ts'
import { spending } from '../db/tables.ts'
import { INTERVALS, windowStart } from './windows.ts'

export type Scope = Gate['scope']

/** One counter: the settled spending of one scope in one window. */
export interface CounterKey {
  readonly scope: Scope
  readonly scopeId: string
  readonly interval: Interval
  readonly windowStart: number
  /** What `nameOf` says, where somebody keeps the key. */
  readonly name?: string
}

export interface Spent {
  readonly usageNanoUsd: number
  readonly byokUsageNanoUsd: number
}

/** Committed spending, in memory: never ahead of the database and, once a commit has returned, never behind. */
export interface Counters {
  spent(key: CounterKey): Spent
  /** Adds what a commit added in the table. */
  add(key: CounterKey, more: Spent): void
  /** Takes over what stands in the table. */
  set(key: CounterKey, spent: Spent): void
  /** Forgets windows that have ended; they are read from the table when someone asks. */
  advance(now: number): void
}

const NOTHING: Spent = Object.freeze({ usageNanoUsd: 0, byokUsageNanoUsd: 0 })

export const nameOf = (key: CounterKey): string =>
  key.name ?? `${key.scope}|${key.scopeId}|${key.interval}|${key.windowStart}`

export const counterKey = (scope: Scope, scopeId: string, interval: Interval, at: number): CounterKey => ({
  scope,
  scopeId,
  interval,
  windowStart: windowStart(interval, at),
})

const KEPT_KEYS = 10_000

/**
 * The same as `counterKey` with its name, kept from one request to the next: to put names together anew for each gate
 * of each request was most of what gates cost.
 */
export function keepCounterKeys(): (
  scope: Scope,
  scopeId: string,
  interval: Interval,
  at: number,
) => CounterKey {
  const keys = () => new Map<string, CounterKey>()
  const intervals = () => ({ daily: keys(), weekly: keys(), monthly: keys(), lifetime: keys() })
  const kept = { key: intervals(), workspace: intervals(), guardrail: intervals(), organization: intervals() }
  return (scope, scopeId, interval, at) => {
    const byId = kept[scope][interval]
    const known = byId.get(scopeId)
    if (known !== undefined && known.windowStart === windowStart(interval, at)) return known
    const key = counterKey(scope, scopeId, interval, at)
    const named = { ...key, name: nameOf(key) }
    if (byId.size >= KEPT_KEYS) byId.clear()
    byId.set(scopeId, named)
    return named
  }
}

/** Loads the counters of the windows that hold `now`. It reads counters and never sums rows. */
export function loadCounters(database: Database, now: number): Counters {
  const readOne = database.sync
    .select()
    .from(spending)
    .where(
      and(
        eq(spending.scope, sql.placeholder('scope')),
        eq(spending.scope_id, sql.placeholder('scopeId')),
        eq(spending.interval, sql.placeholder('interval')),
        eq(spending.window_start, sql.placeholder('windowStart')),
      ),
    )
    .prepare()
  const readSum = sumOfWorkspaces(database)
  const known = new Map<string, { interval: Interval; windowStart: number; spent: Spent }>()
  // The organisation's spending is that of its workspaces: it is booked nowhere else.
  const ofOrganization = new Map<string, Spent>()
  // Every counter of a window that began no earlier than this is in memory: those that are not there are 0.
  let oldest = startsAt(now)

  const set = (key: CounterKey, spent: Spent): void => {
    if (key.windowStart < oldest[key.interval]) return
    const name = nameOf(key)
    if (key.scope === 'workspace') {
      const window = windowOf(key)
      const before = known.get(name)?.spent ?? NOTHING
      const sum = plus(ofOrganization.get(window) ?? NOTHING, spent)
      ofOrganization.set(window, plus(sum, before, -1))
    }
    known.set(name, { interval: key.interval, windowStart: key.windowStart, spent })
  }

  // Later windows too: the clock may have been set back since they were written.
  const current = or(
    ...INTERVALS.map((interval) =>
      and(eq(spending.interval, interval), gte(spending.window_start, oldest[interval])),
    ),
  )
  for (const row of database.sync.select().from(spending).where(current).all()) set(keyOf(row), spentOf(row))

  return {
    set,
    add(key, more) {
      set(key, plus(known.get(nameOf(key))?.spent ?? NOTHING, more))
    },
    spent(key) {
      if (key.scope === 'organization') {
        if (key.windowStart < oldest[key.interval]) return readSum(key)
        return ofOrganization.get(windowOf(key)) ?? NOTHING
      }
      const entry = known.get(nameOf(key))
      if (entry !== undefined) return entry.spent
      if (key.windowStart >= oldest[key.interval]) return NOTHING
      const row = readOne.get({ ...key })
      return row === undefined ? NOTHING : spentOf(row)
    },
    advance(at) {
      const starts = startsAt(at)
      if (starts.daily <= oldest.daily) return
      oldest = starts
      for (const [name, entry] of known) {
        if (entry.windowStart >= oldest[entry.interval]) continue
        known.delete(name)
        ofOrganization.delete(windowOf(entry))
      }
    },
  }
}

/** What all workspaces together spent in one window, for windows that memory has forgotten. */
function sumOfWorkspaces(database: Database): (key: CounterKey) => Spent {
  const query = database.sync
    .select({
      usage: sql<number | null>`sum(${spending.usage_nano_usd})`,
      byok: sql<number | null>`sum(${spending.byok_usage_nano_usd})`,
    })
    .from(spending)
    .where(
      and(
        eq(spending.scope, 'workspace'),
        eq(spending.interval, sql.placeholder('interval')),
        eq(spending.window_start, sql.placeholder('windowStart')),
      ),
    )
    .prepare()
  return (key) => {
    const row = query.get({ ...key })
    return { usageNanoUsd: row?.usage ?? 0, byokUsageNanoUsd: row?.byok ?? 0 }
  }
}

const windowOf = ({ interval, windowStart: start }: Pick<CounterKey, 'interval' | 'windowStart'>): string =>
  `${interval}|${start}`

const plus = (a: Spent, b: Spent, sign: 1 | -1 = 1): Spent => ({
  usageNanoUsd: a.usageNanoUsd + sign * b.usageNanoUsd,
  byokUsageNanoUsd: a.byokUsageNanoUsd + sign * b.byokUsageNanoUsd,
})

type Row = typeof spending.$inferSelect

const keyOf = (row: Row): CounterKey => ({
  scope: row.scope,
  scopeId: row.scope_id,
  interval: row.interval,
  windowStart: row.window_start,
})

const spentOf = (row: Row): Spent => ({
  usageNanoUsd: row.usage_nano_usd,
  byokUsageNanoUsd: row.byok_usage_nano_usd,
})

const startsAt = (at: number): Record<Interval, number> => ({
  daily: windowStart('daily', at),
  weekly: windowStart('weekly', at),
  monthly: windowStart('monthly', at),
  lifetime: 0,
})
