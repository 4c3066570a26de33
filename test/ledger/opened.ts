import { afterEach, beforeEach, expect } from 'bun:test'
import type { Database } from '../../src/db/database.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { type DataFolder, makeFolder, NOON, openMigrated } from './fixture.ts'

interface Opened {
  readonly folder: DataFolder
  readonly database: Database
}
interface OpenedLedger extends Opened {
  readonly ledger: Ledger
  /** Closes the ledger and its file, and opens both again. */
  reopen(now?: () => number): Promise<void>
}

function open(): Opened {
  const folder = makeFolder()
  return { folder, database: openMigrated(folder.databasePath) }
}

function close({ folder, database }: Opened): void {
  const { differences } = verifyLedger(database)
  database.close()
  folder.removeBroken()
  expect(differences).toEqual([])
}

/** A migrated database in a folder of its own for each test of the file. After it, its ledger must verify. */
export function databaseForEach(): Opened {
  let current: Opened
  beforeEach(() => {
    current = open()
  })
  afterEach(() => close(current))
  return {
    get folder() {
      return current.folder
    },
    get database() {
      return current.database
    },
  }
}

/** The same with a ledger whose clock stands at NOON. */
export function ledgerForEach(): OpenedLedger {
  let current: Opened
  let ledger: Ledger
  const openOn = (now: () => number): void => {
    ledger = openLedger(current.database, { now }).ledger
  }
  beforeEach(() => {
    current = open()
    openOn(() => NOON)
  })
  afterEach(async () => {
    await ledger.close()
    close(current)
  })
  return {
    get folder() {
      return current.folder
    },
    get database() {
      return current.database
    },
    get ledger() {
      return ledger
    },
    async reopen(now = () => NOON) {
      await ledger.close()
      current.database.close()
      current = { ...current, database: openMigrated(current.folder.databasePath) }
      openOn(now)
    },
  }
}
