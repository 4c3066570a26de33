import { and, eq, sql } from 'drizzle-orm'
import { placeholders, replaced } from '../db/columns.ts'
import { type Database, transact } from '../db/database.ts'
import { prepareHot } from '../db/hot-statement.ts'
import { apiKeys, apps, generations, journal } from '../db/tables.ts'
import { type BookedCounters, prepareBookings } from './bookings.ts'
import { prepareRollups } from './rollups.ts'
import type { GenerationRow, JournalRow } from './row.ts'

/** What one transaction writes. */
export interface Batch {
  settled: readonly GenerationRow[]
  journaled: readonly JournalRow[]
  /** Generations of `settled` whose journal row was committed before, and goes now. */
  unjournaled: readonly string[]
}

/**
 * Prepares the commit of a batch: rows, counters, hourly sums and journal in one transaction, all or nothing. A
 * generation that is there already is left as it is and adds to nothing. Fills in `user_id` and `app_id` of the rows,
 * and gives back what became of the counters. Throws what the database throws, with nothing changed.
 */
export function prepareCommit(database: Database): (batch: Batch) => BookedCounters {
  const { sync, file } = database
  const insertRow = prepareHot(
    database,
    sync.insert(generations).values(placeholders(generations)).onConflictDoNothing(),
  )
  // A request that fails over is journalled again: the latest attempt is what a crash is charged for.
  const insertJournal = prepareHot(
    database,
    sync
      .insert(journal)
      .values(placeholders(journal))
      .onConflictDoUpdate({ target: journal.generation_id, set: replaced(journal) }),
  )
  const deleteJournal = prepareHot(
    database,
    sync.delete(journal).where(eq(journal.generation_id, sql.placeholder('id'))),
  )
  const beginBookings = prepareBookings(database)
  const beginRollups = prepareRollups(database)
  const creatorOf = prepareCreators(database)
  const apps = prepareApps(database)

  return ({ settled, journaled, unjournaled }) => {
    const newApps = new Map<string, number>()
    const counters = transact(file, () => {
      for (const row of journaled) insertJournal.run(row)
      const bookings = beginBookings()
      const rollups = beginRollups()
      for (const row of settled) {
        row.user_id = creatorOf(row.key_hash)
        row.app_id = apps.idOf(row.origin, row.title, row.created_at, newApps)
        if (insertRow.run(row) === 0) bookings.touch(row)
        else {
          bookings.add(row)
          rollups.add(row)
        }
      }
      for (const id of unjournaled) deleteJournal.run({ id })
      rollups.write()
      return bookings.write()
    })
    apps.keep(newApps)
    return counters
  }
}

const REMEMBERED = 10_000

/** The creators of keys: they never change, so each is read once. '' for a key that is not in the table. */
function prepareCreators({ sync }: Database): (keyHash: string) => string {
  const known = new Map<string, string>()
  const read = sync
    .select({ userId: apiKeys.creator_user_id })
    .from(apiKeys)
    .where(eq(apiKeys.hash, sql.placeholder('hash')))
    .prepare()
  return (hash) => {
    const remembered = known.get(hash)
    if (remembered !== undefined) return remembered
    const userId = read.get({ hash })?.userId
    if (userId === undefined) return ''
    if (known.size >= REMEMBERED) known.clear()
    known.set(hash, userId)
    return userId
  }
}

/** The integer ids of applications, given out at first sight. Those of a transaction are kept once it is committed. */
function prepareApps({ sync }: Database) {
  const known = new Map<string, number>()
  const read = sync
    .select({ id: apps.id })
    .from(apps)
    .where(and(eq(apps.origin, sql.placeholder('origin')), eq(apps.title, sql.placeholder('title'))))
    .prepare()
  const insert = sync
    .insert(apps)
    .values({
      origin: sql.placeholder('origin'),
      title: sql.placeholder('title'),
      created_at: sql.placeholder('created_at'),
    })
    .returning({ id: apps.id })
    .prepare()

  return {
    /** Null for a caller that says nothing of itself. */
    idOf(origin: string, title: string, createdAt: Date, fresh: Map<string, number>): number | null {
      if (origin === '' && title === '') return null
      const name = JSON.stringify([origin, title])
      const remembered = known.get(name) ?? fresh.get(name)
      if (remembered !== undefined) return remembered
      const id = (read.get({ origin, title }) ?? insert.get({ origin, title, created_at: createdAt })).id
      fresh.set(name, id)
      return id
    },
    keep(fresh: ReadonlyMap<string, number>): void {
      if (known.size + fresh.size > REMEMBERED) known.clear()
      for (const [name, id] of fresh) known.set(name, id)
    },
  }
}
