import { and, eq, gte, or, sql } from 'drizzle-orm'
import type { Interval } from '../core/gate.ts'
import type { Database } from '../db/database.ts'
import { spending } from '../db/tables.ts'
import { type CounterKey, counterKey, type Scope, type Spent } from './counter-key.ts'
import { createTallies, NOTHING, type Tally } from './tallies.ts'
import { INTERVALS, windowStart } from './windows.ts'

/** Committed spending, in memory: exact once a commit has returned, even if the table is not updated yet. */
export interface Counters {
  spent(key: CounterKey): Spent
  /** Adds a committed row to the four windows of one scope. */
  book(scope: Scope, scopeId: string, startedAt: number, usageNanoUsd: number, byokUsageNanoUsd: number): void
  /** Reads the counters from the table, once all committed rows are in it. */
  reread(scope: Scope, scopeId: string, startedAt: number): void
  /** Removes windows that have ended; they are read from the table on demand. */
  advance(now: number): void
}

/** The counters that one scope books to on one day: found once, and used until windows end. */
interface Booked {
  readonly day: number
  readonly advances: number
  readonly tallies: readonly Tally[]
}

const KEPT_SCOPES = 10_000

/**
 * Loads the counters of the windows that hold `now`. It reads counters and never sums rows: all rows are folded before.
 * `unfolded`: spending committed to a counter since then that is not in the table yet.
 */
export function loadCounters(
  database: Database,
  now: number,
  unfolded: (key: CounterKey) => Spent = () => NOTHING,
): Counters {
  const read = readCounters(database)
  const tallies = createTallies(now)
  const kept: Readonly<Record<Scope, Map<string, Booked>>> = {
    key: new Map(),
    workspace: new Map(),
    guardrail: new Map(),
    organization: new Map(),
  }
  let advances = 0

  function bookedOf(scope: Scope, scopeId: string, startedAt: number): Booked {
    const byId = kept[scope]
    const day = windowStart('daily', startedAt)
    const last = byId.get(scopeId)
    if (last !== undefined && last.day === day && last.advances === advances) return last
    if (byId.size >= KEPT_SCOPES) byId.clear()
    const booked = { day, advances, tallies: tallies.at(scope, scopeId, startedAt) }
    byId.set(scopeId, booked)
    return booked
  }

  for (const { key, spent } of read.since(tallies.oldest())) tallies.set(key, spent)

  return {
    reread(scope, scopeId, startedAt) {
      for (const interval of INTERVALS) {
        const key = counterKey(scope, scopeId, interval, startedAt)
        tallies.set(key, read.one(key))
      }
    },
    book(scope, scopeId, startedAt, usageNanoUsd, byokUsageNanoUsd) {
      for (const tally of bookedOf(scope, scopeId, startedAt).tallies) {
        tally.usageNanoUsd += usageNanoUsd
        tally.byokUsageNanoUsd += byokUsageNanoUsd
      }
    },
    spent: (key) => tallies.spent(key) ?? plus(read.one(key), unfolded(key)),
    advance(at) {
      if (tallies.advance(at)) advances += 1
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
