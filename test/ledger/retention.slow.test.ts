import { afterEach, beforeEach, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { newUuid } from '../../src/core/ids.ts'
import type { Database } from '../../src/db/database.ts'
import { generationFeedback } from '../../src/db/tables.ts'
import { openLedger } from '../../src/ledger/open.ts'
import {
  MOST_ROWS,
  type Pruning,
  prune,
  type Retention,
  startPruning,
  usedBytes,
} from '../../src/ledger/retention.ts'
import { rowOf } from '../../src/ledger/row.ts'
import { chargedScopes } from '../../src/ledger/row-values.ts'
import { formatReport, verifyLedger } from '../../src/ledger/verify.ts'
import { withFaults } from './failing-file.ts'
import {
  type DataFolder,
  entryOf,
  makeFolder,
  NOON,
  openMigrated,
  rowsOf,
  seedRows,
  settlementOf,
} from './fixture.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let folder: DataFolder
let database: Database
let isBroken = false

beforeEach(() => {
  isBroken = false
  folder = makeFolder()
  database = openMigrated(folder.databasePath)
})

afterEach(() => {
  database.close()
  if (isBroken) folder.removeBroken()
  else folder.remove()
})

/** Rows of all kinds: the n-th one came `stepMs` after the one before it, the last one at NOON. */
function seed(into: Database, rows: number, stepMs: number): string[] {
  const made = Array.from({ length: rows }, (_, n) => {
    const startedAt = NOON - (rows - 1 - n) * stepMs
    const over = {
      // As ids are: the time of the request comes first.
      generationId: `gen-${Bun.randomUUIDv7('hex', startedAt).replaceAll('-', '')}`,
      startedAt,
      keyHash: `key-${n % 3}`,
      workspaceId: `workspace-${n % 2}`,
      modelId: n % 5 === 0 ? 'lab/large' : 'lab/tiny',
      isByok: n % 4 === 0,
    }
    const guardrails = n % 2 === 0 ? [{ scope: 'guardrail' as const, id: `guardrail-${n % 3}` }] : []
    const finishReason = n % 7 === 0 ? 'error' : 'stop'
    return rowOf(settlementOf({ ...over, finishReason, costNanoUsd: 1_000 + n }), chargedScopes(guardrails))
  })
  seedRows(into, made)
  return made.map(({ id }) => id)
}

const pruning = (retention: Partial<Retention>, over: Partial<Pruning> = {}): Pruning => ({
  retention: { maxAgeMs: null, maxBytes: null, ...retention },
  now: () => NOON,
  mayPrune: () => true,
  pause: () => new Promise(setImmediate),
  ...over,
})

const idsOf = (of: Database): unknown[] =>
  rowsOf(of, 'SELECT id FROM generations ORDER BY id').map((row) => row['id'])
const sumsOf = (of: Database): unknown[] => [
  rowsOf(of, 'SELECT * FROM spending ORDER BY 1, 2, 3, 4'),
  rowsOf(of, 'SELECT * FROM usage_hourly ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9'),
]

const ages: { what: string; maxAgeMs: number | null; left: number }[] = [
  { what: 'nothing is old', maxAgeMs: 100 * DAY, left: 600 },
  { what: 'kept for ever', maxAgeMs: null, left: 600 },
  { what: 'half of it is old', maxAgeMs: 300 * HOUR, left: 301 },
  { what: 'all but one is old', maxAgeMs: 1, left: 1 },
  { what: 'the clock was set forward, and all is old', maxAgeMs: -1, left: 0 },
]

test.each(ages)(
  '$what: $left rows stay, and every counter and hour as it was',
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

const lies: { what: string; sql: string; says: string; lines?: number }[] = [
  {
    what: 'an hour whose rows are pruned',
    sql: 'UPDATE usage_hourly SET prompt_tokens = prompt_tokens + 1 WHERE hour = (SELECT min(hour) FROM usage_hourly)',
    says: 'prompt_tokens is 15, the rows, with those that were pruned, sum to 14',
    // Its day does not agree with it either.
    lines: 2,
  },
  {
    what: 'an hour that is missing',
    sql: 'DELETE FROM usage_hourly WHERE hour = (SELECT min(hour) FROM usage_hourly)',
    says: 'requests is 0, the rows, with those that were pruned, sum to 1',
  },
  {
    what: 'what pruned rows are said to have summed to',
    sql: 'UPDATE pruned_hourly SET cached_tokens = 0 WHERE hour = (SELECT min(hour) FROM pruned_hourly)',
    says: 'cached_tokens is 4, the rows, with those that were pruned, sum to 0',
    lines: 1,
  },
  {
    what: 'sums of pruned rows that are missing',
    sql: 'DELETE FROM pruned_hourly WHERE hour = (SELECT min(hour) FROM pruned_hourly WHERE NOT is_byok)',
    says: 'key key-1, lifetime: the counter is',
  },
  {
    what: 'what a guardrail was charged by pruned rows',
    sql: "UPDATE pruned_charges SET usage_nano_usd = usage_nano_usd - 1 WHERE scope_id = 'guardrail-2' AND day = (SELECT min(day) FROM pruned_charges WHERE scope_id = 'guardrail-2')",
    says: 'guardrail guardrail-2, lifetime: the counter is',
    lines: 4,
  },
  {
    what: 'a counter of a day whose rows are pruned',
    sql: "UPDATE spending SET usage_nano_usd = usage_nano_usd + 1 WHERE scope = 'key' AND scope_id = 'key-0' AND interval = 'daily' AND window_start = (SELECT min(window_start) FROM spending WHERE interval = 'daily')",
    says: 'key key-0, daily from',
    lines: 1,
  },
  {
    what: 'a row that is there and was changed',
    sql: 'UPDATE generations SET cost_nano_usd = cost_nano_usd + 1 WHERE id = (SELECT max(id) FROM generations)',
    says: 'usage_nano_usd is',
  },
  {
    what: 'a row that went by another way',
    sql: 'DELETE FROM generations WHERE id = (SELECT min(id) FROM generations)',
    says: 'requests is 1, the rows, with those that were pruned, sum to 0',
  },
]

test.each(lies)('after pruning, a lie is told: $what', async ({ sql, says, lines }) => {
  seed(database, 100, HOUR)
  await prune(database, pruning({ maxAgeMs: 50 * HOUR }))
  expect(verifyLedger(database).differences).toEqual([])
  isBroken = true
  database.file.run(sql)
  const { differences } = verifyLedger(database)
  expect(differences.filter((line) => line.includes(says)).length).toBeGreaterThan(0)
  if (lines !== undefined) expect(differences.length).toBe(lines)
})

test('an hour that is pruned in parts, and goes on to be written, adds up', async () => {
  seed(database, 90, 60_000)
  for (const maxAgeMs of [80 * 60_000, 55 * 60_000, 41 * 60_000]) {
    await prune(database, pruning({ maxAgeMs }))
    // Another one of an hour that was pruned: it was settled late.
    seed(database, 90, 60_000)
    expect(verifyLedger(database).differences).toEqual([])
  }
  expect(verifyLedger(database)).toMatchObject({ generations: 4 * 90 - 144, pruned: 144 })
})

test('under load no settlement waits for more than a slice of rows, and all is exact', async () => {
  seed(database, 3000, 60_000)
  const { ledger } = openLedger(database, { now: () => NOON })
  let pruned = 0
  const counted = pruning(
    { maxAgeMs: 2 * HOUR },
    {
      // Counted from outside: what a slice removed is gone when others have their turn.
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
  // One slice that was under way, and what settled meanwhile is counted in too.
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

test('a slice is bounded in rows, however fast they go', async () => {
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

test('nothing is pruned while a settlement waits, nor once it is to stop', async () => {
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

test('the n-th statement of a slice fails: all or nothing, and the next run goes on', async () => {
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

test('a file that holds more than it may loses its oldest rows, and gives room back', async () => {
  const ids = seed(database, 40_000, 60_000)
  const full = usedBytes(database)
  const maxBytes = Math.floor(full / 2)
  const report = await prune(database, pruning({ maxBytes }))
  expect(report.isOverCap).toBe(false)
  expect(report.freedPages).toBeGreaterThan(0)
  const used = usedBytes(database)
  expect(used).toBeLessThanOrEqual(maxBytes)
  // No more than it must.
  expect(used).toBeGreaterThan(maxBytes - 400_000)
  expect(idsOf(database)).toEqual(ids.slice(report.pruned))
  expect(verifyLedger(database).differences).toEqual([])
  database.file.run('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(statSync(folder.databasePath).size).toBeLessThan(full)
}, 60_000)

test('rows of the last hour stay, however little the file may hold', async () => {
  seed(database, 300, 60_000)
  const report = await prune(database, pruning({ maxBytes: 1 }))
  expect(report).toMatchObject({ pruned: 239, isOverCap: true })
  expect(idsOf(database).length).toBe(61)
  expect(verifyLedger(database).differences).toEqual([])
})

test('a schedule prunes at once, waits for its slice at the end, and is idle where all is kept', async () => {
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
