/** A ledger's rows of every kind to prune, and readers of the rows and sums that stay. */
import type { Database } from '../../src/db/database.ts'
import type { Pruning, Retention } from '../../src/ledger/retention.ts'
import { rowOf } from '../../src/ledger/row.ts'
import { chargedScopes } from '../../src/ledger/row-values.ts'
import { NOON, rowsOf, seedRows, settlementOf } from './fixture.ts'

export const HOUR = 3_600_000

/** Rows of all kinds, `stepMs` apart, the last one at NOON. */
export function seed(into: Database, rows: number, stepMs: number): string[] {
  const made = Array.from({ length: rows }, (_, n) => {
    const startedAt = NOON - (rows - 1 - n) * stepMs
    const over = {
      // As in a real id, the time of the request comes first.
      generationId: `gen-${Bun.randomUUIDv7('hex', startedAt).replaceAll('-', '')}`,
      startedAt,
      keyHash: `key-${n % 3}`,
      workspaceId: `workspace-${n % 2}`,
      modelId: n % 5 === 0 ? 'lab/large' : 'lab/tiny',
      isByok: n % 4 === 0,
    }
    const guardrails = n % 2 === 0 ? [{ scope: 'guardrail' as const, id: `guardrail-${n % 3}` }] : []
    const finishReason = n % 7 === 0 ? 'error' : 'stop'
    return rowOf(settlementOf({ ...over, finishReason, costNanoUsd: 1_000 + n }), chargedScopes(guardrails))
  })
  seedRows(into, made)
  return made.map(({ id }) => id)
}

export const pruning = (retention: Partial<Retention>, over: Partial<Pruning> = {}): Pruning => ({
  retention: { maxAgeMs: null, maxBytes: null, ...retention },
  now: () => NOON,
  mayPrune: () => true,
  pause: () => new Promise(setImmediate),
  ...over,
})

export const idsOf = (of: Database): unknown[] =>
  rowsOf(of, 'SELECT id FROM generations ORDER BY id').map((row) => row['id'])
export const sumsOf = (of: Database): unknown[] => [
  rowsOf(of, 'SELECT * FROM spending ORDER BY 1, 2, 3, 4'),
  rowsOf(of, 'SELECT * FROM usage_hourly ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9'),
]
