import { expect, test } from 'bun:test'
import { GatewayError } from '../../src/core/errors.ts'
import { openDatabase, openForReading } from '../../src/db/database.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { withFaults } from './failing-file.ts'
import { entryOf, keyGate, makeFolder, NOON, openMigrated, rowsOf, settlementOf } from './fixture.ts'

const CODES = ['SQLITE_BUSY', 'SQLITE_FULL', 'SQLITE_IOERR_WRITE']
const CENT = 10_000_000
const ONE_TICK = () => 1

/** A ledger behind the shim, with a promise for each of its failures. */
function openFaulty(failsAfterCommit = false) {
  const folder = makeFolder()
  const { database, faults } = withFaults(openMigrated(folder.databasePath), failsAfterCommit)
  let tell = (_error: unknown): void => {}
  const nextFailure = () => new Promise<unknown>((resolve) => (tell = resolve))
  const { ledger } = openLedger(database, {
    now: () => NOON,
    retryDelayMs: ONE_TICK,
    onFailure: (error) => tell(error),
  })
  const reserve = () => {
    const { generationId } = entryOf()
    return ledger.reserve({
      generationId,
      gates: [keyGate(1000 * CENT)],
      amountNanoUsd: CENT,
      startedAt: NOON,
    })
  }
  const end = async () => {
    faults.disarm()
    await ledger.close()
    const { differences } = verifyLedger(database)
    database.close()
    folder.remove()
    expect(differences).toEqual([])
  }
  return { folder, database, faults, ledger, nextFailure, reserve, end }
}

/** What another reader sees: how many rows, and what the key's counter says. */
function seenFromOutside(path: string): unknown[] {
  const other = openForReading(path)
  const rows = rowsOf(other, 'SELECT count(*) AS n FROM generations')[0]?.['n']
  const used = rowsOf(
    other,
    "SELECT usage_nano_usd AS n FROM spending WHERE scope = 'key' AND interval = 'lifetime'",
  )[0]?.['n']
  const journaled = rowsOf(other, 'SELECT count(*) AS n FROM journal')[0]?.['n']
  const { differences } = verifyLedger(other)
  other.close()
  return [rows, used ?? 0, journaled, differences]
}

const FAULTS = [
  ...CODES.map((code) => ({ code, failsAfterCommit: false })),
  { code: 'SQLITE_IOERR_FSYNC', failsAfterCommit: true },
]

for (const { code, failsAfterCommit } of FAULTS) {
  const when = failsAfterCommit ? ' (a COMMIT after it took effect)' : ''
  test(`the n-th statement fails with ${code}${when}: all or nothing, and written in the end`, async () => {
    let fired = 0
    for (let n = 1; ; n++) {
      const { folder, database, faults, ledger, nextFailure, reserve, end } = openFaulty(
        failsAfterCommit === true,
      )
      const [first, second] = [reserve(), reserve()]
      ledger.journal(entryOf({ generationId: first.generationId }))
      while (rowsOf(database, 'SELECT 1 FROM journal').length === 0) await new Promise(setImmediate)

      const failure = nextFailure()
      faults.arm(n, code)
      const settled = [first, second].map(({ generationId }) =>
        ledger.settle({ generationId, amountNanoUsd: CENT }, settlementOf({ generationId, costNanoUsd: 5 })),
      )
      const before: unknown[] = [0, 0, 1, []]
      const committed: unknown[] = [2, 0, 1, []]
      const folded: unknown[] = [2, 10, 0, []]
      if ((await Promise.race([failure, Promise.all(settled).then(() => 'written')])) !== 'written') {
        const seen = seenFromOutside(folder.databasePath)
        expect([before, committed]).toContainEqual(seen)
        expect(ledger.isWritable()).toBe(false)
        expect(ledger.heldNanoUsd()).toBe(2 * CENT)
      }
      await Promise.all(settled)
      expect(ledger.isWritable()).toBe(true)
      expect(ledger.heldNanoUsd()).toBe(0)
      expect((await ledger.usageOf('key-1', NOON)).total).toBe(10)
      // A commit that was written although it failed is found by the next try, which folds.
      expect([committed, folded]).toContainEqual(seenFromOutside(folder.databasePath))
      if (!ledger.fold()) {
        expect([committed, folded]).toContainEqual(seenFromOutside(folder.databasePath))
        expect(ledger.isWritable()).toBe(true)
        expect(ledger.fold()).toBe(true)
      }
      expect(seenFromOutside(folder.databasePath)).toEqual(folded)
      expect((await ledger.usageOf('key-1', NOON)).total).toBe(10)
      const { hasFired } = faults
      await end()
      if (!hasFired) break
      fired = n
    }
    // BEGIN, the rows and COMMIT, then BEGIN, the sums, the journal, the watermark and COMMIT, at least.
    expect(fired).toBeGreaterThan(10)
  })
}

test('while nothing can be written no request is taken, and afterwards each settlement is there once', async () => {
  const { database, faults, ledger, nextFailure, reserve, end } = openFaulty()
  const holds = Array.from({ length: 10 }, reserve)
  faults.arm(1, 'SQLITE_FULL', true)
  const failed = nextFailure()
  let settled = 0
  const all = holds.map(async (hold) => {
    await ledger.settle(hold, settlementOf({ generationId: hold.generationId, costNanoUsd: 5 }))
    settled += 1
  })
  await failed
  await nextFailure()
  await nextFailure()
  expect(settled).toBe(0)
  try {
    reserve()
    throw new Error('it was not refused')
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.status).toBe(503)
    expect(Number(error.headers?.['retry-after'])).toBeGreaterThan(0)
  }
  faults.disarm()
  await Promise.all(all)
  expect(ledger.isWritable()).toBe(true)
  ledger.release(reserve())
  expect(rowsOf(database, 'SELECT count(*) AS n FROM generations')).toEqual([{ n: 10 }])
  await end()
})

test('a full disk stops new requests, and free space lets them continue', async () => {
  const { database, ledger, nextFailure, reserve, end } = openFaulty()
  const holds = Array.from({ length: 200 }, reserve)
  const pages = database.file.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0
  database.file.run(`PRAGMA max_page_count = ${pages}`)
  const failed = nextFailure()
  const all = holds.map((hold) =>
    ledger.settle(hold, settlementOf({ generationId: hold.generationId, costNanoUsd: 5 })),
  )
  const error = await failed
  expect(error).toMatchObject({ code: 'SQLITE_FULL' })
  expect(reserve).toThrow('cannot be written')
  expect(verifyLedger(database).differences).toEqual([])
  database.file.run('PRAGMA max_page_count = 1000000')
  await Promise.all(all)
  expect((await ledger.usageOf('key-1', NOON)).total).toBe(1000)
  await end()
})

test('a row that can never be written is given up alone; its neighbours are written', async () => {
  const { database, ledger, reserve, end } = openFaulty()
  database.file.run(`CREATE TRIGGER refuse BEFORE INSERT ON generations WHEN new.model = 'cursed'
    BEGIN SELECT raise(ABORT, 'no such row, ever'); END`)
  const holds = Array.from({ length: 20 }, reserve)
  ledger.journal(entryOf({ generationId: holds[7]?.generationId ?? '' }))
  while (rowsOf(database, 'SELECT 1 FROM journal').length === 0) await new Promise(setImmediate)
  const results = await Promise.allSettled(
    holds.map(({ generationId, amountNanoUsd }, n) =>
      ledger.settle(
        { generationId, amountNanoUsd },
        settlementOf({ generationId, costNanoUsd: 5, modelId: n === 7 ? 'cursed' : 'lab/tiny' }),
      ),
    ),
  )
  const failed = results.flatMap((result, n) => (result.status === 'rejected' ? [n] : []))
  expect(failed).toEqual([7])
  expect(ledger.isWritable()).toBe(true)
  expect(ledger.heldNanoUsd()).toBe(0)
  expect((await ledger.usageOf('key-1', NOON)).total).toBe(19 * 5)
  // What it was journalled with is charged at the next start.
  expect(rowsOf(database, 'SELECT generation_id AS id FROM journal')).toEqual([
    { id: holds[7]?.generationId },
  ])
  await end()
})

test('when what could not be written is given up, new requests are taken again', async () => {
  const { faults, ledger, nextFailure, reserve, end } = openFaulty()
  const hold = reserve()
  faults.arm(1, 'SQLITE_FULL', true)
  const failed = nextFailure()
  ledger.journal(entryOf({ generationId: hold.generationId }))
  await failed
  expect(ledger.isWritable()).toBe(false)
  ledger.release(hold)
  expect(ledger.isWritable()).toBe(true)
  await end()
})

test('another process that holds the file for longer than we wait delays a settlement, and loses none', async () => {
  const { folder, database, ledger, nextFailure, reserve, end } = openFaulty()
  const other = openDatabase(folder.databasePath)
  other.file.run('BEGIN IMMEDIATE')
  const failed = nextFailure()
  const hold = reserve()
  const settled = ledger.settle(hold, settlementOf({ generationId: hold.generationId, costNanoUsd: 5 }))
  expect(await failed).toMatchObject({ code: 'SQLITE_BUSY' })
  expect(reserve).toThrow('cannot be written')
  other.file.run('ROLLBACK')
  other.close()
  await settled
  expect(rowsOf(database, 'SELECT count(*) AS n FROM generations')).toEqual([{ n: 1 }])
  await end()
})

test('a close that cannot write says how much is lost', async () => {
  const { faults, ledger, reserve, end } = openFaulty()
  const hold = reserve()
  faults.arm(1, 'SQLITE_FULL', true)
  const settled = ledger.settle(hold, settlementOf({ generationId: hold.generationId, costNanoUsd: 5 }))
  await expect(ledger.close()).rejects.toThrow('1 settled generations could not be written')
  faults.disarm()
  await ledger.close()
  await settled
  await end()
})
