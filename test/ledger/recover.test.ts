import { expect, test } from 'bun:test'
import { openLedger } from '../../src/ledger/open.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { entryOf, keyGate, makeFolder, NOON, openMigrated, rowsOf, settlementOf } from './fixture.ts'

const CENT = 10_000_000

test('journal rows of a crash are settled once, at the next start', async () => {
  const folder = makeFolder()
  const database = openMigrated(folder.databasePath)
  const { ledger } = openLedger(database, { now: () => NOON })
  const { generationId } = entryOf()
  const guardrail = keyGate(10 * CENT, { scope: 'guardrail', id: 'g-1' })
  ledger.reserve({
    generationId,
    gates: [keyGate(10 * CENT), guardrail],
    amountNanoUsd: CENT,
    startedAt: NOON,
  })
  ledger.journal(entryOf({ generationId, providerName: 'First' }))
  while (rowsOf(database, 'SELECT 1 FROM journal').length === 0) await new Promise(setImmediate)
  // It failed over: the later attempt is the one that is charged.
  ledger.journal(entryOf({ generationId, providerName: 'Second' }))
  await ledger.close()

  const next = openLedger(database, { now: () => NOON })
  expect(next.recovered).toBe(1)
  expect(openLedger(database, { now: () => NOON }).recovered).toBe(0)
  const columns = `id, provider_name, finish_reason, cancelled, usage_source, estimated, cost_nano_usd, tokens_prompt,
    tokens_completion, routing`
  expect(rowsOf(database, `SELECT ${columns} FROM generations`)).toEqual([
    {
      id: generationId,
      provider_name: 'Second',
      finish_reason: 'error',
      cancelled: 1,
      usage_source: 'estimated',
      estimated: 1,
      cost_nano_usd: 70,
      tokens_prompt: 11,
      tokens_completion: 0,
      routing: null,
    },
  ])
  expect((await next.ledger.usageOf('key-1', NOON)).total).toBe(70)
  expect(next.ledger.heldNanoUsd()).toBe(0)
  expect(next.ledger.remaining([guardrail], NOON).nanoUsd).toBe(10 * CENT - 70)
  expect(verifyLedger(database).differences).toEqual([])
  database.close()
  folder.remove()
})

test('a step that a crash ended is still a step of its parent', async () => {
  const folder = makeFolder()
  const database = openMigrated(folder.databasePath)
  const { ledger } = openLedger(database, { now: () => NOON })
  const parent = { id: 'gen-parent', kind: 'fusion.panel' }
  const finished = settlementOf({ parent, counts: { fetches: 2 } })
  const hold = ledger.reserve({ ...finished, gates: [], amountNanoUsd: CENT })
  ledger.journal(finished)
  await ledger.settle(hold, finished)
  const running = entryOf({ parent })
  for (const entry of [running, entryOf()]) {
    ledger.reserve({ ...entry, gates: [], amountNanoUsd: CENT })
    ledger.journal(entry)
  }
  await ledger.close()

  expect(openLedger(database, { now: () => NOON }).recovered).toBe(2)
  expect(rowsOf(database, 'SELECT id, parent_id, step, cost_nano_usd FROM generations ORDER BY id')).toEqual([
    {
      id: finished.generationId,
      parent_id: 'gen-parent',
      step: '{"kind":"fusion.panel","fetches":2}',
      cost_nano_usd: 500,
    },
    { id: running.generationId, parent_id: 'gen-parent', step: '{"kind":"fusion.panel"}', cost_nano_usd: 70 },
    expect.objectContaining({ parent_id: null, step: null }),
  ])
  expect(verifyLedger(database).differences).toEqual([])
  database.close()
  folder.remove()
})

test('more requests than fit into one commit are recovered too', async () => {
  const folder = makeFolder()
  const database = openMigrated(folder.databasePath)
  const { ledger } = openLedger(database, { now: () => NOON })
  for (let n = 0; n < 1200; n++) {
    const entry = entryOf()
    ledger.reserve({ ...entry, gates: [], amountNanoUsd: CENT })
    ledger.journal(entry)
  }
  await ledger.close()
  const next = openLedger(database, { now: () => NOON })
  expect(next.recovered).toBe(1200)
  expect((await next.ledger.usageOf('key-1', NOON)).total).toBe(1200 * 70)
  expect(verifyLedger(database).differences).toEqual([])
  database.close()
  folder.remove()
})
