import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Database } from '../../src/db/database.ts'
import type { Amounts, Claim, Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { MOST_WAITING } from '../../src/ledger/waiting.ts'
import { type DataFolder, entryOf, keyGate, makeFolder, NOON, openMigrated } from './fixture.ts'

let folder: DataFolder
let database: Database
let ledger: Ledger

const open = (roomWaitMs: number): void => {
  ledger = openLedger(database, { now: () => NOON, roomWaitMs }).ledger
}
beforeEach(() => {
  folder = makeFolder()
  database = openMigrated(folder.databasePath)
  open(60_000)
})
afterEach(async () => {
  await ledger.close()
  database.close()
  folder.remove()
})

const never = new AbortController().signal
const TEN = [keyGate(10)]
const claim = (
  amount: number,
  gates = TEN,
  over: { signal?: AbortSignal; least?: number; hint?: string } = {},
) =>
  ledger.claim<Amounts>({
    generationId: entryOf().generationId,
    gates,
    startedAt: NOON,
    need: (_, isLast) => {
      const needed = isLast ? (over.least ?? amount) : amount
      return { amountNanoUsd: needed, sharedNanoUsd: needed }
    },
    signal: over.signal ?? never,
    ...(over.hint === undefined ? {} : { hint: over.hint }),
  })
const now = (claimed: Claim<Amounts> | Promise<Claim<Amounts>>): Claim<Amounts> => {
  if (claimed instanceof Promise) throw new Error('the claim waits')
  return claimed
}
const waits = (claimed: Claim<Amounts> | Promise<Claim<Amounts>>): Promise<Claim<Amounts>> => {
  if (claimed instanceof Promise) return claimed
  throw new Error('the claim does not wait')
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('the budget is reserved in the same turn; only running reservations are waited for', async () => {
  const first = now(claim(8))
  expect(first.hold.amountNanoUsd).toBe(8)
  expect(() => claim(11)).toThrow('leaves too little room')
  const second = waits(claim(9))
  ledger.release(first.hold)
  expect((await second).hold.amountNanoUsd).toBe(9)
  expect(ledger.heldNanoUsd()).toBe(9)
})

test('a later request does not overtake an earlier one of its limit, and passes those of other limits', async () => {
  const first = now(claim(8))
  const second = waits(claim(9))
  const third = waits(claim(1))
  expect(now(claim(9, [keyGate(10, { id: 'other' })])).hold.amountNanoUsd).toBe(9)
  // It needs nothing of the limit.
  now(claim(0))
  ledger.release(first.hold)
  await Promise.all([second, third])
})

test('a request that waits for its own limit does not stop others of the limit that they share', async () => {
  const shared = keyGate(100, { scope: 'workspace', id: 'workspace-1' })
  const first = now(claim(8, [keyGate(10), shared]))
  const second = waits(claim(8, [keyGate(10), shared]))
  now(claim(8, [keyGate(10, { id: 'other' }), shared]))
  ledger.release(first.hold)
  await second
})

test('at its deadline a request takes what there is, or is refused with its hint', async () => {
  await ledger.close()
  open(30)
  now(claim(8))
  const modest = waits(claim(9, TEN, { least: 2 }))
  const refused = waits(claim(9, TEN, { hint: 'A smaller max_tokens needs less' }))
  expect((await modest).hold.amountNanoUsd).toBe(2)
  await expect(refused).rejects.toThrow(/held by running requests.*A smaller max_tokens needs less/)
})

test('without a wait the request takes what there is, or is refused, in the same turn', async () => {
  await ledger.close()
  open(0)
  now(claim(8))
  expect(now(claim(9, TEN, { least: 2 })).hold.amountNanoUsd).toBe(2)
  expect(() => claim(1)).toThrow('is reached')
})

test('a request that disconnects gives its place to those behind it', async () => {
  now(claim(8))
  const leaving = new AbortController()
  const second = waits(claim(9, TEN, { signal: leaving.signal }))
  const third = waits(claim(2))
  leaving.abort(new Error('gone'))
  await expect(second).rejects.toThrow('gone')
  expect((await third).hold.amountNanoUsd).toBe(2)
  expect(ledger.heldNanoUsd()).toBe(10)
})

test(`more than ${MOST_WAITING} do not wait in one limit, and closing refuses those that do`, async () => {
  const first = now(claim(10))
  const outcomes: string[] = []
  const waiting = Array.from({ length: MOST_WAITING }, () =>
    waits(claim(1)).then(
      () => outcomes.push('held'),
      () => outcomes.push('refused'),
    ),
  )
  expect(() => claim(1)).toThrow('is reached')
  ledger.release(first.hold)
  await turn()
  expect(outcomes.length).toBe(10)
  await ledger.close()
  await Promise.all(waiting)
  expect(outcomes.filter((outcome) => outcome === 'refused').length).toBe(MOST_WAITING - 10)
})

test('a counter that is waited at outlives any number of others', async () => {
  const first = now(claim(10))
  const second = waits(claim(10))
  for (let index = 0; index < 25_000; index++) ledger.remaining([keyGate(1, { id: `key-of-${index}` })], NOON)
  ledger.release(first.hold)
  expect((await second).hold.amountNanoUsd).toBe(10)
})
