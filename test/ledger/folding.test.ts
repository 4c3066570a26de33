import { expect, test } from 'bun:test'
import { localUsage } from '../../src/cli/usage-source.ts'
import type { Settlement } from '../../src/core/generation.ts'
import { openDatabase } from '../../src/db/database.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { prune } from '../../src/ledger/retention.ts'
import { verifyFile, verifyLedger } from '../../src/ledger/verify.ts'
import { entryOf, NOON, rowsOf, settlementOf } from './fixture.ts'
import { ledgerForEach } from './opened.ts'

const DAY_MS = 86_400_000

const opened = ledgerForEach()

async function spend(costNanoUsd: number, over: Partial<Settlement> = {}): Promise<void> {
  const settlement = settlementOf({ ...over, costNanoUsd })
  const hold = opened.ledger.reserve({ ...settlement, gates: [], amountNanoUsd: 0 })
  await opened.ledger.settle(hold, settlement)
}

const counted = () =>
  Number(rowsOf(opened.database, 'SELECT coalesce(sum(requests), 0) AS n FROM usage_hourly')[0]?.['n'])
const unfolded = () => verifyLedger(opened.database).unfolded

test('rows are committed alone; their sums follow within a second, and at once when there are many', async () => {
  await spend(5)
  expect([counted(), unfolded()]).toEqual([0, 1])
  expect((await opened.ledger.usageOf('key-1', NOON)).total).toBe(5)
  await Promise.all(Array.from({ length: 1100 }, () => spend(1)))
  await new Promise(setImmediate)
  expect(counted()).toBeGreaterThanOrEqual(1000)
  while (unfolded() > 0) await Bun.sleep(50)
  expect(counted()).toBe(1101)
  expect((await opened.ledger.usageOf('key-1', NOON)).total).toBe(1105)
})

test('a process that dies before a fold leaves rows that the next start adds to the sums, once', async () => {
  for (let n = 0; n < 7; n++) await spend(10, { labels: [['user', 'ada']] })
  const next = openLedger(opened.database, { now: () => NOON }).ledger
  expect([counted(), unfolded()]).toEqual([7, 0])
  expect(await next.usageOf('key-1', NOON)).toMatchObject({ total: 70, daily: 70 })
  // What the first process still has in memory is in the sums: its own fold notices.
  expect(opened.ledger.fold()).toBe(true)
  expect(counted()).toBe(7)
  openLedger(opened.database, { now: () => NOON })
  expect(counted()).toBe(7)
})

test('a settled request that is still in the journal is not settled again after a crash', async () => {
  const entry = entryOf()
  const hold = opened.ledger.reserve({ ...entry, gates: [], amountNanoUsd: 100 })
  opened.ledger.journal(entry)
  while (rowsOf(opened.database, 'SELECT 1 FROM journal').length === 0) await new Promise(setImmediate)
  await opened.ledger.settle(hold, settlementOf({ ...entry, costNanoUsd: 33 }))
  expect(rowsOf(opened.database, 'SELECT 1 FROM journal').length).toBe(1)
  const next = openLedger(opened.database, { now: () => NOON })
  expect(next.recovered).toBe(0)
  expect(rowsOf(opened.database, 'SELECT cost_nano_usd AS n FROM generations')).toEqual([{ n: 33 }])
  expect(rowsOf(opened.database, 'SELECT 1 FROM journal')).toEqual([])
  expect((await next.ledger.usageOf('key-1', NOON)).total).toBe(33)
})

test('sluice usage beside a server includes rows that are not summed yet, by day, model and label', async () => {
  await spend(100, { labels: [['user', 'ada']] })
  opened.ledger.fold()
  await spend(20, { labels: [['user', 'ada']] })
  await spend(3, { labels: [['user', 'bob']], modelId: 'lab/other', isByok: true })
  const period = { from: NOON - DAY_MS, until: NOON + DAY_MS }
  const linesBy = async (by: 'day' | 'model' | 'user') =>
    (await localUsage(opened.folder.databasePath, by, period)).lines
      .map(({ id, requests, usageNanoUsd, byokUsageNanoUsd }) => [
        id,
        requests,
        usageNanoUsd,
        byokUsageNanoUsd,
      ])
      .sort()
  expect(unfolded()).toBe(2)
  expect(await linesBy('day')).toEqual([['2026-11-18', 3, 120, 3]])
  expect(await linesBy('model')).toEqual([
    ['lab/other', 1, 0, 3],
    ['lab/tiny', 2, 120, 0],
  ])
  expect(await linesBy('user')).toEqual([
    ['ada', 2, 120, 0],
    ['bob', 1, 0, 3],
  ])
})

test('rows that are in no sum yet are not pruned, and row ids that are given out again are summed', async () => {
  const old = { startedAt: NOON - 9 * DAY_MS }
  const pruned = async (): Promise<number> => {
    const retention = { maxAgeMs: DAY_MS, maxBytes: null }
    const pause = async (): Promise<void> => undefined
    return (await prune(opened.database, { retention, now: () => NOON, mayPrune: () => true, pause })).pruned
  }
  for (let n = 0; n < 5; n++) await spend(10, old)
  expect(await pruned()).toBe(0)
  opened.ledger.fold()
  expect(await pruned()).toBe(5)
  // SQLite counts from 1 again.
  for (let n = 0; n < 3; n++) await spend(10)
  expect(unfolded()).toBe(3)
  opened.ledger.fold()
  expect([counted(), unfolded()]).toEqual([8, 0])
  for (let n = 0; n < 2; n++) await spend(10, old)
  opened.ledger.fold()
  expect(await pruned()).toBe(2)
  await spend(10)
  opened.ledger.fold()
  expect(verifyLedger(opened.database)).toMatchObject({
    generations: 4,
    pruned: 7,
    unfolded: 0,
    differences: [],
  })
})

test('a compact copy keeps which rows are in the sums', async () => {
  for (let n = 0; n < 50; n++) await spend(10, { startedAt: n < 20 ? NOON - 9 * DAY_MS : NOON })
  opened.ledger.fold()
  const retention = { maxAgeMs: DAY_MS, maxBytes: null }
  await prune(opened.database, {
    retention,
    now: () => NOON,
    mayPrune: () => true,
    pause: async () => undefined,
  })
  for (let n = 0; n < 4; n++) await spend(10)
  const path = `${opened.folder.path}/copy.db`
  opened.database.file.run('VACUUM INTO ?', [path])
  expect(verifyFile(path)).toMatchObject({ generations: 34, unfolded: 4, differences: [] })
  opened.database.file.run('VACUUM')
  expect(unfolded()).toBe(4)
  const copy = openDatabase(path)
  openLedger(copy, { now: () => NOON })
  expect(verifyLedger(copy)).toMatchObject({ generations: 34, unfolded: 0, differences: [] })
  copy.close()
})
