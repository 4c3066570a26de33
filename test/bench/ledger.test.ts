import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ASKS } from '../../bench/ledger/asks.ts'
import { rowsThatFit, seed } from '../../bench/ledger/seed.ts'
import { startMockUpstream } from '../../bench/mock-upstream.ts'
import { LEDGER_STEPS, readSettings } from '../../bench/settings.ts'
import { DATABASE_FILE, openForReading } from '../../src/db/database.ts'
import { verifyFile } from '../../src/ledger/verify.ts'
import { removeVerified } from '../verified.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-seed-'))
afterAll(() => removeVerified(folder))

test('a seeded ledger verifies, spans a year, and knows its keys', async () => {
  const rows = 12_000
  const { hours } = await seed(folder, rows, () => {})
  const path = join(folder, 'data', DATABASE_FILE)
  const report = verifyFile(path)
  expect(report).toMatchObject({ generations: rows, hours, differences: [] })
  expect(report.spentNanoUsd).toBeGreaterThan(0)
  const database = openForReading(path)
  const one = (sql: string) => database.file.query<{ n: number }, []>(sql).get()?.n
  expect(one('SELECT count(DISTINCT created_at / 86400000) AS n FROM generations')).toBeGreaterThan(364)
  expect(one('SELECT count(*) AS n FROM generations WHERE is_byok')).toBeGreaterThan(rows / 100)
  expect(one(`SELECT count(*) AS n FROM spending WHERE scope = 'guardrail'`)).toBeGreaterThan(0)
  const strangers = 'SELECT count(*) AS n FROM generations WHERE key_hash NOT IN (SELECT hash FROM api_keys)'
  expect(one(strangers)).toBe(0)
  database.close()
})

test('a ledger that does not fit on the disk is not seeded', () => {
  expect(rowsThatFit(folder, 10_000)).toBe(10_000)
  expect(rowsThatFit(folder, 1e12)).toBe(1_000_000)
})

describe('the mock answers every request of the ledger bench', () => {
  const mock = startMockUpstream()
  afterAll(() => mock.stop(true))
  for (const ask of ASKS) {
    test(ask.name, async () => {
      const path = ask.path.replace('/api/v1', '/v1')
      const reply = await fetch(`http://127.0.0.1:${mock.port}${path}`, {
        method: 'POST',
        body: ask.body(ask.model),
      })
      const text = await reply.text()
      // A provider of Responses sends no [DONE]: the gateway adds it.
      const end = ask.name === 'responses' ? 'data: [DONE]\n\n' : ''
      expect(ask.faultOf(reply.status, text + end)).toBeNull()
      expect(ask.faultOf(reply.status, text.slice(0, text.length / 2))).not.toBeNull()
      expect(ask.faultOf(402, text)).toContain('402')
    })
  }
})

test('steps run in their own order, and an unknown one is named', () => {
  expect(readSettings(['ledger'])?.ledger).toEqual({
    steps: [...LEDGER_STEPS],
    rows: 10_000_000,
    kills: 200,
    pairs: 9,
    folder: null,
  })
  expect(readSettings(['ledger', '--steps', 'cpu,burst', '--kills', '7'])?.ledger).toMatchObject({
    steps: ['burst', 'cpu'],
    kills: 7,
  })
  expect(() => readSettings(['ledger', '--steps', 'burst,bust'])).toThrow(
    '--steps: "bust" is not one of burst',
  )
  expect(() => readSettings(['ledger', '--rows', 'many'])).toThrow('--rows: "many"')
})
