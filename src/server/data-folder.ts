import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { BODIES_FILE, DATABASE_FILE, type Database, openBodies, openDatabase } from '../db/database.ts'
import { lockFolder } from '../db/lock.ts'
import {
  appliedTags,
  BODIES_MIGRATIONS,
  type MigrationReport,
  migrate,
  type OnCopy,
} from '../db/migrations.ts'
import { sizeOf } from '../db/space.ts'

export interface DataFolder {
  readonly database: Database
  /** The file of sealed bodies. */
  readonly bodies: Database
  /** The migrations that were applied on opening, per file. */
  readonly migrated: readonly MigrationReport[]
  /** This start created the databases. */
  readonly isNew: boolean
  /** The ledger was missing or empty although stored bodies exist, so a new one was created. */
  readonly hasNewLedger: boolean
  /** Closes the databases and unlocks the folder. */
  close(): void
}

/**
 * Locks the folder for this process, and creates or migrates its databases. Throws an error with a message for the
 * operator: another process uses the folder, it cannot be created, or a database is damaged or newer.
 */
export function openDataFolder(folder: string, onCopy?: OnCopy): DataFolder {
  makeFolder(folder)
  const unlock = lockFolder(folder)
  const open: Database[] = []
  const close = (): void => {
    for (const database of open.toReversed()) database.close()
    unlock()
  }
  const opened = (database: Database): Database => {
    open.push(database)
    return database
  }
  const hasBodies = sizeOf(join(folder, BODIES_FILE)) > 0
  try {
    const database = opened(openDatabase(join(folder, DATABASE_FILE)))
    const isNew = appliedTags(database.file).length === 0
    const migrated = [migrate(database, undefined, onCopy)]
    const bodies = opened(openBodies(join(folder, BODIES_FILE)))
    migrated.push(migrate(bodies, BODIES_MIGRATIONS, onCopy))
    return { database, bodies, migrated, isNew: isNew && !hasBodies, hasNewLedger: isNew && hasBodies, close }
  } catch (error) {
    close()
    throw error
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? error.code : error
    throw new Error(`The data folder ${folder} cannot be created (${why}): set SLUICE_DATA to another folder`)
  }
}
