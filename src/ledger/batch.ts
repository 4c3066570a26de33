import { eq, sql } from 'drizzle-orm'
import { type Database, transact } from '../db/database.ts'
import { prepareRows } from '../db/hot-rows.ts'
import { apiKeys } from '../db/tables.ts'
import { prepareApps } from './apps.ts'
import type { Folding } from './folding.ts'
import { JOURNAL_COLUMNS, type Journaled, journalValuesOf } from './journal-row.ts'
import { type OutboxText, prepareOutbox } from './outbox.ts'
import type { NewRow } from './row.ts'
import { FILLED_IN, ROW_COLUMNS } from './row-values.ts'

/** What one transaction writes. */
export interface Batch {
  readonly settled: readonly NewRow[]
  readonly journaled: readonly Journaled[]
  /** Generations whose journal row goes without a settlement. */
  readonly forgotten: readonly string[]
}

/** What became of the settled rows. */
export interface Committed {
  readonly added: readonly NewRow[]
  /** Were in the table already: a commit that seemed to fail had written them. All rows are folded then. */
  readonly found: readonly NewRow[]
  /** The outbox has a new row. */
  readonly isExported: boolean
}

const NONE: readonly NewRow[] = []

/**
 * Prepares the commit of a batch: rows and journal in one transaction, all or nothing. An already stored generation is
 * skipped, adds to no sum and does not go to the outbox again. Fills in `userId`, `labels` and the application of the rows, and hands
 * them to `folding`, which sums them later. Throws what the database throws, with nothing changed.
 */
export function prepareCommit(
  database: Database,
  folding: Folding,
  now: () => number = Date.now,
): (batch: Batch) => Committed {
  const { file } = database
  const insertRow = prepareRows(database, 'generations', ROW_COLUMNS, 'ON CONFLICT DO NOTHING')
  // A request that fails over is journaled again: the latest attempt is what a crash is charged for.
  const replaced = JOURNAL_COLUMNS.slice(1).map((name) => `${name} = excluded.${name}`)
  const insertJournal = prepareRows(
    database,
    'journal',
    JOURNAL_COLUMNS,
    `ON CONFLICT (generation_id) DO UPDATE SET ${replaced.join(', ')}`,
  )
  const deleteJournal = file.prepare<unknown, [string]>('DELETE FROM journal WHERE generation_id = ?')
  const creatorOf = prepareCreators(database)
  const { bounds } = folding
  const apps = prepareApps(database)
  const exportRows = prepareOutbox(database, now)

  /** False for a row that is in the table already. */
  function insert(row: NewRow, appId: number | null): boolean {
    const { values } = row
    row.userId = creatorOf(row.keyHash)
    values[FILLED_IN.userId] = row.userId
    values[FILLED_IN.appId] = appId
    if (row.labels !== null) {
      row.labels = bounds.bounded(row)
      values[FILLED_IN.labels] = JSON.stringify(row.labels)
    }
    return insertRow(values) > 0
  }

  function write({ settled, journaled, forgotten }: Batch, appsOf: ReturnType<typeof apps.begin>) {
    for (const each of journaled) insertJournal(journalValuesOf(each))
    const found: NewRow[] = []
    const exported: OutboxText[] = []
    for (const row of settled) {
      if (!insert(row, appsOf.idOf(row.origin, row.title, row.startedAt))) found.push(row)
      else if (row.outbox !== null) exported.push({ workspaceId: row.workspaceId, text: row.outbox })
    }
    for (const id of forgotten) deleteJournal.run(id)
    if (exported.length > 0) exportRows(exported)
    if (found.length > 0) folding.foldWithin()
    return { found, isExported: exported.length > 0 }
  }

  return (batch) => {
    const appsOf = apps.begin()
    let written: ReturnType<typeof write>
    try {
      written = transact(file, () => write(batch, appsOf))
    } catch (error) {
      bounds.drop()
      folding.doubt()
      throw error
    }
    const { found, isExported } = written
    appsOf.keep()
    bounds.keep()
    if (batch.journaled.length > 0) folding.journaled()
    if (found.length > 0) {
      folding.forget()
      return { added: batch.settled.filter((row) => !found.includes(row)), found, isExported }
    }
    for (const row of batch.settled) folding.add(row)
    return { added: batch.settled, found: NONE, isExported }
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
