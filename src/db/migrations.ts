import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Database, makeOwnFile, type SqliteFile, transact } from './database.ts'
import { readMigrations } from './embedded-migrations.ts' with { type: 'macro' }
import type { Migration } from './embedded-migrations.ts'

export type { Migration }

const EMBEDDED: readonly Migration[] = readMigrations('sqlite')
/** Those of the sealed bodies' file. */
export const BODIES_MIGRATIONS: readonly Migration[] = readMigrations('bodies-sqlite')

export interface MigrationReport {
  /** Tags, in the order in which they were applied; empty when there was nothing to do. */
  applied: string[]
  /** The path of the copy from before; null if none was needed (a new file, or nothing to do). */
  copy: string | null
}

/** Called before the copy with its size: copying gigabytes takes minutes, so the log must announce it. */
export type OnCopy = (about: { copy: string; bytes: number }) => void

/**
 * Brings the schema up to date. A file that holds something is copied first; then all that is missing is applied in
 * one transaction: all of it or nothing. Throws a plain sentence, with the file unchanged, for a file of a newer
 * version, a file that is not ours, and a migration that fails.
 */
export function migrate(
  database: Database,
  migrations: readonly Migration[] = EMBEDDED,
  onCopy: OnCopy = () => {},
): MigrationReport {
  const known = appliedTags(database.file)
  refuseUnknown(database, known, migrations)
  const missing = migrations.filter((migration) => !known.includes(migration.tag))
  if (missing.length === 0) return { applied: [], copy: null }
  const copy = known.length === 0 ? null : copyBefore(database, missing[0]?.tag ?? '', onCopy)
  applyAll(database, missing, copy)
  return { applied: missing.map((migration) => migration.tag), copy }
}

/** The tags of the migrations that a file has seen; empty for a new file. Only reads. */
export function appliedTags(file: SqliteFile): string[] {
  const table = file.query("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").get()
  if (table === null) return []
  return file
    .query<{ tag: string }, []>('SELECT tag FROM schema_migrations ORDER BY tag')
    .all()
    .map((row) => row.tag)
}

/** The newest schema that this program knows. */
export const newestTag = (migrations: readonly Migration[] = EMBEDDED): string => migrations.at(-1)?.tag ?? ''

function refuseUnknown(database: Database, known: string[], migrations: readonly Migration[]): void {
  const unknown = known.filter((tag) => !migrations.some((migration) => migration.tag === tag))
  if (unknown.length > 0) {
    throw new Error(
      `The database ${database.path} was written by a newer Sluice: its schema is ${unknown.at(-1)}, and this one ` +
        `supports schemas up to ${newestTag(migrations)}. Use the newer version, or a copy from before it`,
    )
  }
  if (known.length > 0) return
  const foreign = database.file
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1")
    .get()
  if (foreign !== null) {
    throw new Error(
      `The file ${database.path} is not a Sluice database: it holds the table "${foreign.name}"`,
    )
  }
}

/** A consistent copy next to the file, named after the first pending migration. A failed copy stops the start. */
function copyBefore(database: Database, tag: string, onCopy: OnCopy): string {
  let copy = firstCopy(database, tag)
  for (let n = 2; existsSync(copy); n++) copy = `${firstCopy(database, tag)}.${n}`
  // Renamed once it is complete: a killed process leaves one draft, which the next one replaces.
  const draft = `${firstCopy(database, tag)}.part`
  try {
    rmSync(draft, { force: true })
    makeOwnFile(draft)
    onCopy({ copy, bytes: statSync(database.path).size })
    database.file.run('VACUUM INTO ?', [draft])
    renameSync(draft, copy)
  } catch (cause) {
    rmSync(draft, { force: true })
    throw new Error(
      `The database was not changed, because no copy of it could be made at ${copy}: ${messageOf(cause)}`,
      { cause },
    )
  }
  return copy
}

const firstCopy = ({ path }: Database, tag: string): string => `${path}.before-${tag}`

/**
 * After a failed migration the file is unchanged, so only the first copy of a state is kept: a process that restarts
 * forever must not fill the disk with copies. Null: the copy of this attempt was deleted.
 */
function keptOf(database: Database, tag: string, copy: string): string | null {
  if (copy === firstCopy(database, tag)) return copy
  rmSync(copy, { force: true })
  return null
}

/** Copies contain data that was deleted since, so they expire with the longest retention. */
export function removeCopies({ path }: Database, olderThan: number): void {
  const folder = dirname(path)
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(path)}.before-`)) continue
    const copy = join(folder, name)
    if (statSync(copy).mtimeMs <= olderThan) rmSync(copy)
  }
}

function applyAll(database: Database, missing: readonly Migration[], copy: string | null): void {
  const { file } = database
  // Rebuilding a table that others point at needs them off, and a pragma has no effect inside a transaction.
  file.run('PRAGMA foreign_keys = OFF')
  let current = ''
  try {
    transact(file, () => {
      file.run(
        'CREATE TABLE IF NOT EXISTS schema_migrations (tag TEXT PRIMARY KEY, applied_at INTEGER NOT NULL)',
      )
      for (const { tag, statements } of missing) {
        current = tag
        for (const statement of statements) if (statement.trim() !== '') file.run(statement)
        file.run('INSERT INTO schema_migrations (tag, applied_at) VALUES (?, ?)', [tag, Date.now()])
      }
      const broken = file.query<{ table: string }, []>('PRAGMA foreign_key_check').get()
      if (broken !== null) throw new Error(`rows of "${broken.table}" point at rows that do not exist`)
    })
  } catch (cause) {
    const kept = copy === null ? null : keptOf(database, missing[0]?.tag ?? '', copy)
    throw new Error(
      `The database ${database.path} could not be migrated to the schema ${current} and is unchanged: ` +
        `${messageOf(cause)}${kept === null ? '' : `. A copy from before lies at ${kept}`}`,
      { cause },
    )
  } finally {
    file.run('PRAGMA foreign_keys = ON')
  }
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
