import { expect, test } from 'bun:test'
import { apiKeys, organizations, users, workspaces } from '../../src/db/tables.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { refusalOf } from '../refusal.ts'
import { entryOf, keyGate, NOON, rowsOf, settlementOf } from './fixture.ts'
import { ledgerForEach } from './opened.ts'

const opened = ledgerForEach()

const CENT = 10_000_000

const spend = async (costNanoUsd: number, over: Partial<Parameters<typeof settlementOf>[0]> = {}) => {
  const settlement = settlementOf({ ...over, costNanoUsd })
  const hold = opened.ledger.reserve({
    generationId: settlement.generationId,
    gates: [],
    amountNanoUsd: costNanoUsd,
    startedAt: settlement.startedAt,
  })
  await opened.ledger.settle(hold, settlement)
  return settlement
}

const hold = (amountNanoUsd: number, gates = [keyGate(10 * CENT)], startedAt = NOON) =>
  opened.ledger.reserve({ generationId: entryOf().generationId, gates, amountNanoUsd, startedAt })

test('500 requests of a cent at once on a ten-cent key: ten are admitted', async () => {
  const admitted = []
  const refused = []
  for (let n = 0; n < 500; n++) {
    try {
      admitted.push(hold(CENT))
    } catch (error) {
      refused.push(error)
    }
  }
  expect([admitted.length, refused.length]).toEqual([10, 490])
  await Promise.all(
    admitted.map((one) =>
      opened.ledger.settle(one, settlementOf({ generationId: one.generationId, costNanoUsd: CENT })),
    ),
  )
  expect((await opened.ledger.usageOf('key-1', NOON)).daily).toBe(10 * CENT)
  expect(opened.ledger.heldNanoUsd()).toBe(0)
})

test('a refusal names the limit, the used, reserved and requested amounts, and the reset', async () => {
  await spend(8 * CENT)
  hold(2 * CENT)
  const error = refusalOf(() => hold(CENT))
  expect(error.status).toBe(402)
  expect(error.metadata?.error_type).toBe('payment_required')
  expect(error.message).toBe(
    "This key's daily limit of $0.10 is reached: $0.08 is used and $0.02 is held by running requests, and this " +
      'request needs up to $0.01. It resets at 2026-11-19T00:00:00Z; a higher limit holds at once',
  )
})

test('a refusal of a budget that does not reset and is not exhausted', () => {
  const gate = keyGate(CENT, {
    scope: 'workspace',
    id: 'w',
    label: 'The workspace',
    interval: 'lifetime',
    status: 403,
  })
  const error = refusalOf(() => hold(3 * CENT, [gate]))
  expect(error.status).toBe(403)
  expect(error.message).toBe(
    "The workspace's limit of $0.01 leaves too little room: $0.00 is used and $0.00 is held by running requests, " +
      'and this request needs up to $0.03. It does not reset; a higher limit holds at once',
  )
})

test('of several shut intervals of one scope, the longest is named', () => {
  const gates = (['daily', 'monthly', 'weekly'] as const).map((interval) => keyGate(1, { interval }))
  expect(refusalOf(() => hold(2, gates)).message).toContain('monthly limit')
})

test('all gates or none: a refusal leaves nothing held', () => {
  const shut = keyGate(1, { scope: 'workspace', id: 'workspace-1', label: 'The workspace', status: 403 })
  expect(refusalOf(() => hold(CENT, [keyGate(10 * CENT), shut])).status).toBe(403)
  expect(opened.ledger.heldNanoUsd()).toBe(0)
  expect(opened.ledger.remaining([keyGate(10 * CENT)], NOON).nanoUsd).toBe(10 * CENT)
})

test('the remaining budget is that of the tightest gate, and unbounded without gates', () => {
  const tight = keyGate(3 * CENT, { scope: 'workspace', id: 'workspace-1' })
  hold(CENT, [tight])
  expect(opened.ledger.remaining([keyGate(10 * CENT), tight], NOON)).toEqual({
    nanoUsd: 2 * CENT,
    unspentNanoUsd: 3 * CENT,
    gate: tight,
  })
  expect(opened.ledger.remaining([], NOON)).toEqual({
    nanoUsd: Number.POSITIVE_INFINITY,
    unspentNanoUsd: Number.POSITIVE_INFINITY,
    gate: null,
  })
})

test('a hold ends once: the second settle and a late release change nothing', async () => {
  const one = hold(CENT)
  const settlement = settlementOf({ generationId: one.generationId, costNanoUsd: 7 })
  const first = opened.ledger.settle(one, settlement)
  const second = opened.ledger.settle(one, { ...settlement, costNanoUsd: 9 })
  opened.ledger.release(one)
  expect(opened.ledger.heldNanoUsd()).toBe(CENT)
  await Promise.all([first, second])
  await opened.ledger.settle(one, { ...settlement, costNanoUsd: 11 })
  opened.ledger.release(one)
  expect(opened.ledger.heldNanoUsd()).toBe(0)
  expect(rowsOf(opened.database, 'SELECT cost_nano_usd FROM generations')).toEqual([{ cost_nano_usd: 7 }])
})

test('a released hold leaves no row, and its journal row goes too', async () => {
  const one = hold(CENT)
  opened.ledger.journal(entryOf({ generationId: one.generationId }))
  const other = hold(CENT)
  opened.ledger.journal(entryOf({ generationId: other.generationId }))
  await untilJournaled(2)
  opened.ledger.release(one)
  opened.ledger.release(other)
  await opened.ledger.close()
  expect(rowsOf(opened.database, 'SELECT * FROM journal')).toEqual([])
  expect(rowsOf(opened.database, 'SELECT * FROM generations')).toEqual([])
})

async function untilJournaled(count: number): Promise<void> {
  while (rowsOf(opened.database, 'SELECT 1 FROM journal').length < count) await new Promise(setImmediate)
}

test('a generation with an amount that is not a whole number of nano-dollars is refused, not rounded', async () => {
  const one = hold(CENT)
  for (const costNanoUsd of [0.5, -1, Number.NaN, 2 ** 53]) {
    const settlement = settlementOf({ generationId: one.generationId, costNanoUsd })
    await expect(opened.ledger.settle(one, settlement)).rejects.toThrow(RangeError)
  }
  expect(() => hold(-1)).toThrow(RangeError)
  opened.ledger.release(one)
})

test('a request is booked to the window in which it started, though it settles after midnight', async () => {
  const monday = Date.UTC(2026, 10, 23)
  const before = monday - 1
  let now = before
  await opened.reopen(() => now)
  const gate = (interval: 'daily' | 'weekly') => keyGate(10 * CENT, { interval })
  const late = hold(6 * CENT, [gate('daily'), gate('weekly')], before)
  now = monday + 1
  expect(opened.ledger.remaining([gate('daily'), gate('weekly')], now).nanoUsd).toBe(10 * CENT)
  await opened.ledger.settle(
    late,
    settlementOf({ generationId: late.generationId, startedAt: before, endedAt: now, costNanoUsd: 6 * CENT }),
  )
  const after = await opened.ledger.usageOf('key-1', now)
  expect([after.daily, after.weekly, after.monthly, after.total]).toEqual([0, 0, 6 * CENT, 6 * CENT])
  expect(await opened.ledger.usageOf('key-1', before)).toMatchObject({ daily: 6 * CENT, weekly: 6 * CENT })
  expect(opened.ledger.remaining([gate('daily')], before).nanoUsd).toBe(4 * CENT)
})

test('a clock that steps back finds the earlier window as it was', async () => {
  let now = NOON
  await opened.reopen(() => now)
  await spend(3 * CENT)
  now = NOON + 86_400_000
  await spend(2 * CENT, { startedAt: now })
  now = NOON
  await spend(CENT)
  expect((await opened.ledger.usageOf('key-1', NOON)).daily).toBe(4 * CENT)
  expect(opened.ledger.remaining([keyGate(10 * CENT)], NOON).nanoUsd).toBe(6 * CENT)
})

test('counters survive a restart, and holds do not', async () => {
  await spend(3 * CENT)
  hold(CENT)
  await opened.reopen()
  expect(await opened.ledger.usageOf('key-1', NOON)).toMatchObject({
    daily: 3 * CENT,
    weekly: 3 * CENT,
    total: 3 * CENT,
  })
  expect(opened.ledger.heldNanoUsd()).toBe(0)
})

test('own-key spending is counted apart, and counts against a gate that says so', async () => {
  await spend(3 * CENT, { isByok: true })
  await spend(CENT)
  expect(await opened.ledger.usageOf('key-1', NOON)).toMatchObject({
    total: CENT,
    byokTotal: 3 * CENT,
    byokDaily: 3 * CENT,
  })
  expect(opened.ledger.remaining([keyGate(10 * CENT)], NOON).nanoUsd).toBe(9 * CENT)
  expect(opened.ledger.remaining([keyGate(10 * CENT, { includeByok: true })], NOON).nanoUsd).toBe(6 * CENT)
})

test('a guardrail gate gathers what passed it, and verify can recount it', async () => {
  const guardrail = keyGate(10 * CENT, {
    scope: 'guardrail',
    id: 'g-1',
    label: 'The guardrail',
    interval: 'monthly',
  })
  const one = hold(CENT, [keyGate(10 * CENT), guardrail])
  await opened.ledger.settle(one, settlementOf({ generationId: one.generationId, costNanoUsd: CENT }))
  await spend(CENT)
  expect(opened.ledger.remaining([guardrail], NOON).nanoUsd).toBe(9 * CENT)
  opened.ledger.fold()
  opened.database.file.run(
    "UPDATE spending SET usage_nano_usd = 0 WHERE scope = 'guardrail' AND interval = 'monthly'",
  )
  expect(verifyLedger(opened.database).differences).toEqual([
    'guardrail g-1, monthly from 2026-11-01T00:00:00Z: the counter is 0 nano-dollars, the rows sum to 10000000',
  ])
  opened.database.file.run(`UPDATE spending SET usage_nano_usd = ${CENT} WHERE scope = 'guardrail'`)
})

test('rows know the creator of their key, and one integer per application', async () => {
  opened.database.sync.insert(organizations).values({ id: 'o', name: 'O' }).run()
  opened.database.sync.insert(users).values({ id: 'u', organization_id: 'o', name: 'U', role: 'admin' }).run()
  const workspace = {
    id: 'workspace-1',
    organization_id: 'o',
    name: 'W',
    slug: 'w',
    default_guardrail_id: 'g',
  }
  opened.database.sync
    .insert(workspaces)
    .values({ ...workspace, created_by: 'u' })
    .run()
  const key = {
    hash: 'key-1',
    id: 1,
    kind: 'inference',
    name: 'K',
    label: 'k',
    creator_user_id: 'u',
  } as const
  opened.database.sync
    .insert(apiKeys)
    .values({ ...key, workspace_id: 'workspace-1' })
    .run()
  await spend(1)
  await spend(1, { title: 'Other' })
  await spend(1)
  await spend(1, { title: '', origin: '' })
  expect(rowsOf(opened.database, 'SELECT user_id, app_id FROM generations ORDER BY rowid')).toEqual([
    { user_id: 'u', app_id: 1 },
    { user_id: 'u', app_id: 2 },
    { user_id: 'u', app_id: 1 },
    { user_id: 'u', app_id: null },
  ])
})
