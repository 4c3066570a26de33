/** Takes the folder that its argument names, says how that went, and then stays until it is killed. */
import { writeSync } from 'node:fs'
import { lockFolder } from '../../src/db/lock.ts'

try {
  lockFolder(process.argv[2] ?? '')
  // Collects a lock that is no longer referenced.
  Bun.gc(true)
  writeSync(1, 'held\n')
  setInterval(() => {}, 60_000)
} catch (error) {
  writeSync(1, `${error instanceof Error ? error.message : String(error)}\n`)
}
