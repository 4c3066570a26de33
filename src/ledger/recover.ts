import type { JournalEntry, Settlement } from '../core/generation.ts'
import { NO_USAGE } from '../core/usage.ts'
import type { Database } from '../db/database.ts'
import { journal } from '../db/tables.ts'
import type { Batch } from './batch.ts'
import { type JournalRow, journaledOf } from './journal-row.ts'
import { rowOf } from './row.ts'

const ROWS_PER_COMMIT = 500

/**
 * Settles what a former process sent upstream and did not live to settle: `finish_reason: "error"`,
 * `cancelled: true`, the prompt's estimated cost, flagged as estimated. Gives back how many there were.
 */
export function recover(database: Database, commit: (batch: Batch) => unknown): number {
  let count = 0
  for (;;) {
    const rows = database.sync.select().from(journal).limit(ROWS_PER_COMMIT).all()
    if (rows.length === 0) return count
    commit({
      settled: rows.map(settledRowOf),
      journaled: [],
      forgotten: rows.map((row) => row.generation_id),
    })
    count += rows.length
  }
}

function settledRowOf(row: JournalRow) {
  const { entry, charged } = journaledOf(row)
  return rowOf(interrupted(entry), charged)
}

const interrupted = (entry: JournalEntry): Settlement => ({
  ...entry,
  upstreamId: null,
  finishReason: 'error',
  nativeFinishReason: null,
  cancelled: true,
  usage: { ...NO_USAGE, inputTokens: entry.promptTokensEstimate },
  usageSource: 'estimated',
  costNanoUsd: entry.promptCostNanoUsd,
  cacheDiscountNanoUsd: null,
  latencyMs: 0,
  generationTimeMs: 0,
  // The end is unknown.
  endedAt: entry.startedAt,
  serviceTier: null,
  router: 'direct',
  routing: null,
  tries: [],
})
