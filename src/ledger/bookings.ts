import { and, eq, sql } from 'drizzle-orm'
import type { Database, SyncDb } from '../db/database.ts'
import { prepareHot } from '../db/hot-statement.ts'
import { spending } from '../db/tables.ts'
import { type CounterKey, keepCounterKeys, type Scope, type Spent } from './counters.ts'
import { byokUsageOf, type GenerationRow, usageOf } from './row.ts'
import { INTERVALS, windowStart } from './windows.ts'

/** What a batch did to the counters. */
export interface BookedCounters {
  /** By how much the committed counters grew; a counter may be named more than once. */
  readonly added: readonly BookedCounter[]
  /** What was read again, because a row was there already: to be taken over after `added`. */
  readonly read: readonly BookedCounter[]
}

interface BookedCounter {
  readonly key: CounterKey
  readonly spent: Spent
}

/** Books the rows of one transaction to their counters. */
export interface Bookings {
  add(row: GenerationRow): void
  /** Names the counters of a row without adding to them, so that their committed values are read again. */
  touch(row: GenerationRow): void
  /** Writes inside the caller's transaction. */
  write(): BookedCounters
}

/** What is booked to one scope by the requests of one day: a day lies in one window of every interval. */
interface Booking {
  readonly scope: Scope
  readonly scopeId: string
  readonly day: number
  usageNanoUsd: number
  byokUsageNanoUsd: number
  isReadAgain: boolean
}

/** Prepares the statements once; each transaction begins its own bookings. */
export function prepareBookings(database: Database): () => Bookings {
  const add = prepareHot(database, addition(database.sync))
  const read = prepareHot(database, standing(database.sync))
  const keyOf = keepCounterKeys()

  function write(booking: Booking): BookedCounter[] {
    const { scope, scopeId, day, usageNanoUsd, byokUsageNanoUsd } = booking
    const keys = INTERVALS.map((interval) => keyOf(scope, scopeId, interval, day))
    const starts = Object.fromEntries(keys.map(({ interval, windowStart }) => [interval, windowStart]))
    add.run({ ...starts, ...booking })
    const spent = { usageNanoUsd, byokUsageNanoUsd }
    return keys.map((key) => ({ key, spent }))
  }

  return () => {
    const byScopeId = new Map<string, Booking[]>()
    return {
      add(row) {
        for (const booking of bookingsOf(byScopeId, row)) {
          booking.usageNanoUsd += usageOf(row)
          booking.byokUsageNanoUsd += byokUsageOf(row)
        }
      },
      touch(row) {
        for (const booking of bookingsOf(byScopeId, row)) booking.isReadAgain = true
      },
      write() {
        const added: BookedCounter[] = []
        const again: BookedCounter[] = []
        for (const booking of [...byScopeId.values()].flat()) {
          const written = write(booking)
          added.push(...written)
          if (booking.isReadAgain) again.push(...written)
        }
        return { added, read: again.map(({ key }) => ({ key, spent: spentOf(read.get({ ...key })) })) }
      },
    }
  }
}

/** Where a row is booked: by when the request came, not by when it was settled. */
function bookingsOf(byScopeId: Map<string, Booking[]>, row: GenerationRow): Booking[] {
  const day = windowStart('daily', row.created_at.getTime())
  const bookings = [
    bookingOf(byScopeId, 'key', row.key_hash, day),
    bookingOf(byScopeId, 'workspace', row.workspace_id, day),
  ]
  for (const { scope, id } of row.charged_scopes ?? []) bookings.push(bookingOf(byScopeId, scope, id, day))
  return bookings
}

function bookingOf(byScopeId: Map<string, Booking[]>, scope: Scope, scopeId: string, day: number): Booking {
  let sameId = byScopeId.get(scopeId)
  if (sameId === undefined) {
    sameId = []
    byScopeId.set(scopeId, sameId)
  }
  // A batch has one or two for an id, so they are looked through.
  const known = sameId.find((booking) => booking.day === day && booking.scope === scope)
  if (known !== undefined) return known
  const booking = { scope, scopeId, day, usageNanoUsd: 0, byokUsageNanoUsd: 0, isReadAgain: false }
  sameId.push(booking)
  return booking
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

const standing = (db: SyncDb) =>
  db
    .select({
      usage_nano_usd: spending.usage_nano_usd,
      byok_usage_nano_usd: spending.byok_usage_nano_usd,
    })
    .from(spending)
    .where(
      and(
        eq(spending.scope, sql.placeholder('scope')),
        eq(spending.scope_id, sql.placeholder('scopeId')),
        eq(spending.interval, sql.placeholder('interval')),
        eq(spending.window_start, sql.placeholder('windowStart')),
      ),
    )

function spentOf(row: Readonly<Record<string, unknown>> | null): Spent {
  const usageNanoUsd = row?.['usage_nano_usd']
  const byokUsageNanoUsd = row?.['byok_usage_nano_usd']
  if (typeof usageNanoUsd !== 'number' || typeof byokUsageNanoUsd !== 'number') {
    throw new Error('a counter was written and cannot be read')
  }
  return { usageNanoUsd, byokUsageNanoUsd }
}
