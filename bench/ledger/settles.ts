import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Gate } from '../../src/core/gate.ts'
import type { Settlement } from '../../src/core/generation.ts'
import { newGenerationId, newRequestId } from '../../src/core/ids.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { DATABASE_FILE, openDatabase } from '../../src/db/database.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { percentile } from '../statistics.ts'

/** How long a settlement waits for its commit, on a seeded ledger of which no server runs. */

const CALLERS = 64
const SETTLEMENTS = 20_000
/** Between two requests of one caller: it is the wait for the disk that is wanted, not a full queue. */
const PAUSE_MS = 40

const SETTLE_GOAL_MS = 15

export interface SettleRow {
  name: string
  p50Ms: number
  p99Ms: number
  mostMs: number
  /** Null: nothing is settled. */
  perSecond: number | null
}

async function settleLatencies(name: string, folder: string, pauseMs: number): Promise<SettleRow> {
  const database = openDatabase(join(folder, 'data', DATABASE_FILE))
  const { ledger } = openLedger(database)
  const taken: number[] = []
  const startedAt = performance.now()
  const caller = async (index: number) => {
    await Bun.sleep((index * pauseMs) / CALLERS)
    while (taken.length < SETTLEMENTS) {
      taken.push(await settleOnce(ledger, index))
      if (pauseMs > 0) await Bun.sleep(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)))
  const seconds = (performance.now() - startedAt) / 1000
  await ledger.close()
  database.close()
  return { name, ...spread(taken), perSecond: taken.length / seconds }
}

/** The disk alone, for comparison: no settlement can wait less than one durable write takes. */
export async function diskLatencies(folder: string): Promise<SettleRow> {
  const file = openSync(join(folder, 'durable'), 'w')
  const pages = Buffer.alloc(4 * 4096)
  const taken: number[] = []
  for (let count = 0; count < 500; count++) {
    const startedAt = performance.now()
    writeSync(file, pages)
    fdatasyncSync(file)
    taken.push(performance.now() - startedAt)
    await Bun.sleep(2)
  }
  closeSync(file)
  return { name: 'the disk: one durable write', ...spread(taken), perSecond: null }
}

function spread(taken: readonly number[]): Pick<SettleRow, 'p50Ms' | 'p99Ms' | 'mostMs'> {
  const ascending = taken.toSorted((a, b) => a - b)
  return {
    p50Ms: percentile(ascending, 0.5),
    p99Ms: percentile(ascending, 0.99),
    mostMs: ascending.at(-1) ?? Number.NaN,
  }
}

export async function settleBoth(name: string, folder: string): Promise<SettleRow[]> {
  return [
    await settleLatencies(`${name}: ${CALLERS} callers, ${PAUSE_MS} ms apart`, folder, PAUSE_MS),
    await settleLatencies(`${name}: ${CALLERS} callers without pause`, folder, 0),
  ]
}

async function settleOnce(ledger: Ledger, caller: number): Promise<number> {
  const settlement = settlementOf(caller)
  const gate: Gate = {
    scope: 'key',
    id: settlement.keyHash,
    label: 'This key',
    interval: 'daily',
    limitNanoUsd: Number.MAX_SAFE_INTEGER,
    status: 402,
  }
  const { generationId, startedAt } = settlement
  const hold = ledger.reserve({ generationId, gates: [gate], amountNanoUsd: 1_000_000, startedAt })
  ledger.journal(settlement)
  const from = performance.now()
  await ledger.settle(hold, settlement)
  return performance.now() - from
}

const settlementOf = (caller: number): Settlement => ({
  generationId: newGenerationId(),
  keyHash: `settle-${caller % 16}`,
  workspaceId: `settle-${caller % 4}`,
  modelId: 'bench/model',
  providerSlug: 'bench',
  providerName: 'Bench',
  endpointId: 'bench/bench/model',
  apiType: 'completions',
  streamed: false,
  isByok: false,
  origin: '',
  httpReferer: '',
  title: '',
  userAgent: 'bench',
  requestId: newRequestId(),
  sessionId: null,
  externalUser: null,
  startedAt: Date.now(),
  promptTokensEstimate: 100,
  promptCostNanoUsd: 1000,
  upstreamId: 'chatcmpl-bench',
  finishReason: 'stop',
  nativeFinishReason: 'stop',
  cancelled: false,
  usage: { ...NO_USAGE, inputTokens: 100, outputTokens: 50 },
  usageSource: 'provider',
  costNanoUsd: 200_000,
  cacheDiscountNanoUsd: null,
  latencyMs: 100,
  generationTimeMs: 200,
  endedAt: Date.now(),
  serviceTier: null,
  router: 'direct',
  routing: '[2,0.31,0.02,98.4,1.27,200.05]',
  tries: [],
})

export const settleTable = (rows: readonly SettleRow[]): string[][] => [
  ['a settlement waits for its commit', 'p50, ms', 'p99, ms', 'most, ms', 'settled/s', 'goal', 'reached'],
  ...rows.map((row) => [
    row.name,
    row.p50Ms.toFixed(2),
    row.p99Ms.toFixed(2),
    row.mostMs.toFixed(1),
    row.perSecond?.toFixed(0) ?? '',
    row.perSecond === null ? '' : `p99 ≤ ${SETTLE_GOAL_MS}`,
    row.perSecond === null ? '' : isSettleGood(row) ? 'yes' : 'NO',
  ]),
]

export const isSettleGood = ({ p99Ms, perSecond }: SettleRow): boolean =>
  perSecond === null || p99Ms <= SETTLE_GOAL_MS
