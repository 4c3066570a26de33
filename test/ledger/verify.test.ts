import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE, type Database } from '../../src/db/database.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { formatReport, verifyFile, verifyFolder } from '../../src/ledger/verify.ts'
import { type DataFolder, entryOf, makeFolder, NOON, openMigrated, settlementOf } from './fixture.ts'

let folder: DataFolder
let database: Database
let ledger: Ledger

beforeEach(async () => {
  folder = makeFolder()
  database = openMigrated(folder.databasePath)
  ledger = openLedger(database, { now: () => NOON }).ledger
  for (const over of [{}, { isByok: true }, { keyHash: 'key-2', startedAt: NOON + 3_600_000 * 30 }]) {
    const entry = entryOf(over)
    const hold = ledger.reserve({ ...entry, gates: [], amountNanoUsd: 0 })
    await ledger.settle(hold, settlementOf({ ...entry, finishReason: 'error', costNanoUsd: 100 }))
  }
  ledger.fold()
})

afterEach(() => {
  database.close()
  // Most of these tests break it.
  folder.removeBroken()
})

test('a ledger that adds up, while it is served', () => {
  const report = verifyFolder(folder.path)
  expect(report).toMatchObject({ generations: 3, spentNanoUsd: 300, hours: 3, differences: [] })
  expect(formatReport(report)).toEqual([
    `${folder.databasePath}: ok: 3 generations, ${report.counters} counters and 3 hourly sums, $0.0000003 in all; ` +
      'everything agrees to the nano-dollar',
  ])
})

const lies: { what: string; sql: string; says: string; lines: number }[] = [
  {
    what: 'a counter that is one nano-dollar off',
    sql: "UPDATE spending SET usage_nano_usd = usage_nano_usd + 1 WHERE scope = 'key' AND scope_id = 'key-1' AND interval = 'daily'",
    says: 'key key-1, daily from 2026-11-18T00:00:00Z: the counter is 101 nano-dollars, the rows sum to 100',
    lines: 1,
  },
  {
    what: 'a BYOK counter',
    sql: "UPDATE spending SET byok_usage_nano_usd = 0 WHERE scope = 'workspace' AND interval = 'lifetime'",
    says: 'workspace workspace-1, lifetime: the BYOK counter is 0 nano-dollars, the rows sum to 100',
    lines: 1,
  },
  {
    what: 'a counter that is missing',
    sql: "DELETE FROM spending WHERE scope_id = 'key-2' AND interval = 'weekly'",
    says: 'key key-2, weekly from 2026-11-16T00:00:00Z: the counter is 0 nano-dollars, the rows sum to 100',
    lines: 1,
  },
  {
    what: 'a counter without rows',
    sql: "INSERT INTO spending VALUES ('guardrail', 'g', 'monthly', 1793491200000, 5, 0)",
    says: 'guardrail g, monthly from 2026-11-01T00:00:00Z: the counter is 5 nano-dollars, the rows sum to 0',
    lines: 1,
  },
  {
    what: 'a row that was changed',
    sql: 'UPDATE generations SET tokens_prompt = 15 WHERE rowid = 1',
    says: 'prompt_tokens is 14, the rows sum to 15',
    lines: 1,
  },
  {
    what: 'a daily sum that is off',
    sql: "UPDATE usage_daily SET usage_nano_usd = usage_nano_usd + 1 WHERE key_hash = 'key-2'",
    says: 'usage_nano_usd is 101, the hours sum to 100',
    lines: 1,
  },
  {
    what: 'a daily sum that is missing',
    sql: "DELETE FROM usage_daily WHERE key_hash = 'key-2'",
    says: 'requests is 0, the hours sum to 1',
    lines: 7,
  },
  {
    what: 'a row that was removed',
    sql: 'DELETE FROM generations WHERE is_byok',
    says: 'requests is 1, the rows sum to 0',
    lines: 8 + 7,
  },
  {
    what: 'a settled generation that is journaled too',
    sql: `INSERT INTO journal (generation_id, key_hash, workspace_id, model, provider_slug, provider_name, endpoint_id,
      api_type, streamed, is_byok, origin, http_referer, title, user_agent, request_id, started_at,
      prompt_tokens_estimate, prompt_cost_nano_usd)
      SELECT id, key_hash, workspace_id, model, provider_slug, provider_name, endpoint_id, api_type, streamed, is_byok,
      origin, http_referer, title, user_agent, request_id, created_at, 1, 1 FROM generations WHERE rowid = 1`,
    says: 'settled, and still in the journal',
    lines: 1,
  },
]

test.each(lies)('$what is reported', ({ sql, says, lines }) => {
  database.file.run(sql)
  const printed = formatReport(verifyFolder(folder.path))
  expect(printed.slice(0, -1).some((line) => line.includes(says))).toBe(true)
  expect(printed.length - 1).toBe(lines)
  expect(printed.at(-1)).toContain(`${lines} difference${lines === 1 ? '' : 's'} in `)
})

test('a copy of the file alone is verified, and is not changed', () => {
  database.close()
  const copy = join(folder.path, 'copy.db')
  copyFileSync(folder.databasePath, copy)
  const before = [Bun.hash(readFileSync(copy)), statSync(copy).mtimeMs]
  expect(verifyFile(copy)).toMatchObject({ generations: 3, differences: [] })
  expect([Bun.hash(readFileSync(copy)), statSync(copy).mtimeMs]).toEqual(before)
})

test('a copy in a folder that may not be written is verified', () => {
  database.close()
  const shelf = join(folder.path, 'shelf')
  mkdirSync(shelf)
  copyFileSync(folder.databasePath, join(shelf, DATABASE_FILE))
  chmodSync(join(shelf, DATABASE_FILE), 0o444)
  chmodSync(shelf, 0o555)
  try {
    expect(verifyFolder(shelf)).toMatchObject({
      generations: 3,
      differences: [],
      path: join(shelf, DATABASE_FILE),
    })
  } finally {
    chmodSync(shelf, 0o755)
  }
})

test('an index that disagrees with its table is reported', () => {
  database.close()
  const bytes = readFileSync(folder.databasePath)
  const at = bytes.lastIndexOf('workspace-1')
  bytes.write('workspace-9', at)
  writeFileSync(folder.databasePath, bytes)
  const { differences } = verifyFolder(folder.path)
  expect(differences.length).toBeGreaterThan(0)
})

test('what cannot be verified is refused in a sentence', () => {
  expect(() => verifyFile(join(folder.path, 'nothing.db'))).toThrow('There is no database at')
  const noise = join(folder.path, 'noise.db')
  writeFileSync(noise, 'not a database at all, but long enough to be looked at as one'.repeat(50))
  expect(() => verifyFile(noise)).toThrow('it is damaged or is not an SQLite database')
  database.file.run("INSERT INTO schema_migrations VALUES ('9999_later', 0)")
  expect(() => verifyFolder(folder.path)).toThrow('has the schema 9999_later')
  rmSync(noise)
})
