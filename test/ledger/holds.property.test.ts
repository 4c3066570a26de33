import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Gate, Interval } from '../../src/core/gate.ts'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrations.ts'
import type { Hold, Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { INTERVALS, windowStart } from '../../src/ledger/windows.ts'
import { entryOf, keyGate, settlementOf } from './fixture.ts'

const RUNS = 1000
const HOUR_MS = 3_600_000
/** 2027-12-30 20:00 UTC: a few steps on lie midnight, the year's end and a Monday. */
const START = Date.UTC(2027, 11, 30, 20)

/** The simplest thing that can be right: lists, summed anew for each question. */
interface Entry {
  key: string
  workspace: string
  startedAt: number
  /** What gates hold that count own-key spending; all others hold `shared`, or nothing at all. */
  amount: number
  shared: number | null
  gates: readonly Gate[]
  state: 'held' | 'settling' | 'settled' | 'released'
  hold: Hold
  cost: number
  isByok: boolean
}

const scopeIdOf = (entry: Entry, gate: Gate): string => (gate.scope === 'key' ? entry.key : entry.workspace)

function usedBy(entries: readonly Entry[], gate: Gate, at: number): number {
  return entries
    .filter((entry) => entry.state === 'settled' && scopeIdOf(entry, gate) === gate.id)
    .filter((entry) => windowStart(gate.interval, entry.startedAt) === windowStart(gate.interval, at))
    .filter((entry) => !entry.isByok || gate.includeByok === true)
    .reduce((sum, entry) => sum + entry.cost, 0)
}

/** Null: this gate lets it through whatever is left. */
const neededBy = (gate: Gate, { amount, shared }: Pick<Entry, 'amount' | 'shared'>): number | null =>
  gate.includeByok === true ? amount : shared

function heldAgainst(entries: readonly Entry[], gate: Gate, at: number): number {
  return entries
    .filter((entry) => entry.state === 'held' || entry.state === 'settling')
    .map((entry) => {
      const same = entry.gates.find(
        (one) =>
          one.scope === gate.scope &&
          one.id === gate.id &&
          one.interval === gate.interval &&
          windowStart(one.interval, entry.startedAt) === windowStart(gate.interval, at),
      )
      return same === undefined ? 0 : (neededBy(same, entry) ?? 0)
    })
    .reduce((sum, amount) => sum + amount, 0)
}

const interval = fc.constantFrom<Interval>(...INTERVALS)
const limit = fc.integer({ min: 0, max: 40 })
const gates = fc.record({ key: fc.tuple(interval, limit), workspace: fc.option(fc.tuple(interval, limit)) })
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      key: fc.integer({ min: 0, max: 1 }),
      amount: fc.integer({ min: 0, max: 15 }),
      /** Below the amount: less of it; 15: all of it. Null: own keys alone. */
      shared: fc.option(fc.integer({ min: 0, max: 15 })),
      gates,
      includeByok: fc.tuple(fc.boolean(), fc.boolean()),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      pick: fc.nat(),
      cost: fc.integer({ min: 0, max: 18 }),
      isByok: fc.boolean(),
      isJournaled: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('release' as const), pick: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: -2, max: 40 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('commit' as const) }) },
)

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
type StepOf<Name extends Step['do']> = Extract<Step, { do: Name }>

/** One interleaving: the ledger, and the list that it must agree with. */
interface Trial {
  readonly ledger: Ledger
  readonly run: number
  readonly clock: { now: number }
  readonly entries: Entry[]
  settling: Promise<void>[]
  readonly seen: { admitted: number; refused: number; settled: number; released: number }
}

function gatesOf(run: number, { key, gates: chosen, includeByok }: StepOf<'reserve'>): Gate[] {
  const [forKey, forWorkspace] = includeByok
  const ofKey = keyGate(chosen.key[1], {
    id: `key-${run}-${key}`,
    interval: chosen.key[0],
    includeByok: forKey,
  })
  if (chosen.workspace === null) return [ofKey]
  const [workspaceInterval, workspaceLimit] = chosen.workspace
  const ofWorkspace = {
    scope: 'workspace',
    id: `workspace-${run}`,
    status: 403,
    includeByok: forWorkspace,
  } as const
  return [ofKey, keyGate(workspaceLimit, { ...ofWorkspace, interval: workspaceInterval })]
}

function reserve(trial: Trial, asked: StepOf<'reserve'>): void {
  const { ledger, entries, seen, run } = trial
  const { now } = trial.clock
  const wanted = gatesOf(run, asked)
  const roomOf = (gate: Gate): number =>
    gate.limitNanoUsd - usedBy(entries, gate, now) - heldAgainst(entries, gate, now)
  expect(ledger.room(wanted, now).nanoUsd).toBe(Math.max(0, Math.min(...wanted.map(roomOf))))
  const { generationId } = entryOf()
  const { amount } = asked
  const shared = asked.shared === null ? null : Math.min(asked.shared, amount)
  const request = {
    generationId,
    gates: wanted,
    amountNanoUsd: amount,
    // Absent is the whole amount.
    ...(shared === amount ? {} : { sharedNanoUsd: shared }),
    startedAt: now,
  }
  const isShut = wanted.some((gate) => {
    const needed = neededBy(gate, { amount, shared })
    return needed !== null && needed > roomOf(gate)
  })
  if (isShut) {
    expect(() => ledger.reserve(request)).toThrow('limit of')
    seen.refused += 1
    return
  }
  const hold = ledger.reserve(request)
  const of = { key: `key-${run}-${asked.key}`, workspace: `workspace-${run}`, startedAt: now }
  entries.push({ ...of, amount, shared, gates: wanted, state: 'held', hold, cost: 0, isByok: false })
  seen.admitted += 1
}

function settle(trial: Trial, entry: Entry, { cost, isByok, isJournaled }: StepOf<'settle'>): void {
  const told = {
    generationId: entry.hold.generationId,
    keyHash: entry.key,
    workspaceId: entry.workspace,
    startedAt: entry.startedAt,
    isByok,
    costNanoUsd: cost,
  }
  if (isJournaled) trial.ledger.journal(entryOf(told))
  trial.settling.push(trial.ledger.settle(entry.hold, settlementOf(told)))
  if (entry.state !== 'held') return
  Object.assign(entry, { state: 'settling', cost, isByok })
  trial.seen.settled += 1
}

function release(trial: Trial, entry: Entry): void {
  trial.ledger.release(entry.hold)
  if (entry.state !== 'held') return
  entry.state = 'released'
  trial.seen.released += 1
}

async function commit(trial: Trial): Promise<void> {
  await Promise.all(trial.settling)
  trial.settling = []
  for (const entry of trial.entries) if (entry.state === 'settling') entry.state = 'settled'
}

async function take(trial: Trial, one: Step): Promise<void> {
  if (one.do === 'wait') trial.clock.now += one.hours * HOUR_MS
  else if (one.do === 'commit') await commit(trial)
  else if (one.do === 'reserve') reserve(trial, one)
  else {
    // Ended ones are picked too: ending them again must change nothing.
    const entry = trial.entries[one.pick % Math.max(1, trial.entries.length)]
    if (entry === undefined) return
    if (one.do === 'release') release(trial, entry)
    else settle(trial, entry, one)
  }
  const open = trial.entries.filter((entry) => entry.state === 'held' || entry.state === 'settling')
  expect(trial.ledger.heldNanoUsd()).toBe(open.reduce((sum, entry) => sum + entry.amount, 0))
}

function compareUsage({ ledger, entries, clock }: Trial, key: string): void {
  const used = (wanted: Interval, includeByok: boolean) =>
    usedBy(entries, keyGate(0, { id: key, interval: wanted, includeByok }), clock.now)
  const usage = ledger.keyUsage(key, clock.now)
  expect([usage.daily, usage.weekly, usage.monthly, usage.total]).toEqual([
    used('daily', false),
    used('weekly', false),
    used('monthly', false),
    used('lifetime', false),
  ])
  expect([
    usage.daily + usage.byokDaily,
    usage.weekly + usage.byokWeekly,
    usage.monthly + usage.byokMonthly,
    usage.total + usage.byokTotal,
  ]).toEqual([used('daily', true), used('weekly', true), used('monthly', true), used('lifetime', true)])
}

test(`the ledger agrees with a list that is summed anew, over ${RUNS} interleavings`, async () => {
  const database = openDatabase(':memory:')
  migrate(database)
  const clock = { now: START }
  const { ledger } = openLedger(database, { now: () => clock.now })
  const seen = { admitted: 0, refused: 0, settled: 0, released: 0 }
  let run = 0

  const interleaving = async (steps: readonly Step[]) => {
    run += 1
    clock.now = START
    const trial: Trial = { ledger, run, clock, entries: [], settling: [], seen }
    for (const one of steps) await take(trial, one)
    await commit(trial)
    for (const key of [0, 1]) compareUsage(trial, `key-${run}-${key}`)
    for (const entry of trial.entries) ledger.release(entry.hold)
    expect(ledger.heldNanoUsd()).toBe(0)
  }

  const anySteps = fc.array(step, { minLength: 5, maxLength: 60 })
  await fc.assert(fc.asyncProperty(anySteps, interleaving), {
    numRuns: RUNS,
    seed: 20261121,
    endOnFailure: true,
  })
  await ledger.close()
  const report = verifyLedger(database)
  expect(report.differences).toEqual([])
  expect(report.generations).toBe(seen.settled)
  expect(database.file.query('SELECT * FROM journal').all()).toEqual([])
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 4)
  database.close()
})
