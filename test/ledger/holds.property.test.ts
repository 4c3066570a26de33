import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Gate } from '../../src/core/gate.ts'
import type { Database } from '../../src/db/database.ts'
import type { Hold, Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { INTERVALS } from '../../src/ledger/windows.ts'
import { entryOf, keyGate, makeFolder, openMigrated, settlementOf } from './fixture.ts'
import { type Step, type StepOf, step } from './holds-steps.ts'
import {
  type Before,
  type Entry,
  heldAgainst,
  heldInAll,
  neededBy,
  remember,
  settledBy,
  spentBy,
  usedOf,
  windowName,
} from './money-model.ts'

const RUNS = 1000
/** Interleavings that share a database file; it is verified after them. */
const RUNS_PER_FILE = 250
const MINUTE_MS = 60_000
/** 2028-02-26 20:00 UTC, a Saturday: a few steps on lie midnight, a Monday, a leap day and the month's end. */
const START = Date.UTC(2028, 1, 26, 20)

interface File {
  readonly database: Database
  readonly ledger: Ledger
  readonly clock: { now: number }
  readonly before: Before
  close(): Promise<void>
}

/** A ledger on a file of its own, as a server opens it; only the wait for the disk is left out. */
function openFile(): File {
  const folder = makeFolder()
  const database = openMigrated(folder.databasePath)
  database.file.run('PRAGMA synchronous = OFF')
  const clock = { now: START }
  const { ledger } = openLedger(database, { now: () => clock.now })
  return {
    database,
    ledger,
    clock,
    before: new Map(),
    async close() {
      await ledger.close()
      database.close()
      folder.remove()
    },
  }
}

/** One interleaving: the ledger, and the list that it must agree with. */
interface Trial {
  readonly file: File
  readonly run: number
  readonly entries: Entry[]
  settling: Promise<void>[]
  readonly seen: Seen
}

interface Seen {
  admitted: number
  refused: number
  settled: number
  released: number
  setBack: number
}

function gatesOf({ file, run }: Trial, asked: StepOf<'reserve'>): Gate[] {
  const gates: Gate[] = []
  const add = (scope: Gate['scope'], id: string, drawn: typeof asked.ofKey, more = 0): void => {
    if (drawn === null) return
    const { interval: of, includeByok, limit } = drawn
    gates.push({ ...keyGate(limit + more, { interval: of, includeByok }), scope, id })
  }
  add('key', `key-${run}-${asked.key}`, asked.ofKey)
  for (const drawn of asked.ofWorkspace) add('workspace', `workspace-${run}`, drawn)
  add('guardrail', `guardrail-${run}/key-${asked.key}`, asked.ofGuardrail)
  add('guardrail', `guardrail-${run}/member`, asked.ofMember)
  if (asked.ofOrganization !== null) {
    // The interleavings of a file share one organisation, so each gets its limit on top of the usage before it.
    const none: Gate = { ...keyGate(0), ...asked.ofOrganization, scope: 'organization', id: '' }
    add('organization', '', asked.ofOrganization, usedOf([], file.before, none, file.clock.now))
  }
  return gates
}

function reserve(trial: Trial, asked: StepOf<'reserve'>): void {
  const { entries, seen, run } = trial
  const { ledger, before, clock } = trial.file
  const { now } = clock
  const gates = gatesOf(trial, asked)
  const standing = (gate: Gate) => usedOf(entries, before, gate, now) + heldAgainst(entries, gate, now)
  const remainingOf = (gate: Gate) => gate.limitNanoUsd - standing(gate)
  expect(ledger.remaining(gates, now).nanoUsd).toBe(
    Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...gates.map(remainingOf))),
  )
  const { generationId } = entryOf()
  const { amount } = asked
  const shared = asked.shared === null ? null : Math.min(asked.shared, amount)
  const request = {
    generationId,
    gates,
    amountNanoUsd: amount,
    // Absent is the whole amount.
    ...(shared === amount ? {} : { sharedNanoUsd: shared }),
    startedAt: now,
  }
  const isShut = gates.some((gate) => {
    const needed = neededBy(gate, { amount, shared })
    return needed !== null && needed > remainingOf(gate)
  })
  if (isShut) {
    expect(() => ledger.reserve(request)).toThrow('limit of')
    seen.refused += 1
    return
  }
  const hold: Hold = ledger.reserve(request)
  const whose = { key: `key-${run}-${asked.key}`, workspace: `workspace-${run}`, startedAt: now }
  entries.push({ ...whose, amount, shared, gates, state: 'held', hold, cost: 0, isByok: false })
  seen.admitted += 1
  for (const gate of gates) {
    if (neededBy(gate, { amount, shared }) !== null)
      expect(standing(gate)).toBeLessThanOrEqual(gate.limitNanoUsd)
  }
}

function settle(trial: Trial, entry: Entry, { cost, isByok, isJournaled }: StepOf<'settle'>): void {
  const { ledger } = trial.file
  const settled = {
    generationId: entry.hold.generationId,
    keyHash: entry.key,
    workspaceId: entry.workspace,
    startedAt: entry.startedAt,
    isByok,
    costNanoUsd: cost,
  }
  if (isJournaled) ledger.journal(entryOf(settled))
  trial.settling.push(ledger.settle(entry.hold, settlementOf(settled)))
  if (entry.state !== 'held') return
  Object.assign(entry, { state: 'settling', cost, isByok })
  trial.seen.settled += 1
}

function release(trial: Trial, entry: Entry): void {
  trial.file.ledger.release(entry.hold)
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
  const { ledger, clock } = trial.file
  if (one.do === 'wait') {
    clock.now += one.minutes * MINUTE_MS
    if (one.minutes < 0) trial.seen.setBack += 1
  } else if (one.do === 'commit') await commit(trial)
  else if (one.do === 'reserve') reserve(trial, one)
  else {
    // Ended entries are picked too: to end them again must change nothing.
    const entry = trial.entries[one.pick % Math.max(1, trial.entries.length)]
    if (entry === undefined) return
    if (one.do === 'release') release(trial, entry)
    else settle(trial, entry, one)
  }
  expect(ledger.heldNanoUsd()).toBe(heldInAll(trial.entries))
}

/** Compares the answers and the rows of the ledger with the list. */
async function compare(trial: Trial): Promise<void> {
  const { entries, run } = trial
  const { ledger, clock, database } = trial.file
  for (const id of [`key-${run}-0`, `key-${run}-1`]) {
    const usage = await ledger.usageOf(id, clock.now)
    const [daily, weekly, monthly, total] = INTERVALS.map((of) =>
      spentBy(entries, { scope: 'key', id }, of, clock.now),
    )
    expect([usage.daily, usage.weekly, usage.monthly, usage.total]).toEqual(
      [daily, weekly, monthly, total].map((sum) => sum?.usage ?? 0),
    )
    expect([usage.byokDaily, usage.byokWeekly, usage.byokMonthly, usage.byokTotal]).toEqual(
      [daily, weekly, monthly, total].map((sum) => sum?.byok ?? 0),
    )
  }
  ledger.fold()
  const written = (sql: string) =>
    Object.fromEntries(
      database.file
        .query<{ name: string; usage: number; byok: number; requests: number }, [string]>(sql)
        .all(`workspace-${run}`)
        .map(({ name, ...sums }) => [name, sums]),
    )
  const sums = 'sum(usage_nano_usd) AS usage, sum(byok_usage_nano_usd) AS byok, sum(requests) AS requests'
  const iso = (column: string, length: number) =>
    `substr(strftime('%FT%H', ${column} / 1000, 'unixepoch'), 1, ${length})`
  expect(
    written(`SELECT ${iso('hour', 13)} AS name, ${sums} FROM usage_hourly WHERE workspace_id = ? GROUP BY 1`),
  ).toEqual(settledBy(entries, ({ startedAt }) => new Date(startedAt).toISOString().slice(0, 13)))
  expect(
    written(`SELECT ${iso('day', 10)} AS name, ${sums} FROM usage_daily WHERE workspace_id = ? GROUP BY 1`),
  ).toEqual(settledBy(entries, ({ startedAt }) => windowName('daily', startedAt)))
}

test(`the ledger agrees with the sums of a list, over ${RUNS} interleavings`, async () => {
  const seen: Seen = { admitted: 0, refused: 0, settled: 0, released: 0, setBack: 0 }
  let file: File | null = null
  let settledInFile = 0
  let run = 0
  let hasFailed = false

  async function closeVerified(): Promise<void> {
    if (file === null) return
    const { database } = file
    const report = verifyLedger(database)
    expect(report.differences).toEqual([])
    expect(report.generations).toBe(settledInFile)
    expect(database.file.query('SELECT * FROM journal').all()).toEqual([])
    await file.close()
    file = null
  }

  const interleaving = async (steps: readonly Step[]) => {
    // A shorter list that is tried after a failure begins with an empty file: it must fail by itself.
    if (hasFailed || run % RUNS_PER_FILE === 0) {
      if (!hasFailed) await closeVerified()
      file = openFile()
      settledInFile = 0
    }
    if (file === null) throw new Error('no file is open')
    run += 1
    file.clock.now = START
    const trial: Trial = { file, run, entries: [], settling: [], seen }
    try {
      for (const one of steps) await take(trial, one)
      await commit(trial)
      await compare(trial)
      for (const { hold } of trial.entries) file.ledger.release(hold)
      expect(file.ledger.heldNanoUsd()).toBe(0)
      remember(file.before, trial.entries, INTERVALS)
      settledInFile += trial.entries.filter(({ state }) => state === 'settled').length
      if (hasFailed) await file.close()
    } catch (error) {
      hasFailed = true
      await Promise.allSettled(trial.settling)
      await file.close()
      throw error
    }
  }

  // A failure prints the shortest list of steps that fails by itself, and the seed that finds it again.
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), interleaving), {
    numRuns: RUNS,
    seed: Number(process.env['SLUICE_TEST_SEED'] ?? 20261121),
    // The search for the shortest failure ends before the timeout of the test.
    interruptAfterTimeLimit: 40_000,
    markInterruptAsFailure: true,
  })
  await closeVerified()
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 4)
}, 60_000)
