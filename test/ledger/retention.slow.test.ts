import { afterEach, beforeEach, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { newUuid } from '../../src/core/ids.ts'
import type { Database } from '../../src/db/database.ts'
import { usedBytes } from '../../src/db/space.ts'
import { generationFeedback } from '../../src/db/tables.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { MOST_ROWS, prune, startPruning } from '../../src/ledger/retention.ts'
import { formatReport, verifyLedger } from '../../src/ledger/verify.ts'
import { withFaults } from './failing-file.ts'
import { type DataFolder, entryOf, makeFolder, NOON, openMigrated, rowsOf, settlementOf } from './fixture.ts'
import { HOUR, idsOf, pruning, seed, sumsOf } from './pruning.ts'

const DAY = 24 * HOUR

let folder: DataFolder
let database: Database

beforeEach(() => {
  folder = makeFolder()
  database = openMigrated(folder.databasePath)
})
afterEach(() => {
  database.close()
  folder.remove()
})

const ages: { what: string; maxAgeMs: number | null; left: number }[] = [
  { what: 'nothing is old', maxAgeMs: 100 * DAY, left: 600 },
  { what: 'no retention', maxAgeMs: null, left: 600 },
  { what: 'half of it is old', maxAgeMs: 300 * HOUR, left: 301 },
  { what: 'all but one is old', maxAgeMs: 1, left: 1 },
  { what: 'the clock was set forward, and every row is old', maxAgeMs: -1, left: 0 },
]

test.each(ages)(
  '$what: $left rows stay, and every counter and hour is unchanged',
  async ({ maxAgeMs, left }) => {
    const ids = seed(database, 600, HOUR)
    await database.db.insert(generationFeedback).values(
      ids.map((id) => ({
        id: newUuid(),
        generation_id: id,
        workspace_id: 'workspace-0',
        key_hash: 'key-0',
        category: 'other',
      })),
    )
    const before = verifyLedger(database)
    const sums = sumsOf(database)
    const report = await prune(database, pruning({ maxAgeMs }))
    expect(report).toMatchObject({ pruned: 600 - left, isOverCap: false })
    expect(idsOf(database)).toEqual(ids.slice(600 - left))
    expect(rowsOf(database, 'SELECT generation_id AS id FROM generation_feedback ORDER BY 1')).toEqual(
      ids.slice(600 - left).map((id) => ({ id })),
    )
    expect(sumsOf(database)).toEqual(sums)
    expect(verifyLedger(database)).toEqual({ ...before, generations: left, pruned: 600 - left })
    expect((await prune(database, pruning({ maxAgeMs }))).pruned).toBe(0)
    if (left === 301)
      expect(formatReport(verifyLedger(database))[0]).toContain(
        'ok: 301 generations and 299 that were pruned, ',
      )
  },
)

test('an hour that is pruned in parts and written meanwhile adds up', async () => {
  seed(database, 90, 60_000)
  for (const maxAgeMs of [80 * 60_000, 55 * 60_000, 41 * 60_000]) {
    await prune(database, pruning({ maxAgeMs }))
    // More rows of an hour that was pruned, as if they were settled late.
    seed(database, 90, 60_000)
    expect(verifyLedger(database).differences).toEqual([])
  }
  expect(verifyLedger(database)).toMatchObject({ generations: 4 * 90 - 144, pruned: 144 })
})

test('under load no settlement waits for more than a slice of rows, and all sums are exact', async () => {
  seed(database, 3000, 60_000)
  const { ledger } = openLedger(database, { now: () => NOON })
  let pruned = 0
  const counted = pruning(
    { maxAgeMs: 2 * HOUR },
    {
      // Counted between slices, when the rows of the last one are deleted.
      pause: async () => {
        pruned = 3000 + settled.length - idsOf(database).length
        await new Promise(setImmediate)
      },
    },
  )
  const settled: string[] = []
  const waits: number[] = []
  let isPruning = true
  const load = async (): Promise<void> => {
    while (isPruning) {
      const entry = entryOf({ keyHash: `key-${settled.length % 3}` })
      const before = pruned
      const hold = ledger.reserve({ ...entry, gates: [], amountNanoUsd: 1_000 })
      await ledger.settle(hold, settlementOf({ ...entry, costNanoUsd: 7 }))
      settled.push(entry.generationId)
      waits.push(pruned - before)
      await new Promise(setImmediate)
    }
  }
  const loads = [load(), load(), load()]
  const report = await prune(database, counted)
  isPruning = false
  await Promise.all(loads)
  expect(report.pruned).toBe(3000 - 121)
  expect(settled.length).toBeGreaterThan(10)
  // One slice that was running, and the settlements during it.
  expect(Math.max(...waits)).toBeLessThanOrEqual(MOST_ROWS + 3)
  expect(idsOf(database)).toEqual(expect.arrayContaining(settled))
  expect(verifyLedger(database)).toMatchObject({ generations: 121 + settled.length, differences: [] })
  ledger.fold()
  expect((await ledger.usageOf('key-0', NOON)).total).toBe(
    Number(
      rowsOf(
        database,
        "SELECT usage_nano_usd AS n FROM spending WHERE scope_id = 'key-0' AND interval = 'lifetime'",
      )[0]?.['n'],
    ),
  )
  await ledger.close()
})

test('a slice has a bounded number of rows at any speed', async () => {
  seed(database, 2000, 60_000)
  let left = 2000
  const slices: number[] = []
  const pause = async (): Promise<void> => {
    const now = idsOf(database).length
    if (now < left) slices.push(left - now)
    left = now
  }
  await prune(database, pruning({ maxAgeMs: 1 }, { pause }))
  expect(slices.reduce((sum, rows) => sum + rows, 0)).toBe(1999)
  expect(Math.max(...slices)).toBeLessThanOrEqual(MOST_ROWS)
})

test('nothing is pruned while a settlement waits or the gateway stops', async () => {
  seed(database, 1000, 60_000)
  expect((await prune(database, pruning({ maxAgeMs: 1 }, { mayPrune: () => false }))).pruned).toBe(0)
  let slices = 0
  const twice = pruning(
    { maxAgeMs: 1 },
    {
      mayPrune: () => slices < 2,
      pause: async () => {
        slices += 1
      },
    },
  )
  const { pruned } = await prune(database, twice)
  expect(pruned).toBeGreaterThan(0)
  expect(pruned).toBeLessThanOrEqual(2 * MOST_ROWS)
  expect(verifyLedger(database)).toMatchObject({ generations: 1000 - pruned, differences: [] })
})

test('a failure of the n-th statement undoes the slice, and the next run continues', async () => {
  for (let n = 1; ; n++) {
    const mine = makeFolder()
    const { database: faulty, faults } = withFaults(openMigrated(mine.databasePath))
    seed(faulty, 30, HOUR)
    const before = sumsOf(faulty)
    faults.arm(n, 'SQLITE_FULL')
    const outcome = await prune(faulty, pruning({ maxAgeMs: 10 * HOUR })).catch((error: unknown) => error)
    const { hasFired } = faults
    faults.disarm()
    if (hasFired) expect(outcome).toMatchObject({ code: 'SQLITE_FULL' })
    expect([30, 11]).toContain(idsOf(faulty).length)
    expect(verifyLedger(faulty).differences).toEqual([])
    await prune(faulty, pruning({ maxAgeMs: 10 * HOUR }))
    expect(idsOf(faulty).length).toBe(11)
    expect(sumsOf(faulty)).toEqual(before)
    expect(verifyLedger(faulty).differences).toEqual([])
    faulty.close()
    mine.remove()
    if (hasFired) continue
    // BEGIN, hours, charges, feedback, rows, COMMIT, the checkpoint.
    expect(n).toBeGreaterThan(20)
    break
  }
})

test('a file beyond its bound loses its oldest rows and returns space to the disk', async () => {
  const ids = seed(database, 40_000, 60_000)
  const full = usedBytes(database)
  const maxBytes = Math.floor(full / 2)
  const report = await prune(database, pruning({ maxBytes }))
  expect(report.isOverCap).toBe(false)
  expect(report.freedPages).toBeGreaterThan(0)
  const used = usedBytes(database)
  expect(used).toBeLessThanOrEqual(maxBytes)
  // Not much more than necessary is deleted.
  expect(used).toBeGreaterThan(maxBytes - 400_000)
  expect(idsOf(database)).toEqual(ids.slice(report.pruned))
  expect(verifyLedger(database).differences).toEqual([])
  database.file.run('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(statSync(folder.databasePath).size).toBeLessThan(full)
}, 60_000)

test('rows of the last hour stay even if the file is beyond its bound', async () => {
  seed(database, 300, 60_000)
  const report = await prune(database, pruning({ maxBytes: 1 }))
  expect(report).toMatchObject({ pruned: 239, isOverCap: true })
  expect(idsOf(database).length).toBe(61)
  expect(verifyLedger(database).differences).toEqual([])
})

test('a schedule prunes at once, waits for its slice when it stops, and is idle without a retention', async () => {
  seed(database, 500, HOUR)
  const pruned: number[] = []
  const schedule = {
    now: () => NOON,
    mayPrune: () => true,
    onPruned: (report: { pruned: number }) => pruned.push(report.pruned),
    onError(error: unknown) {
      throw error
    },
  }
  await startPruning(database, { ...schedule, retention: { maxAgeMs: null, maxBytes: null } }).stop()
  expect(pruned).toEqual([])
  const { stop } = startPruning(database, { ...schedule, retention: { maxAgeMs: 10 * HOUR, maxBytes: null } })
  await stop()
  expect(pruned.length).toBe(1)
  expect(idsOf(database).length).toBe(500 - (pruned[0] ?? 0))
  expect(verifyLedger(database).differences).toEqual([])
})
