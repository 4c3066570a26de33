import { sql } from 'drizzle-orm'
import type { Database, SyncDb } from '../db/database.ts'
import { prepareHot } from '../db/hot-statement.ts'
import { spending } from '../db/tables.ts'
import type { CounterKey, Scope, Spent } from './counter-key.ts'
import { byokUsageOf, type Summed, usageOf } from './summed.ts'
import { INTERVALS, windowStart } from './windows.ts'

/** The spending that rows add to the table of counters, in memory until it is written. */
export interface Bookings {
  add(row: Summed): void
  /** The spending added to one counter. */
  spent(key: CounterKey): Spent
  /** How many scopes and days were booked to. */
  count(): number
  /** Writes inside the caller's transaction. */
  write(): void
}

/** The spending of one scope on one day: each day belongs to one window of every interval. */
interface Booking {
  readonly scope: Scope
  readonly scopeId: string
  readonly day: number
  usageNanoUsd: number
  byokUsageNanoUsd: number
}

/** Prepares the statement once; each fold has bookings of its own. */
export function prepareBookings(database: Database): () => Bookings {
  const add = prepareHot(database, addition(database.sync))

  function write(booking: Booking): void {
    const { scope, scopeId, day, usageNanoUsd, byokUsageNanoUsd } = booking
    const starts = Object.fromEntries(INTERVALS.map((interval) => [interval, windowStart(interval, day)]))
    add.run({ ...starts, scope, scopeId, usageNanoUsd, byokUsageNanoUsd })
  }

  return () => {
    const byScopeId = new Map<string, Booking[]>()
    let count = 0

    function book(scope: Scope, scopeId: string, day: number, row: Summed): void {
      let sameId = byScopeId.get(scopeId)
      if (sameId === undefined) {
        sameId = []
        byScopeId.set(scopeId, sameId)
      }
      // An id has one or two, so they are looked through.
      let booking = sameId.find((known) => known.day === day && known.scope === scope)
      if (booking === undefined) {
        booking = { scope, scopeId, day, usageNanoUsd: 0, byokUsageNanoUsd: 0 }
        sameId.push(booking)
        count += 1
      }
      booking.usageNanoUsd += usageOf(row)
      booking.byokUsageNanoUsd += byokUsageOf(row)
    }

    return {
      add(row) {
        const day = windowStart('daily', row.startedAt)
        book('key', row.keyHash, day, row)
        book('workspace', row.workspaceId, day, row)
        if (row.chargedScopes === null) return
        for (const { scope, id } of row.chargedScopes) book(scope, id, day, row)
      },
      spent(key) {
        const sum = { usageNanoUsd: 0, byokUsageNanoUsd: 0 }
        for (const booking of matching(byScopeId, key)) {
          if (windowStart(key.interval, booking.day) !== key.windowStart) continue
          sum.usageNanoUsd += booking.usageNanoUsd
          sum.byokUsageNanoUsd += booking.byokUsageNanoUsd
        }
        return sum
      },
      count: () => count,
      write() {
        for (const bookings of byScopeId.values()) for (const booking of bookings) write(booking)
      },
    }
  }
}

/** The bookings of a scope; the organisation's are those of all workspaces. */
function matching(byScopeId: ReadonlyMap<string, Booking[]>, { scope, scopeId }: CounterKey): Booking[] {
  if (scope !== 'organization')
    return (byScopeId.get(scopeId) ?? []).filter((booking) => booking.scope === scope)
  return [...byScopeId.values()].flat().filter((booking) => booking.scope === 'workspace')
}

/** Adds to the four windows of one scope at once. */
function addition(db: SyncDb) {
  const window = (interval: CounterKey['interval']) => ({
    scope: sql.placeholder('scope'),
    scope_id: sql.placeholder('scopeId'),
    interval: sql`${sql.raw(`'${interval}'`)}`,
    window_start: sql.placeholder(interval),
    usage_nano_usd: sql.placeholder('usageNanoUsd'),
    byok_usage_nano_usd: sql.placeholder('byokUsageNanoUsd'),
  })
  return db
    .insert(spending)
    .values(INTERVALS.map(window))
    .onConflictDoUpdate({
      target: [spending.scope, spending.scope_id, spending.interval, spending.window_start],
      set: {
        usage_nano_usd: sql`${spending.usage_nano_usd} + excluded.usage_nano_usd`,
        byok_usage_nano_usd: sql`${spending.byok_usage_nano_usd} + excluded.byok_usage_nano_usd`,
      },
    })
}
