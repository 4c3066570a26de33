import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/database.ts'
import { readMigrations } from '../../src/db/embedded-migrations.ts'
import { appliedTags, migrate, newestTag } from '../../src/db/migrations.ts'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { openDataFolder } from '../../src/server/data-folder.ts'

setDefaultTimeout(30_000)

/** A process that is killed while it migrates leaves the old schema or the new one, whole. */

const all = readMigrations('sqlite')
/** The last ones are still to come. */
const KNOWN = all.length - 3
const STATEMENTS = all.slice(KNOWN).reduce((sum, { statements }) => sum + statements.length, 0)
const points = ['copy', '0', '1', String(Math.floor(STATEMENTS / 2)), String(STATEMENTS - 1), 'end']

test.each(points)('kill -9 in a migration, at %s', async (point) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-killed-'))
  const path = join(folder, 'sluice.db')
  const before = openDatabase(path)
  migrate(before, all.slice(0, KNOWN))
  before.file.run("INSERT INTO meta (name, value) VALUES ('canary', 'alive')")
  before.close()
  // Again and again, as a supervisor would: it neither fills the disk nor stops a later start.
  for (let time = 0; time < 2; time++) {
    const victim = Bun.spawn(
      [process.execPath, join(import.meta.dir, 'migration-victim.child.ts'), path, String(KNOWN), point],
      { stdout: 'ignore', stderr: 'inherit' },
    )
    await victim.exited
    expect(victim.signalCode).toBe('SIGKILL')
    if (point === 'end') break
  }
  const copies = () => readdirSync(folder).filter((name) => name.includes('.before-'))
  expect(copies().length).toBeLessThanOrEqual(2)
  const opened = openDataFolder(folder)
  expect(appliedTags(opened.database.file).at(-1)).toBe(newestTag())
  const canary = opened.database.file.query("SELECT value FROM meta WHERE name = 'canary'").get()
  expect(canary).toEqual({ value: 'alive' })
  opened.close()
  expect(copies().filter((name) => name.endsWith('.part'))).toEqual([])
  for (const name of copies()) expect(statSync(join(folder, name)).size).toBeGreaterThan(0)
  expect(verifyFolder(folder).differences).toEqual([])
  rmSync(folder, { recursive: true })
})
