import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { makeFolder, openMigrated } from './fixture.ts'

const folder = makeFolder()
afterAll(folder.remove)

/** The database takes half of it, the rows of this test another quarter; the log, left alone, would take four times it. */
const MOST_KB = 1_000
const WANTED = 500

test.skipIf(process.platform === 'win32')(
  'a log that cannot grow is used again: rows are written as long as the database has room',
  async () => {
    openMigrated(folder.databasePath).close()
    const writer = join(import.meta.dir, 'kill-writer.child.ts')
    const command = `ulimit -f ${MOST_KB}; exec "$0" "$1" "$2"`
    const child = Bun.spawn(['bash', '-c', command, process.execPath, writer, folder.path], {
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
    let acknowledged = 0
    for await (const bytes of child.stdout) {
      acknowledged += bytes.filter((byte) => byte === 10).length
      if (acknowledged > WANTED) child.kill('SIGKILL')
    }
    clearTimeout(late)
    await child.exited
    expect(acknowledged).toBeGreaterThan(WANTED)
    const { differences, generations } = verifyFolder(folder.path)
    expect(differences).toEqual([])
    expect(generations).toBeGreaterThan(WANTED - 1)
  },
  20_000,
)
