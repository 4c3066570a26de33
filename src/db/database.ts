/** The one place that opens database files and knows the driver. */
import { Database as SqliteFile } from 'bun:sqlite'
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { type SQL, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'
import { isObject } from '../core/json.ts'
import { awaitable } from './columns.ts'

/**
 * Queries for everyone but the ledger: `await db.select()…`. Typed as asynchronous, because Postgres will be; on
 * SQLite each query runs at once, on this thread. Never open a transaction with it: use `atomically`.
 */
export type Db = BaseSQLiteDatabase<'async', unknown>
/** The same database for the ledger's writer, which runs prepared statements inside its own transactions. */
export type SyncDb = BaseSQLiteDatabase<'sync', void>
export type { SqliteFile }

export interface Database {
  /** Where the file is. */
  readonly path: string
  readonly db: Db
  readonly sync: SyncDb
  /** The file itself, for migrations, pragmas and the group commit. */
  readonly file: SqliteFile
  /** Leaves everything in the one file. A second call does nothing. */
  close(): void
}

/** The file of the ledger and the administration, inside the data folder. */
export const DATABASE_FILE = 'sluice.db'
/** The file of sealed bodies, inside the data folder. */
export const BODIES_FILE = 'bodies.db'

// synchronous=FULL: commits survive a power cut; group commit pays for it. busy_timeout is short because
// waiting blocks every request: this process is the only writer. 8 MB of pages: rows are added at the end, and the
// system's own cache holds the rest.
const SERVER_PRAGMAS = [
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  'PRAGMA trusted_schema = OFF',
  'PRAGMA journal_size_limit = 67108864',
  'PRAGMA wal_autocheckpoint = 1000',
  'PRAGMA cache_size = -8192',
  'PRAGMA temp_store = MEMORY',
]

// Bodies are large and no money: a power cut may take the last of them, a killed process takes none. Deleted bytes
// are overwritten.
const BODIES_PRAGMAS = ['PRAGMA secure_delete = ON', ...SERVER_PRAGMAS, 'PRAGMA synchronous = NORMAL']

// Deleted text is overwritten.
const DERIVED_PRAGMAS = [
  'PRAGMA secure_delete = ON',
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = NORMAL',
  'PRAGMA trusted_schema = OFF',
]

// Lets the file release the space of deleted rows. SQLite stores it with the first page of a new file; for
// an existing file it would change nothing, and write all the same.
const MAKES_ROOM = 'PRAGMA auto_vacuum = INCREMENTAL'

/**
 * Opens (and makes) the database for the server. Throws a plain sentence when the file is damaged or no database;
 * such a file is not touched.
 */
export const openDatabase = (path: string): Database => openWith(path, SERVER_PRAGMAS)

/** The same for the file of sealed bodies. */
export const openBodies = (path: string): Database => openWith(path, BODIES_PRAGMAS)

function openWith(path: string, pragmas: readonly string[]): Database {
  let file: SqliteFile | undefined
  try {
    makeOwnFile(path)
    file = new SqliteFile(path, { create: true, readwrite: true, strict: true })
    file.run('PRAGMA busy_timeout = 250')
    if (pagesOf(file) === 0) file.run(MAKES_ROOM)
    else refuseDamage(file)
    for (const pragma of pragmas) file.run(pragma)
    return databaseOf(path, file)
  } catch (cause) {
    file?.close()
    throw unreadable(path, cause)
  }
}

/**
 * Creates an empty file that only its owner can read; SQLite gives its logs the same mode. An existing file is not opened,
 * because closing it would drop the locks of this process.
 */
export function makeOwnFile(path: string): void {
  if (existsSync(path)) return
  try {
    closeSync(openSync(path, 'a', 0o600))
  } catch {
    // Opening the database reports why it cannot be created.
  }
}

/**
 * Opens a file that can be made again at any time, such as an index: one that is damaged is replaced by an empty one. For a
 * thread that may wait.
 */
export function openDerived(path: string): SqliteFile {
  try {
    return derived(path)
  } catch (error) {
    if (isClosedToUs(error) || (error instanceof Error && /SQLITE_(?:BUSY|FULL|IOERR)/.test(String(error))))
      throw error
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    return derived(path)
  }
}

function derived(path: string): SqliteFile {
  makeOwnFile(path)
  const file = new SqliteFile(path, { create: true, readwrite: true, strict: true })
  try {
    file.run('PRAGMA busy_timeout = 10000')
    for (const pragma of DERIVED_PRAGMAS) file.run(pragma)
    return file
  } catch (error) {
    file.close()
    throw error
  }
}

/** Opens a file read-only, even if a server uses it. */
export function openForReading(path: string): Database {
  try {
    const file = new SqliteFile(path, { readonly: true, strict: true })
    file.run('PRAGMA busy_timeout = 2000')
    file.query('SELECT count(*) FROM sqlite_master').get()
    return databaseOf(path, file, true)
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

/** A handle over a file that is already open. */
export function databaseOf(path: string, file: SqliteFile, isReadOnly = false): Database {
  const sync = drizzle({ client: file })
  let isClosed = false
  return {
    path,
    db: awaitable(sync),
    sync,
    file,
    close() {
      if (isClosed) return
      isClosed = true
      if (!isReadOnly) emptyLog(file)
      file.close()
    },
  }
}

/**
 * The driver closes for good only once it has forgotten every prepared statement: without this the last commits would
 * stay in the write-ahead log, and a copy of the file alone would lack them.
 */
function emptyLog(file: SqliteFile): void {
  try {
    file.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // A full disk: nothing is lost, the log is read at the next start.
  }
}

/** Opens `path` and keeps it locked against every other process until it is closed; null when another has it. */
export function openExclusively(path: string): { close(): void } | null {
  makeOwnFile(path)
  const file = new SqliteFile(path, { create: true, readwrite: true })
  try {
    file.run('PRAGMA busy_timeout = 500')
    // No journal file, so that a kill leaves no file behind.
    file.run('PRAGMA journal_mode = MEMORY')
    file.run('PRAGMA locking_mode = EXCLUSIVE')
    file.run('BEGIN EXCLUSIVE')
    return { close: () => file.close() }
  } catch (error) {
    file.close()
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return null
    throw error
  }
}

// A larger file is not checked at the start, because that takes too long; `sluice verify` checks any size.
const QUICK_CHECK_PAGES = 8192

const pagesOf = (file: SqliteFile): number =>
  file.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0

function refuseDamage(file: SqliteFile): void {
  if (pagesOf(file) > QUICK_CHECK_PAGES) return
  const verdict = file.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()?.quick_check
  if (verdict !== 'ok') throw new Error(verdict ?? 'quick_check returned nothing')
}

/** Why `path` cannot be used, in a sentence; the driver's error is the cause. */
export function unreadable(path: string, cause: unknown): Error {
  const words = cause instanceof Error ? cause.message : String(cause)
  const message = isClosedToUs(cause)
    ? `The database ${path} cannot be opened: ${words}`
    : `The database ${path} cannot be read: it is damaged or is not an SQLite database (${words}). Put a copy in its place`
  return new Error(message, { cause })
}

/** The file may be intact, but this process lacks the rights to open it, or to create its log. */
export const isClosedToUs = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(?:SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH)|EACCES|EPERM)/.test(String(error.code))

export interface Write {
  run(): unknown
}

/** The same write, which fails with `refusal()` if it changes no row: a condition of the statement did not hold. */
export const mustChange = (write: Write, refusal: () => Error): Write => ({
  run() {
    const result = write.run()
    if (isObject(result) && result['changes'] === 0) throw refusal()
  },
})

/** A check inside the transaction: fails with `refusal()` unless `condition` holds. */
export const requireThat = (tx: Db, condition: SQL | undefined, refusal: () => Error): Write => ({
  run() {
    const rows: unknown = tx.all(sql`select 1 where ${condition}`)
    if (Array.isArray(rows) && rows.length === 0) throw refusal()
  },
})

/** A check inside the transaction: fails with `refusal` unless the query `amount` returns at most `most`. */
export const mustBeAtMost = (
  tx: Db,
  amount: SQL,
  most: number,
  refusal: (amount: number) => Error,
): Write => ({
  run() {
    const rows: unknown = tx.values(amount)
    const found = Number(Array.isArray(rows) && Array.isArray(rows[0]) ? rows[0][0] : Number.NaN)
    if (!(found <= most)) throw refusal(found)
  },
})

/** Whether a unique index over `column` refused a write. */
export function isTaken(thrown: unknown, column: string): boolean {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const isUnique = 'code' in error && error.code === 'SQLITE_CONSTRAINT_UNIQUE'
    if (isUnique && error.message.includes(`.${column}`)) return true
  }
  return false
}

/** Runs `work`; throws `refusal()` instead of its error if a unique index over `column` refused the write. */
export const unlessTaken = <T>(work: Promise<T>, column: string, refusal: () => Error): Promise<T> =>
  work.catch((thrown) => {
    throw isTaken(thrown, column) ? refusal() : thrown
  })

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
