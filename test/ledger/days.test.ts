import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Database } from '../../src/db/database.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { sumUsage, type UsageQuery } from '../../src/ledger/usage-sums.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { type DataFolder, entryOf, makeFolder, NOON, openMigrated, rowsOf, settlementOf } from './fixture.ts'

const HOUR_MS = 3_600_000
const MIDNIGHT = Date.UTC(2026, 10, 18)
const LIMITS = { timeoutMs: 10_000, maxGroups: 1000 }

let folder: DataFolder
let database: Database

/** 60 settlements over seventeen days, in no order of time, by two keys. */
beforeEach(async () => {
  folder = makeFolder()
  database = openMigrated(folder.databasePath)
  const { ledger } = openLedger(database, { now: () => NOON })
  for (let index = 0; index < 60; index++) {
    const over = {
      keyHash: `key-${index % 2}`,
      isByok: index % 7 === 0,
      startedAt: MIDNIGHT - ((index * 11) % 70) * 6 * HOUR_MS - (index % 3 === 0 ? 1 : 0),
    }
    const entry = entryOf(over)
    const hold = ledger.reserve({ ...entry, gates: [], amountNanoUsd: 0 })
    await ledger.settle(hold, settlementOf({ ...entry, costNanoUsd: 100 + index }))
  }
  await ledger.close()
})

afterEach(() => {
  database.close()
  folder.remove()
})

const days = () => rowsOf(database, 'SELECT * FROM usage_daily ORDER BY day, key_hash, is_byok')

test('a ledger from before there were daily sums is given them when it is opened, once', async () => {
  const before = days()
  expect(before.length).toBeGreaterThan(10)
  database.file.run('DELETE FROM usage_daily')
  expect(verifyLedger(database).differences.length).toBeGreaterThan(0)
  await openLedger(database, { now: () => NOON }).ledger.close()
  expect(days()).toEqual(before)
  expect(verifyLedger(database)).toMatchObject({ differences: [], days: before.length })

  // What is there is left alone: verify is to tell of it, not the start to hide it.
  database.file.run("DELETE FROM usage_daily WHERE key_hash = 'key-1'")
  const left = days()
  await openLedger(database, { now: () => NOON }).ledger.close()
  expect(days()).toEqual(left)

  database.file.run('DELETE FROM usage_daily')
  await openLedger(database, { now: () => NOON }).ledger.close()
})

test('a crash is settled beside the days of before', async () => {
  const { ledger } = openLedger(database, { now: () => NOON })
  const entry = entryOf({ startedAt: NOON })
  ledger.reserve({ ...entry, gates: [], amountNanoUsd: 100 })
  ledger.journal(entry)
  await ledger.close()
  database.file.run('DELETE FROM usage_daily')
  expect(openLedger(database, { now: () => NOON }).recovered).toBe(1)
  expect(verifyLedger(database)).toMatchObject({ differences: [], generations: 61 })
})

const spans: [string, number, number][] = [
  ['whole days', MIDNIGHT - 96 * HOUR_MS, MIDNIGHT - 24 * HOUR_MS],
  ['from within a day into another', MIDNIGHT - 80 * HOUR_MS, MIDNIGHT - 5 * HOUR_MS],
  ['within one day', MIDNIGHT - 20 * HOUR_MS, MIDNIGHT - 15 * HOUR_MS],
  ['everything', 0, NOON],
]

test('a span is sliced where its weeks and months end', async () => {
  const bucketsOf = async (granularity: 'week' | 'month') => {
    const wanted = { dimensions: [], filters: [], granularity, from: 0, until: NOON }
    return (await sumUsage(database.db, wanted, LIMITS)).map(({ bucket }) =>
      new Date(bucket ?? 0).toISOString(),
    )
  }
  expect((await bucketsOf('week')).map((bucket) => bucket.slice(0, 10))).toEqual([
    '2026-10-26',
    '2026-11-02',
    '2026-11-09',
    '2026-11-16',
  ])
  expect((await bucketsOf('month')).map((bucket) => bucket.slice(0, 7))).toEqual(['2026-10', '2026-11'])
})

test.each(spans)('days sum to what their hours do: %s', async (_, from, until) => {
  const ask = async (query: Partial<UsageQuery>) =>
    sumUsage(database.db, { dimensions: [], granularity: null, filters: [], from, until, ...query }, LIMITS)
  for (const dimensions of [[], ['api_key_hash'], ['is_byok', 'model']] as const) {
    const hours = await ask({ dimensions, granularity: 'hour' })
    expect(hours.length).toBeGreaterThan(0)
    const bySpan = await ask({ dimensions })
    const longer = await Promise.all(
      (['day', 'week', 'month'] as const).map((granularity) => ask({ dimensions, granularity })),
    )
    for (const groups of [bySpan, ...longer]) {
      const spent = new Map<string, number>()
      for (const { values, sums } of groups) {
        const name = JSON.stringify(values)
        spent.set(name, (spent.get(name) ?? 0) + sums.usage_nano_usd + sums.byok_usage_nano_usd)
      }
      for (const { values, sums } of hours) {
        const name = JSON.stringify(values)
        spent.set(name, (spent.get(name) ?? 0) - sums.usage_nano_usd - sums.byok_usage_nano_usd)
      }
      expect([...spent.values()].filter((left) => left !== 0)).toEqual([])
    }
  }
  const filters = [{ dimension: 'api_key_hash', values: ['key-1'], isNegated: true }] as const
  const [other] = await ask({ filters })
  const [all] = await ask({})
  expect(other?.sums.requests ?? 0).toBeLessThan(all?.sums.requests ?? 0)
})
