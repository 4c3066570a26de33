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
  /** The key from `nameOf`, if a caller stored it. */
  readonly name?: string
}

export interface Spent {
  readonly usageNanoUsd: number
  readonly byokUsageNanoUsd: number
}

/** Committed spending, in memory: exact once a commit has returned, even if the table is not updated yet. */
export interface Counters {
  spent(key: CounterKey): Spent
  /** Adds a committed row to the four windows of one scope. */
  book(scope: Scope, scopeId: string, startedAt: number, usageNanoUsd: number, byokUsageNanoUsd: number): void
  /** Reads the counters from the table, once all committed rows are in it. */
  reread(scope: Scope, scopeId: string, startedAt: number): void
  /** Forgets windows that have ended; they are read from the table when someone asks. */
  advance(now: number): void
}

/** A counter in memory. */
interface Tally {
  readonly interval: Interval
  readonly windowStart: number
  usageNanoUsd: number
  byokUsageNanoUsd: number
}

/** The counters that one scope books to on one day: found once, and used until windows end. */
interface Booked {
  readonly day: number
  readonly advances: number
  readonly tallies: readonly Tally[]
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

const KEPT_SCOPES = 10_000

/**
 * Loads the counters of the windows that hold `now`. It reads counters and never sums rows: all rows are folded before.
 * `unfolded`: what was committed to a counter since then and is not in the table yet.
 */
export function loadCounters(
  database: Database,
  now: number,
  unfolded: (key: CounterKey) => Spent = () => NOTHING,
): Counters {
  const read = readCounters(database)
  const known = new Map<string, Tally>()
  // The organisation's spending is that of its workspaces: it is booked nowhere else.
  const ofOrganization = new Map<string, Tally>()
  const kept: Readonly<Record<Scope, Map<string, Booked>>> = {
    key: new Map(),
    workspace: new Map(),
    guardrail: new Map(),
    organization: new Map(),
  }
  // Every counter of a window that began no earlier than this is in memory: those that are not there are 0.
  let oldest = startsAt(now)
  let advances = 0

  function tallyIn(tallies: Map<string, Tally>, name: string, key: CounterKey): Tally {
    let tally = tallies.get(name)
    if (tally === undefined) {
      const { interval, windowStart: start } = key
      tally = { interval, windowStart: start, usageNanoUsd: 0, byokUsageNanoUsd: 0 }
      tallies.set(name, tally)
    }
    return tally
  }

  function talliesOf(scope: Scope, scopeId: string, at: number): Tally[] {
    const tallies: Tally[] = []
    for (const interval of INTERVALS) {
      const key = counterKey(scope, scopeId, interval, at)
      if (key.windowStart < oldest[interval]) continue
      tallies.push(tallyIn(known, nameOf(key), key))
      if (scope === 'workspace') tallies.push(tallyIn(ofOrganization, windowOf(key), key))
    }
    return tallies
  }

  function bookedOf(scope: Scope, scopeId: string, startedAt: number): Booked {
    const byId = kept[scope]
    const day = windowStart('daily', startedAt)
    const last = byId.get(scopeId)
    if (last !== undefined && last.day === day && last.advances === advances) return last
    if (byId.size >= KEPT_SCOPES) byId.clear()
    const booked = { day, advances, tallies: talliesOf(scope, scopeId, startedAt) }
    byId.set(scopeId, booked)
    return booked
  }

  function set(key: CounterKey, { usageNanoUsd, byokUsageNanoUsd }: Spent): void {
    if (key.windowStart < oldest[key.interval]) return
    const tally = tallyIn(known, nameOf(key), key)
    if (key.scope === 'workspace') {
      const sum = tallyIn(ofOrganization, windowOf(key), key)
      sum.usageNanoUsd += usageNanoUsd - tally.usageNanoUsd
      sum.byokUsageNanoUsd += byokUsageNanoUsd - tally.byokUsageNanoUsd
    }
    tally.usageNanoUsd = usageNanoUsd
    tally.byokUsageNanoUsd = byokUsageNanoUsd
  }

  for (const { key, spent } of read.since(oldest)) set(key, spent)

  return {
    reread(scope, scopeId, startedAt) {
      for (const interval of INTERVALS) {
        const key = counterKey(scope, scopeId, interval, startedAt)
        set(key, read.one(key))
      }
    },
    book(scope, scopeId, startedAt, usageNanoUsd, byokUsageNanoUsd) {
      for (const tally of bookedOf(scope, scopeId, startedAt).tallies) {
        tally.usageNanoUsd += usageNanoUsd
        tally.byokUsageNanoUsd += byokUsageNanoUsd
      }
    },
    spent(key) {
      if (key.windowStart < oldest[key.interval]) return plus(read.one(key), unfolded(key))
      if (key.scope === 'organization') return ofOrganization.get(windowOf(key)) ?? NOTHING
      return known.get(nameOf(key)) ?? NOTHING
    },
    advance(at) {
      const starts = startsAt(at)
      if (starts.daily <= oldest.daily) return
      oldest = starts
      advances += 1
      for (const tallies of [known, ofOrganization])
        for (const [name, tally] of tallies)
          if (tally.windowStart < oldest[tally.interval]) tallies.delete(name)
    },
  }
}

/** Reads counters from the table. */
function readCounters(database: Database) {
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
  return {
    /** Of windows that have ended, which memory has forgotten. */
    one(key: CounterKey): Spent {
      if (key.scope === 'organization') return readSum(key)
      const row = readOne.get({ ...key })
      return row === undefined ? NOTHING : spentOf(row)
    },
    /** Later windows too: the clock may have been set back since they were written. */
    since(oldest: Readonly<Record<Interval, number>>) {
      const current = or(
        ...INTERVALS.map((interval) =>
          and(eq(spending.interval, interval), gte(spending.window_start, oldest[interval])),
        ),
      )
      const rows = database.sync.select().from(spending).where(current).all()
      return rows.map((row) => ({ key: keyOf(row), spent: spentOf(row) }))
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

const plus = (a: Spent, b: Spent): Spent => ({
  usageNanoUsd: a.usageNanoUsd + b.usageNanoUsd,
  byokUsageNanoUsd: a.byokUsageNanoUsd + b.byokUsageNanoUsd,
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
