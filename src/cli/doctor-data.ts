import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { BODIES_FILE, DATABASE_FILE, type Database, openForReading } from '../db/database.ts'
import { appliedTags, BODIES_MIGRATIONS, type Migration, newestTag } from '../db/migrations.ts'
import { openSealer, readSecretKey } from '../db/seal.ts'
import { sizeOf } from '../db/space.ts'

/** `warning`: it runs, but should be checked. `problem`: something will not work. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'problem'
  readonly detail: string
}

const OTHERS = 0o077
const MB = 1_000_000

/** The folder itself, or its nearest existing parent, in which it would be created. */
function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))
}

const mayWrite = (folder: string): boolean => {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

export function checkData({ data }: Config): Finding {
  const check = 'data folder'
  const folder = nearestFolder(data)
  if (!statSync(folder).isDirectory())
    return { check, status: 'problem', detail: `${folder} is a file, not a folder` }
  if (!mayWrite(folder))
    return { check, status: 'problem', detail: `${folder} may not be read and written by this user` }
  if (folder !== data) return { check, status: 'ok', detail: `${data} will be made by the first run` }
  const isOpen = process.platform !== 'win32' && (statSync(data).mode & OTHERS) !== 0
  if (isOpen)
    return { check, status: 'warning', detail: `${data} may be entered by other users: chmod 700 ${data}` }
  return { check, status: 'ok', detail: data }
}

export function checkDatabase({ data }: Config): Finding {
  const path = join(data, DATABASE_FILE)
  if (sizeOf(path) === 0 && sizeOf(join(data, BODIES_FILE)) > 0) {
    const detail = `${path} is missing or empty although ${BODIES_FILE} is there: put it back from a backup before the next start, which would make a new ledger`
    return { check: 'database', status: 'problem', detail }
  }
  return checkFile('database', path)
}

export const checkBodies = ({ data }: Config): Finding =>
  checkFile('stored responses', join(data, BODIES_FILE), BODIES_MIGRATIONS)

function checkFile(check: string, path: string, migrations?: readonly Migration[]): Finding {
  if (!existsSync(path)) return { check, status: 'ok', detail: 'none yet: the first run makes it' }
  return withDatabase(check, path, (database) => {
    const verdict = database.file.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()
    if (verdict?.integrity_check !== 'ok')
      return { check, status: 'problem', detail: `${path} is damaged: ${verdict?.integrity_check}` }
    const schema = appliedTags(database.file).at(-1) ?? ''
    const newest = newestTag(migrations)
    if (schema > newest)
      return { check, status: 'problem', detail: `${path} was written by a newer Sluice (schema ${schema})` }
    const size = Math.ceil(statSync(path).size / MB)
    return {
      check,
      status: 'ok',
      detail: `intact, ${size} MB, schema ${schema === newest ? schema : `${schema}, migrated by the next start`}`,
    }
  })
}

export function checkSecretKey(config: Config): Finding {
  const check = 'secret key'
  const path = join(config.data, 'secret.key')
  const isSet = config.secretKey !== null
  if (!isSet && !existsSync(path)) {
    const isLost = existsSync(join(config.data, DATABASE_FILE))
    const detail = isLost
      ? `${path} is missing: put it back, or set SLUICE_SECRET_KEY`
      : 'none yet: the first run makes it'
    return { check, status: isLost ? 'problem' : 'ok', detail }
  }
  if (!isSet && process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0) {
    return { check, status: 'problem', detail: `${path} may be read by other users: chmod 600 ${path}` }
  }
  return matchesSeal(check, config, isSet ? 'SLUICE_SECRET_KEY' : path)
}

/** Opens the value that was sealed on the first run. */
function matchesSeal(check: string, config: Config, from: string): Finding {
  const key = config.secretKey ?? readSecretKey(config.data)
  const database = join(config.data, DATABASE_FILE)
  if (!existsSync(database)) return { check, status: 'ok', detail: from }
  return withDatabase(check, database, (opened) => {
    const isSealed = opened.file.query("SELECT 1 FROM meta WHERE name = 'secret_check'").get() !== null
    if (isSealed) openSealer(opened, config.data, key)
    return { check, status: 'ok', detail: isSealed ? `${from}, the one that sealed this database` : from }
  })
}

function withDatabase(check: string, path: string, look: (database: Database) => Finding): Finding {
  try {
    const database = openForReading(path)
    try {
      return look(database)
    } finally {
      database.close()
    }
  } catch (error) {
    return { check, status: 'problem', detail: error instanceof Error ? error.message : String(error) }
  }
}

export function checkDisk({ data }: Config): Finding {
  const check = 'disk'
  const folder = nearestFolder(data)
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / MB)
  const detail = `${free.toLocaleString('en-US')} MB free at ${folder}`
  if (free < 100) return { check, status: 'problem', detail: `${detail}: too little to keep a ledger` }
  return { check, status: free < 1000 ? 'warning' : 'ok', detail }
}
