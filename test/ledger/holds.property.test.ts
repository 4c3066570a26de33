import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Gate, Interval } from '../../src/core/gate.ts'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrations.ts'
import type { Hold } from '../../src/ledger/ledger.ts'
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
  amount: number
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

function heldAgainst(entries: readonly Entry[], gate: Gate, at: number): number {
  return entries
    .filter((entry) => entry.state === 'held' || entry.state === 'settling')
    .filter((entry) =>
      entry.gates.some(
        (one) =>
          one.scope === gate.scope &&
          one.id === gate.id &&
          one.interval === gate.interval &&
          windowStart(one.interval, entry.startedAt) === windowStart(gate.interval, at),
      ),
    )
    .reduce((sum, entry) => sum + entry.amount, 0)
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
      gates,
      includeByok: fc.boolean(),
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

test(`the ledger agrees with a list that is summed anew, over ${RUNS} interleavings`, async () => {
  const database = openDatabase(':memory:')
  migrate(database)
  let now = START
  const { ledger } = openLedger(database, { now: () => now })
  let run = 0
  const seen = { admitted: 0, refused: 0, settled: 0, released: 0 }

  const interleaving = async (steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) => {
    run += 1
    now = START
    const entries: Entry[] = []
    let settling: Promise<void>[] = []
    const commit = async () => {
      await Promise.all(settling)
      settling = []
      for (const entry of entries) if (entry.state === 'settling') entry.state = 'settled'
    }
    const gatesOf = (
      one: { key: number; gates: { key: [Interval, number]; workspace: [Interval, number] | null } },
      includeByok: boolean,
    ): Gate[] => {
      const key = keyGate(one.gates.key[1], {
        id: `key-${run}-${one.key}`,
        interval: one.gates.key[0],
        includeByok,
      })
      if (one.gates.workspace === null) return [key]
      const [workspaceInterval, workspaceLimit] = one.gates.workspace
      const workspace = keyGate(workspaceLimit, {
        scope: 'workspace',
        id: `workspace-${run}`,
        label: 'The workspace',
        interval: workspaceInterval,
        status: 403,
        includeByok,
      })
      return [key, workspace]
    }

    for (const one of steps) {
      if (one.do === 'wait') now += one.hours * HOUR_MS
      else if (one.do === 'commit') await commit()
      else if (one.do === 'reserve') {
        const asked = gatesOf(one, one.includeByok)
        const room = Math.min(
          ...asked.map(
            (gate) => gate.limitNanoUsd - usedBy(entries, gate, now) - heldAgainst(entries, gate, now),
          ),
        )
        expect(ledger.room(asked, now).nanoUsd).toBe(Math.max(0, room))
        const { generationId } = entryOf()
        const request = { generationId, gates: asked, amountNanoUsd: one.amount, startedAt: now }
        if (one.amount > room) {
          expect(() => ledger.reserve(request)).toThrow('limit of')
          seen.refused += 1
          continue
        }
        seen.admitted += 1
        const hold = ledger.reserve(request)
        const of = { key: `key-${run}-${one.key}`, workspace: `workspace-${run}`, startedAt: now }
        entries.push({ ...of, amount: one.amount, gates: asked, state: 'held', hold, cost: 0, isByok: false })
      } else {
        // Ended ones are picked too: ending them again must change nothing.
        const entry = entries[one.pick % Math.max(1, entries.length)]
        if (entry === undefined) continue
        if (one.do === 'release') {
          ledger.release(entry.hold)
          if (entry.state === 'held') {
            entry.state = 'released'
            seen.released += 1
          }
          continue
        }
        const told = {
          generationId: entry.hold.generationId,
          keyHash: entry.key,
          workspaceId: entry.workspace,
          startedAt: entry.startedAt,
          isByok: one.isByok,
          costNanoUsd: one.cost,
        }
        if (one.isJournaled) ledger.journal(entryOf(told))
        settling.push(ledger.settle(entry.hold, settlementOf(told)))
        if (entry.state === 'held') {
          Object.assign(entry, { state: 'settling', cost: one.cost, isByok: one.isByok })
          seen.settled += 1
        }
      }
      const open = entries.filter((entry) => entry.state === 'held' || entry.state === 'settling')
      expect(ledger.heldNanoUsd()).toBe(open.reduce((sum, entry) => sum + entry.amount, 0))
    }

    await commit()
    for (const key of [0, 1].map((n) => `key-${run}-${n}`)) {
      const used = (wanted: Interval, includeByok: boolean) =>
        usedBy(entries, keyGate(0, { id: key, interval: wanted, includeByok }), now)
      const usage = ledger.keyUsage(key, now)
      expect([usage.daily, usage.weekly, usage.monthly, usage.total]).toEqual([
        used('daily', false),
        used('weekly', false),
        used('monthly', false),
        used('lifetime', false),
      ])
      expect(usage.total + usage.byokTotal).toBe(used('lifetime', true))
      expect(usage.daily + usage.byokDaily).toBe(used('daily', true))
    }
    for (const entry of entries) ledger.release(entry.hold)
    expect(ledger.heldNanoUsd()).toBe(0)
  }

  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), interleaving), {
    numRuns: RUNS,
    seed: 20261121,
    endOnFailure: true,
  })
  await ledger.close()
  const report = verifyLedger(database)
  expect(report.differences).toEqual([])
  expect(report.generations).toBe(seen.settled)
  expect(rowsLeft(database.file)).toBe(0)
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 4)
  database.close()
})

const rowsLeft = (file: ReturnType<typeof openDatabase>['file']): number =>
  file.query<{ n: number }, []>('SELECT count(*) AS n FROM journal').get()?.n ?? -1
