import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openExclusively } from './database.ts'

const LOCK_FILE = 'lock.db'
const HOLDER_FILE = 'lock.pid'

// Referred to from here until they are released: an open file that nothing refers to is closed by the collector,
// and its lock with it.
const held = new Set<{ close(): void }>()

/**
 * Takes the data folder for this process. The lock is the operating system's (SQLite's exclusive lock on a file of
 * its own, the same on every platform) and dies with the process, however it dies. Throws within 2 s, naming the
 * holder, when another process has it. Gives back what releases it.
 */
export function lockFolder(folder: string): () => void {
  const holder = join(folder, HOLDER_FILE)
  const lock = openExclusively(join(folder, LOCK_FILE))
  if (lock === null) throw new Error(heldBy(folder, holder))
  held.add(lock)
  // A new file: one of an earlier process may have other rights, or be a link.
  rmSync(holder, { force: true })
  writeFileSync(holder, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
  return () => {
    if (!held.delete(lock)) return
    rmSync(holder, { force: true })
    lock.close()
  }
}

/** Whether another process holds the folder. Does not create a missing one. */
export function isLocked(folder: string): boolean {
  const path = join(folder, LOCK_FILE)
  if (!existsSync(path)) return false
  const lock = openExclusively(path)
  lock?.close()
  return lock === null
}

function heldBy(folder: string, holder: string): string {
  const pid = readPid(holder)
  const who = pid === null ? 'another process' : `process ${pid}`
  return `The data folder ${folder} is in use by ${who}: stop it first, or choose another folder with SLUICE_DATA`
}

function readPid(path: string): string | null {
  try {
    return /^\d{1,10}$/.exec(readFileSync(path, 'utf8').trim())?.[0] ?? null
  } catch {
    return null
  }
}
