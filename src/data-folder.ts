import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE, type Database, openDatabase } from './db/database.ts'
import { lockFolder } from './db/lock.ts'
import { type MigrationReport, migrate } from './db/migrations.ts'

export interface DataFolder {
  readonly database: Database
  /** What was migrated on opening. */
  readonly migrated: MigrationReport
  /** Closes the database and gives the folder free. */
  close(): void
}

/**
 * Takes the folder for this process, with its database migrated; makes both where there are none. Throws a sentence
 * for the operator: another process has the folder, it cannot be made, the database is damaged or newer.
 */
export function openDataFolder(folder: string): DataFolder {
  makeFolder(folder)
  const unlock = lockFolder(folder)
  let database: Database | undefined
  const close = (): void => {
    database?.close()
    unlock()
  }
  try {
    database = openDatabase(join(folder, DATABASE_FILE))
    return { database, migrated: migrate(database), close }
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
    throw new Error(`The data folder ${folder} cannot be made (${why}): name another with SLUICE_DATA`)
  }
}
