/** The one place that opens database files and knows the driver. */
import { Database as SqliteFile } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'
import { awaitable } from './columns.ts'
import * as tables from './tables.ts'

/**
 * Queries for everyone but the ledger: `await db.select()…`. Typed as asynchronous, because Postgres will be; on
 * SQLite each query runs at once, on this thread. Never open a transaction with it: use `atomically`.
 */
export type Db = BaseSQLiteDatabase<'async', unknown, typeof tables>
/** The same database for the ledger's writer, which runs prepared statements inside its own transactions. */
export type SyncDb = BaseSQLiteDatabase<'sync', void, typeof tables>
export type { SqliteFile }

export interface Database {
  /** Where the file is. */
  readonly path: string
  readonly db: Db
  readonly sync: SyncDb
  /** The file itself, for migrations, pragmas and the group commit. */
  readonly file: SqliteFile
  close(): void
}

/** The file of the ledger and the administration, inside the data folder. */
export const DATABASE_FILE = 'sluice.db'

// synchronous=FULL: what was committed survives a power cut; group commit pays for it. busy_timeout is short because
// waiting blocks every request: this process is the only writer.
const SERVER_PRAGMAS = [
  'PRAGMA busy_timeout = 250',
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  'PRAGMA trusted_schema = OFF',
  'PRAGMA journal_size_limit = 67108864',
  'PRAGMA wal_autocheckpoint = 1000',
  'PRAGMA cache_size = -32768',
  'PRAGMA temp_store = MEMORY',
]

/** Opens (and makes) the database for the server. Throws a plain sentence when the file is no readable database. */
export function openDatabase(path: string): Database {
  const file = new SqliteFile(path, { create: true, readwrite: true, strict: true })
  try {
    for (const pragma of SERVER_PRAGMAS) file.run(pragma)
  } catch (cause) {
    file.close()
    throw unreadable(path, cause)
  }
  return databaseOf(path, file)
}

function databaseOf(path: string, file: SqliteFile): Database {
  const sync = drizzle({ client: file, schema: tables })
  return { path, db: awaitable(sync), sync, file, close: () => file.close() }
}

/** Says in a sentence that `path` is damaged or no database; the driver's words are the cause. */
export const unreadable = (path: string, cause: unknown): Error =>
  new Error(
    `The database ${path} cannot be read: it is damaged or is no SQLite database. Restore a copy, or run \`sluice verify\``,
    { cause },
  )

interface Write {
  run(): unknown
}

/**
 * All writes or none, in one immediate transaction. The callback only *lists* writes, so nothing can await inside an
 * open transaction (an async callback on this driver would commit in spite of a throw).
 */
export async function atomically(database: Database, writes: (tx: Db) => readonly Write[]): Promise<void> {
  transact(database.file, () => {
    for (const write of writes(database.db)) write.run()
  })
}

/** Runs `work` in one immediate transaction, rolled back when it throws. `work` is synchronous. */
export function transact<T>(file: SqliteFile, work: () => T): T {
  file.run('BEGIN IMMEDIATE')
  try {
    const result = work()
    file.run('COMMIT')
    return result
  } catch (error) {
    if (file.inTransaction) file.run('ROLLBACK')
    throw error
  }
}
