import { eq, sql } from 'drizzle-orm'
import { placeholders, replaced } from '../db/columns.ts'
import { type Database, transact } from '../db/database.ts'
import { prepareHot } from '../db/hot-statement.ts'
import { apiKeys, generations, journal } from '../db/tables.ts'
import { prepareApps } from './apps.ts'
import { type BookedCounters, prepareBookings } from './bookings.ts'
import { prepareLabels } from './labels.ts'
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
  const beginLabels = prepareLabels(database)
  const creatorOf = prepareCreators(database)
  const apps = prepareApps(database)

  return ({ settled, journaled, unjournaled }) => {
    const appsOf = apps.begin()
    const labels = beginLabels()
    const counters = transact(file, () => {
      for (const row of journaled) insertJournal.run(row)
      const bookings = beginBookings()
      const rollups = beginRollups()
      for (const row of settled) {
        row.user_id = creatorOf(row.key_hash)
        row.labels = labels.bounded(row)
        row.app_id = appsOf.idOf(row.origin, row.title, row.created_at)
        if (insertRow.run(row) === 0) bookings.touch(row)
        else {
          bookings.add(row)
          rollups.add(row)
          labels.add(row)
        }
      }
      for (const id of unjournaled) deleteJournal.run({ id })
      rollups.write()
      labels.write()
      return bookings.write()
    })
    appsOf.keep()
    labels.keep()
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
