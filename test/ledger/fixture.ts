import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Gate } from '../../src/core/gate.ts'
import type { JournalEntry, Settlement } from '../../src/core/generation.ts'
import { newGenerationId } from '../../src/core/ids.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { DATABASE_FILE, type Database, openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrations.ts'
import { prepareCommit } from '../../src/ledger/batch.ts'
import { prepareFolding } from '../../src/ledger/folding.ts'
import type { NewRow } from '../../src/ledger/row.ts'
import { removeVerified } from '../verified.ts'

export interface DataFolder {
  path: string
  databasePath: string
  /** Throws when the ledger in it does not verify. */
  remove(): void
  /** For one that a test has broken on purpose. */
  removeBroken(): void
}

export function makeFolder(): DataFolder {
  const path = mkdtempSync(join(tmpdir(), 'sluice-ledger-'))
  return {
    path,
    databasePath: join(path, DATABASE_FILE),
    remove: () => removeVerified(path),
    removeBroken: () => rmSync(path, { recursive: true, force: true }),
  }
}

export function openMigrated(path: string): Database {
  const database = openDatabase(path)
  migrate(database)
  return database
}

/** 2026-11-18 12:34:56.789 UTC, a Wednesday. */
export const NOON = Date.UTC(2026, 10, 18, 12, 34, 56, 789)

export const keyGate = (limitNanoUsd: number, over: Partial<Gate> = {}): Gate => ({
  scope: 'key',
  id: 'key-1',
  label: 'This key',
  interval: 'daily',
  limitNanoUsd,
  status: 402,
  ...over,
})

export const entryOf = (over: Partial<JournalEntry> = {}): JournalEntry => ({
  generationId: newGenerationId(),
  keyHash: 'key-1',
  workspaceId: 'workspace-1',
  modelId: 'lab/tiny',
  providerSlug: 'lab',
  providerName: 'Lab',
  endpointId: 'lab/lab/tiny',
  apiType: 'completions',
  streamed: true,
  isByok: false,
  origin: 'https://app.example',
  httpReferer: 'https://app.example/chat',
  title: 'App',
  userAgent: 'test/1',
  requestId: 'req-1',
  sessionId: null,
  externalUser: null,
  startedAt: NOON,
  promptTokensEstimate: 11,
  promptCostNanoUsd: 70,
  ...over,
})

export const settlementOf = (over: Partial<Settlement> = {}): Settlement => ({
  ...entryOf(over),
  upstreamId: 'chatcmpl-1',
  finishReason: 'stop',
  nativeFinishReason: 'stop',
  cancelled: false,
  usage: { ...NO_USAGE, inputTokens: 10, cacheReadTokens: 4, outputTokens: 20, reasoningTokens: 3 },
  usageSource: 'provider',
  costNanoUsd: 500,
  cacheDiscountNanoUsd: null,
  latencyMs: 12.4,
  generationTimeMs: 34.6,
  endedAt: NOON + 47,
  serviceTier: null,
  router: 'direct',
  routing: null,
  tries: [],
  ...over,
})

/** Writes rows and their sums, without a ledger. */
export function seedRows(database: Database, rows: readonly NewRow[]): void {
  const folding = prepareFolding(database)
  const commit = prepareCommit(database, folding)
  for (let from = 0; from < rows.length; from += 64)
    commit({ settled: rows.slice(from, from + 64), journaled: [], forgotten: [] })
  folding.fold()
}

/** Rows of any query, for looking behind the ledger's back. */
export const rowsOf = (database: Database, sql: string): Record<string, unknown>[] =>
  database.file.query<Record<string, unknown>, []>(sql).all()
