import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../src/db/database.ts'
import { verifyFile } from '../src/ledger/verify.ts'

/**
 * Removes a folder of a test, and throws where a ledger in it, at whatever depth, does not add up to the nano-dollar:
 * no suite may leave one that does not. Close the ledger first.
 */
export function removeVerified(folder: string): void {
  const differences: string[] = []
  try {
    for (const path of new Bun.Glob(`**/${DATABASE_FILE}`).scanSync({ cwd: folder, dot: true }))
      differences.push(...verifyFile(join(folder, path)).differences)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  if (differences.length > 0) throw new Error(`verify: ${differences.join('; ')}`)
}

/** Removes a folder in which a test broke ledgers on purpose. */
export const removeBroken = (folder: string): void => rmSync(folder, { recursive: true, force: true })
