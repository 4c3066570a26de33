import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { openLedger } from '../../src/ledger/open.ts'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { entryOf, makeFolder, NOON, openMigrated, settlementOf } from './fixture.ts'

setDefaultTimeout(30_000)

const folder = makeFolder()
afterAll(folder.remove)

const ROWS = 200
const HOUR = 3_600_000

test('kill -9 in pruning: pruned rows are in the sums, the others are there, and the next start goes on', async () => {
  const database = openMigrated(folder.databasePath)
  const { ledger } = openLedger(database, { now: () => NOON })
  for (let row = 0; row < ROWS; row++) {
    const startedAt = NOON - 100 * HOUR + row * 60_000
    const entry = entryOf({ keyHash: `key-${row % 3}`, startedAt })
    const hold = ledger.reserve({ generationId: entry.generationId, gates: [], amountNanoUsd: 0, startedAt })
    ledger.journal(entry)
    await ledger.settle(hold, settlementOf({ ...entry, costNanoUsd: 100 + row, endedAt: startedAt + 50 }))
  }
  await ledger.close()
  database.close()
  const whole = verifyFolder(folder.path)
  expect([whole.generations, whole.differences]).toEqual([ROWS, []])

  let left = ROWS
  for (const point of ['before 1', 'after 1', 'before 3', 'after 2', 'after 1']) {
    const child = Bun.spawn(
      [
        process.execPath,
        join(import.meta.dir, 'prune-victim.child.ts'),
        folder.databasePath,
        point,
        String(NOON),
      ],
      { stdout: 'ignore', stderr: 'inherit' },
    )
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')
    const [when, commits] = point.split(' ')
    left -= 20 * (when === 'after' ? Number(commits) : Number(commits) - 1)
    expect(verifyFolder(folder.path)).toMatchObject({ ...whole, generations: left, pruned: ROWS - left })
  }
  const again = openMigrated(folder.databasePath)
  openLedger(again)
  again.close()
  expect(verifyFolder(folder.path).differences).toEqual([])
})
