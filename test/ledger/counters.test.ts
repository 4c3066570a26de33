import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Gate, Interval } from '../../src/core/gate.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { INTERVALS, windowStart } from '../../src/ledger/windows.ts'
import { entryOf, keyGate, rowsOf, settlementOf } from './fixture.ts'
import { databaseForEach } from './opened.ts'

const HOUR_MS = 3_600_000
/** The last hour of a day, a week and a month at once. */
const NEW_MONTH = Date.UTC(2027, 1, 1)
const LIMIT = 1_000_000

const opened = databaseForEach()

interface Spending {
  key: string
  at: number
  cost: number
  isByok: boolean
  isGuarded: boolean
}

const gatesOf = ({ key, isGuarded }: Pick<Spending, 'key' | 'isGuarded'>): Gate[] => {
  const gates = [keyGate(LIMIT, { id: key, interval: 'lifetime' })]
  if (isGuarded) gates.push(keyGate(LIMIT, { scope: 'guardrail', id: key, interval: 'monthly' }))
  return gates
}

function spend(ledger: Ledger, spending: Spending): Promise<void> {
  const { key, at, cost, isByok } = spending
  const { generationId } = entryOf()
  const hold = ledger.reserve({ generationId, gates: gatesOf(spending), amountNanoUsd: cost, startedAt: at })
  // Each key is of a workspace of its own.
  const workspaceId = key.replace('key', 'workspace')
  const times = { startedAt: at, endedAt: at + 1 }
  const settlement = { generationId, keyHash: key, workspaceId, isByok, costNanoUsd: cost, ...times }
  return ledger.settle(hold, settlementOf(settlement))
}

/** What the table says of one counter, both kinds of spending together. */
function stored(scope: string, id: string, interval: Interval, at: number): number {
  const rows = rowsOf(
    opened.database,
    `SELECT usage_nano_usd + byok_usage_nano_usd AS n FROM spending WHERE scope = '${scope}' AND scope_id = '${id}'
       AND interval = '${interval}' AND window_start = ${windowStart(interval, at)}`,
  )
  return Number(rows[0]?.['n'] ?? 0)
}

/** What the organisation has spent is the sum of its workspaces, in every window, also in those that have ended. */
function expectTheOrganizationToBeItsWorkspaces(ledger: Ledger, instants: readonly number[]): void {
  for (const interval of INTERVALS) {
    for (const at of instants) {
      const gate = keyGate(LIMIT, { scope: 'organization', id: 'org', interval, includeByok: true })
      const sum =
        stored('workspace', 'workspace-1', interval, at) + stored('workspace', 'workspace-2', interval, at)
      expect([interval, at, LIMIT - ledger.remaining([gate], at).nanoUsd]).toEqual([interval, at, sum])
    }
  }
}

/** Before what was committed is in the table, and after it. */
function expectMemoryToBeTheTable(ledger: Ledger, instants: readonly number[]): void {
  const before = usedOf(ledger, instants)
  expect(ledger.fold()).toBe(true)
  expect(before).toEqual(usedOf(ledger, instants))
  expectTheOrganizationToBeItsWorkspaces(ledger, instants)
  for (const { scope, id, interval, at, used } of before) {
    if (scope === 'organization') continue
    expect([scope, id, interval, at, used]).toEqual([
      scope,
      id,
      interval,
      at,
      stored(scope, id, interval, at),
    ])
  }
}

function usedOf(ledger: Ledger, instants: readonly number[]) {
  const ids = ['key-1', 'key-2', 'workspace-1', 'workspace-2', 'org']
  return (['key', 'workspace', 'guardrail', 'organization'] as const).flatMap((scope) =>
    ids.flatMap((id) =>
      INTERVALS.flatMap((interval) =>
        instants.map((at) => {
          const gate = keyGate(LIMIT, { scope, id, interval, includeByok: true })
          return { scope, id, interval, at, used: LIMIT - ledger.remaining([gate], at).nanoUsd }
        }),
      ),
    ),
  )
}
const spendings = fc.array(
  fc.record({
    key: fc.constantFrom('key-1', 'key-2'),
    at: fc.integer({ min: -60, max: 60 }).map((hours) => NEW_MONTH + hours * HOUR_MS),
    cost: fc.integer({ min: 0, max: 900 }),
    isByok: fc.boolean(),
    isGuarded: fc.boolean(),
  }),
  { minLength: 1, maxLength: 80 },
)

test('memory equals the table in every window that a commit touched', async () => {
  await fc.assert(
    fc.asyncProperty(spendings, fc.integer({ min: -40, max: 40 }), async (batch, hours) => {
      const { ledger } = openLedger(opened.database, { now: () => NEW_MONTH + hours * HOUR_MS })
      const instants = [...new Set(batch.map(({ at }) => at))].slice(0, 8)
      await Promise.all(batch.map((each) => spend(ledger, each)))
      expectMemoryToBeTheTable(ledger, instants)
      await ledger.close()
    }),
    { numRuns: 25 },
  )
  expect(verifyLedger(opened.database).differences).toEqual([])
})

test('a clock that was set back over a restart forgets nothing that was spent after it', async () => {
  const tomorrow = { key: 'key-1', at: NEW_MONTH, cost: 70, isByok: false, isGuarded: false }
  const before = openLedger(opened.database, { now: () => NEW_MONTH }).ledger
  await spend(before, tomorrow)
  await before.close()

  const { ledger } = openLedger(opened.database, { now: () => NEW_MONTH - 12 * HOUR_MS })
  expect(await ledger.usageOf('key-1', NEW_MONTH)).toMatchObject({
    total: 70,
    daily: 70,
    weekly: 70,
    monthly: 70,
  })
  await spend(ledger, tomorrow)
  expectMemoryToBeTheTable(ledger, [NEW_MONTH - HOUR_MS, NEW_MONTH])
  await ledger.close()
})

test('a clock that advances while rows wait leaves memory and table equal', async () => {
  let now = NEW_MONTH - 1
  const { ledger } = openLedger(opened.database, { now: () => now })
  const of = (at: number) => spend(ledger, { key: 'key-1', at, cost: 5, isByok: false, isGuarded: true })
  const waiting = [of(NEW_MONTH - 1), of(NEW_MONTH), of(NEW_MONTH - 1)]
  now = NEW_MONTH + HOUR_MS
  await Promise.all(waiting)
  expectMemoryToBeTheTable(ledger, [NEW_MONTH - 1, NEW_MONTH, now])
  expect(await ledger.usageOf('key-1', now)).toMatchObject({ total: 15, daily: 5, weekly: 5, monthly: 5 })
  expect(await ledger.usageOf('key-1', NEW_MONTH - 1)).toMatchObject({ daily: 10, weekly: 10, monthly: 10 })
  await ledger.close()
})
