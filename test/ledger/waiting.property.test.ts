import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Gate } from '../../src/core/gate.ts'
import type { Database } from '../../src/db/database.ts'
import type { Amounts, Claim, Hold, Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { type DataFolder, entryOf, keyGate, makeFolder, NOON, openMigrated, settlementOf } from './fixture.ts'

let folder: DataFolder
let database: Database
let ledger: Ledger

beforeAll(() => {
  folder = makeFolder()
  database = openMigrated(folder.databasePath)
  database.file.run('PRAGMA synchronous = OFF')
  ledger = openLedger(database, { now: () => NOON, roomWaitMs: 60_000 }).ledger
})
afterAll(async () => {
  await ledger.close()
  expect(verifyLedger(database).differences).toEqual([])
  database.close()
  folder.remove()
})

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Asked {
  readonly order: number
  readonly key: number
  readonly amount: number
  readonly gates: readonly Gate[]
  readonly leaving: AbortController
  state: 'waiting' | 'held' | 'refused' | 'left' | 'settled' | 'released'
  hold: Hold | null
  cost: number
}

/** The ledger, and a list of all that was asked of it. */
function openTrial(run: string, limits: { keys: number[]; workspace: number }) {
  const asked: Asked[] = []
  /** Served requests of each key, in the order in which they were served. */
  const served: Asked[] = []
  const gates = limits.keys.map((limit, key): readonly Gate[] => [
    keyGate(limit, { id: `key-${run}-${key}` }),
    keyGate(limits.workspace, { scope: 'workspace', id: `workspace-${run}` }),
  ])
  const countsFor = (one: Asked, key: number | null): boolean => key === null || one.key === key
  const standing = (key: number | null) => {
    let used = 0
    let held = 0
    for (const one of asked) {
      if (!countsFor(one, key)) continue
      if (one.state === 'settled') used += one.cost
      if (one.state === 'held') held += one.amount
    }
    return { used, held }
  }
  const limitsOf = (key: number): [number | null, number][] => [
    [key, limits.keys[key] ?? 0],
    [null, limits.workspace],
  ]
  const check = (): void => {
    for (const [key, limit] of [...limits.keys.entries(), [null, limits.workspace] as const]) {
      const { used, held } = standing(key)
      expect(used + held).toBeLessThanOrEqual(limit)
    }
    for (const one of asked) {
      if (one.state !== 'refused') continue
      // Settled spending alone keeps it out.
      expect(limitsOf(one.key).some(([key, limit]) => standing(key).used + one.amount > limit)).toBe(true)
    }
    // The first that waits is kept out by running requests, and would fit without them.
    const first = asked.find(({ state }) => state === 'waiting')
    if (first === undefined) return
    const closed = limitsOf(first.key).filter(([key, limit]) => {
      const { used, held } = standing(key)
      return used + held + first.amount > limit
    })
    expect(closed.length).toBeGreaterThan(0)
    for (const [key, limit] of limitsOf(first.key))
      expect(standing(key).used + first.amount).toBeLessThanOrEqual(limit)
  }
  const ask = (key: number, amount: number): void => {
    const own = gates[key] ?? []
    const one: Asked = {
      order: asked.length,
      key,
      amount,
      gates: own,
      leaving: new AbortController(),
      state: 'waiting',
      hold: null,
      cost: 0,
    }
    asked.push(one)
    const hasHeld = ({ hold }: Claim<Amounts>): void => {
      one.hold = hold
      one.state = 'held'
      served.push(one)
    }
    const hasFailed = (): void => {
      if (one.leaving.signal.aborted) return
      one.state = 'refused'
    }
    try {
      const claim = ledger.claim({
        generationId: entryOf().generationId,
        gates: own,
        startedAt: NOON,
        need: () => ({ amountNanoUsd: amount, sharedNanoUsd: amount }),
        signal: one.leaving.signal,
      })
      if (claim instanceof Promise) claim.then(hasHeld, hasFailed)
      else hasHeld(claim)
    } catch {
      hasFailed()
    }
  }
  const settle = async (one: Asked, cost: number): Promise<void> => {
    if (one.hold === null) return
    const settlement = settlementOf({
      generationId: one.hold.generationId,
      keyHash: `key-${run}-${one.key}`,
      workspaceId: `workspace-${run}`,
      costNanoUsd: cost,
    })
    const done = ledger.settle(one.hold, settlement)
    one.cost = cost
    await done.then(() => undefined)
    one.state = 'settled'
  }
  return { asked, served, check, ask, settle }
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      key: fc.integer({ min: 0, max: 1 }),
      amount: fc.integer({ min: 1, max: 12 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('settle' as const), pick: fc.nat(), part: fc.nat(100) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), pick: fc.nat() }) },
)

test('any order of claims, settlements, releases and disconnects: never over a limit, in order, and no claim waits in vain', async () => {
  let run = 0
  let waited = 0
  const interleaving = async (
    limits: { keys: number[]; workspace: number },
    steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
  ) => {
    run += 1
    const trial = openTrial(String(run), limits)
    const pickOf = (state: Asked['state'], pick: number): Asked | undefined => {
      const some = trial.asked.filter((one) => one.state === state)
      return some[pick % Math.max(1, some.length)]
    }
    for (const one of steps) {
      if (one.do === 'ask') trial.ask(one.key, one.amount)
      else if (one.do === 'leave') {
        const waiting = pickOf('waiting', one.pick)
        if (waiting) {
          waiting.state = 'left'
          waiting.leaving.abort()
        }
      } else {
        const held = pickOf('held', one.pick)
        if (held?.hold && one.do === 'release') {
          held.state = 'released'
          ledger.release(held.hold)
        } else if (held && one.do === 'settle') {
          await trial.settle(held, Math.floor((held.amount * one.part) / 100))
        }
      }
      await turn()
      waited += trial.asked.filter(({ state }) => state === 'waiting').length
      trial.check()
    }
    for (;;) {
      const held = pickOf('held', 0)
      if (!held?.hold) break
      held.state = 'released'
      ledger.release(held.hold)
      await turn()
      trial.check()
    }
    expect(trial.asked.filter(({ state }) => state === 'waiting')).toEqual([])
    for (const key of [0, 1]) {
      const orders = trial.served.filter((one) => one.key === key).map(({ order }) => order)
      expect(orders).toEqual(orders.toSorted((a, b) => a - b))
    }
    expect(ledger.heldNanoUsd()).toBe(0)
  }
  const limits = fc.record({
    keys: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 2, maxLength: 2 }),
    workspace: fc.integer({ min: 0, max: 50 }),
  })
  await fc.assert(fc.asyncProperty(limits, fc.array(step, { minLength: 5, maxLength: 50 }), interleaving), {
    numRuns: 300,
    seed: Number(process.env['SLUICE_TEST_SEED'] ?? 20261122),
    interruptAfterTimeLimit: 25_000,
    markInterruptAsFailure: true,
  })
  expect(waited).toBeGreaterThan(300)
}, 40_000)

test('a limit that pays for n answers yields n of any burst, whatever is reserved for each', async () => {
  let run = 0
  const burst = async (count: number, cost: number, more: number, burst: number) => {
    run += 1
    const reserved = cost + more
    const limit = (count - 1) * cost + reserved
    const trial = openTrial(`burst-${run}`, { keys: [limit, 0], workspace: 1_000_000 })
    for (let n = 0; n < count + burst; n++) trial.ask(0, reserved)
    for (;;) {
      const running = trial.asked.filter(({ state }) => state === 'held')
      if (running.length === 0) break
      await Promise.all(running.map((one) => trial.settle(one, cost)))
      await turn()
      trial.check()
    }
    const states = trial.asked.map(({ state }) => state)
    expect(states).toEqual([...Array(count).fill('settled'), ...Array(burst).fill('refused')])
  }
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 0, max: 999 }),
      fc.integer({ min: 0, max: 100 }),
      // The rest of the limit must be too little for one more.
      (count, cost, more, extra) => burst(count, cost, Math.min(more, cost), extra),
    ),
    { numRuns: 60, seed: 20261122 },
  )
}, 40_000)
