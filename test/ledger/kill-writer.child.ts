/**
 * A gateway's money without the gateway, to be killed: opens the folder that its argument names as a server does,
 * and settles with sixteen callers at once. Says `recovered <n>`, then each generation as soon as it may be shown as
 * finished. With a second argument it folds after every so many settlements.
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../src/db/database.ts'
import { lockFolder } from '../../src/db/lock.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { entryOf, keyGate, openMigrated, settlementOf } from './fixture.ts'

const folder = process.argv[2] ?? ''
lockFolder(folder)
const { ledger, recovered } = openLedger(openMigrated(join(folder, DATABASE_FILE)))
writeSync(1, `recovered ${recovered}\n`)
const foldEvery = Number(process.argv[3] ?? 0)
let settled = 0

async function caller(n: number): Promise<never> {
  for (let turn = 0; ; turn++) {
    const entry = entryOf({ keyHash: `key-${n % 3}`, startedAt: Date.now() })
    const hold = ledger.reserve({
      generationId: entry.generationId,
      gates: [keyGate(Number.MAX_SAFE_INTEGER, { id: entry.keyHash })],
      amountNanoUsd: 1000,
      startedAt: entry.startedAt,
    })
    ledger.journal(entry)
    // Some are slow enough to be in the journal when the end comes.
    if (n < 4) await Bun.sleep(40 + 10 * n)
    await ledger.settle(hold, settlementOf({ ...entry, costNanoUsd: 100 + turn }))
    writeSync(1, `${entry.generationId}\n`)
    settled += 1
    if (foldEvery > 0 && settled % foldEvery === 0) ledger.fold()
  }
}

await Promise.all(Array.from({ length: 16 }, (_, n) => caller(n)))
