import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DATABASE_FILE } from '../src/db/database.ts'
import { openLedger } from '../src/ledger/open.ts'
import { entryOf, openMigrated, settlementOf } from './ledger/fixture.ts'
import { removeVerified } from './verified.ts'

/** A folder with a ledger of one generation somewhere in it, and what a test might have done to it. */
async function folderWith(sql?: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-verified-'))
  const data = join(folder, 'some', '.where')
  mkdirSync(data, { recursive: true })
  const database = openMigrated(join(data, DATABASE_FILE))
  const { ledger } = openLedger(database)
  const entry = entryOf()
  await ledger.settle(ledger.reserve({ ...entry, gates: [], amountNanoUsd: 500 }), settlementOf(entry))
  await ledger.close()
  if (sql !== undefined) database.file.run(sql)
  database.close()
  return folder
}

describe('a folder that a suite leaves', () => {
  test('is removed where its ledger verifies', async () => {
    const folder = await folderWith()
    removeVerified(folder)
    expect(existsSync(folder)).toBe(false)
  })

  for (const sql of [
    'UPDATE spending SET usage_nano_usd = usage_nano_usd + 1',
    'DELETE FROM usage_hourly',
    'UPDATE generations SET cost_nano_usd = 499',
  ]) {
    test(`fails the suite after: ${sql}`, async () => {
      const folder = await folderWith(sql)
      expect(() => removeVerified(folder)).toThrow('verify: ')
      expect(existsSync(folder)).toBe(false)
    })
  }
})

/** A gateway in the test's own process verifies its ledger when it is stopped. */
const OPENS = /\b(?:openDatabase|openMigrated|openLedger|startServer|makeFolder)\(/
const REMOVES = /\brm(?:Sync)?\([^()]*(?:\([^()]*\))?[^()]*recursive/
/** These break files of databases, or hold none with a ledger in it. */
const EXCEPT = /^(?:db\/|verified\.ts$|gateway\.ts$|ledger\/fixture\.ts$|cli\/process\.ts$)/

test('no suite that opens a ledger removes it unverified', () => {
  const files = [...new Bun.Glob('**/*.ts').scanSync({ cwd: import.meta.dir })]
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !EXCEPT.test(file))
  const opening = files.filter((file) => OPENS.test(readFileSync(join(import.meta.dir, file), 'utf8')))
  expect(opening.length).toBeGreaterThan(15)
  const unverified = opening.filter((file) => REMOVES.test(readFileSync(join(import.meta.dir, file), 'utf8')))
  expect(unverified).toEqual([])
})
