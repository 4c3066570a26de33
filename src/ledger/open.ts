import { unavailable } from '../core/errors.ts'
import type { JournalEntry, Settlement } from '../core/generation.ts'
import { NO_USAGE } from '../core/usage.ts'
import type { Database } from '../db/database.ts'
import { exportsOf } from '../db/export-tables.ts'
import { journal } from '../db/tables.ts'
import { type Batch, prepareCommit } from './batch.ts'
import { type Counters, loadCounters } from './counters.ts'
import { fillDays } from './days.ts'
import { createFoldTimer } from './fold-timer.ts'
import { prepareFolding } from './folding.ts'
import { type JournalRow, journaledOf } from './journal-row.ts'
import type { Ledger } from './ledger.ts'
import { ledgerOf, type Settled } from './operations.ts'
import type { Next } from './queue.ts'
import { createHolds, type OpenHold } from './reserve.ts'
import { type NewRow, rowOf } from './row.ts'
import { byokUsageOf, usageOf } from './summed.ts'
import { createWaiting } from './waiting.ts'
import { createWriter } from './writer.ts'

export interface LedgerOptions {
  /** A commit failed: see the writer's. For the log. */
  onFailure?(error: unknown, waiting: number, failures: number): void
  onRecovery?(): void
  /** After each commit. */
  onCommit?(milliseconds: number): void
  /** False while the disk is almost full: running requests settle, new ones are rejected. */
  hasRoom?(): boolean
  /** How long a claim waits for running reservations to end; default 0: not at all. */
  roomWaitMs?: number
  retryDelayMs?(failures: number): number
  /** How long a settlement that cannot be committed is waited for; default 7.5 seconds. */
  lateMs?: number | undefined
  /** Generations of all workspaces go to the outbox; default: of those with destinations. */
  exportsAll?: boolean
  /** A commit has added to the outbox. Called after it, on the thread of all requests. */
  onExported?(): void
  now?(): number
}

/** `Retry-After` while the ledger cannot be written. */
const RETRY_AFTER_SECONDS = 2
/** `Retry-After` while the disk is full. */
const NO_ROOM_RETRY_SECONDS = 10

const lateSettlement = () =>
  unavailable(
    'The answer could not be recorded: the ledger of the gateway cannot be written at the moment. Send the request again later',
    NO_ROOM_RETRY_SECONDS,
  )

const always = (): boolean => true

/**
 * Opens the ledger on a migrated database: folds what a former process left behind, settles what a crash left in the
 * journal, then reads the counters. `recovered`: how many generations were settled so.
 */
export function openLedger(
  database: Database,
  {
    onFailure,
    onRecovery,
    onCommit,
    retryDelayMs,
    lateMs,
    exportsAll = false,
    onExported,
    hasRoom = always,
    roomWaitMs = 0,
    now = Date.now,
  }: LedgerOptions = {},
): { ledger: Ledger; recovered: number } {
  fillDays(database)
  const folding = prepareFolding(database)
  const commitRows = prepareCommit(database, folding, now)
  folding.fold()
  const recovered = recover(database, commitRows, exportsAll)
  if (!folding.isEmpty()) folding.fold()
  const counters = loadCounters(database, now(), folding.unfolded)
  const holds = createHolds(counters)
  const folds = createFoldTimer(folding)
  const writer = createWriter<Settled>({
    commit,
    running: holds.count,
    onWritten: ({ resolve }) => resolve(),
    onLate: ({ reject }) => reject(lateSettlement()),
    onGivenUp({ hold, reject }, error) {
      end([hold])
      reject(error)
    },
    onFailure(error, rows, failures) {
      onFailure?.(error, rows, failures)
      waiting.refuse()
    },
    onRecovery,
    onCommit,
    retryDelayMs,
    lateMs,
  })

  function commit(batch: Next<Settled>): void {
    const { added, found, isExported } = roomMade(database, () => commitRows(batch))
    counters.advance(now())
    for (const row of added) book(counters, row)
    for (const row of found) reread(counters, row)
    // In the same turn as the counters, so that an amount is always either reserved or spent.
    end(batch.waiting.map(({ hold }) => hold))
    if (batch.waiting.length > 0) folds.committed()
    if (isExported) onExported?.()
  }

  const mustBeOpen = (): void => refuseUnless(writer.isWritable(), hasRoom())
  const waiting = createWaiting({ holds, waitMs: roomWaitMs, mustBeOpen })

  /** Requests that wait are admitted in a turn of their own, so that they cannot make a commit fail. */
  function end(ended: readonly OpenHold[]): void {
    for (const { generationId } of ended) holds.end(generationId)
    if (waiting.count() > 0) queueMicrotask(() => waiting.serve(ended))
  }

  const ledger = ledgerOf({
    counters,
    holds,
    waiting,
    writer,
    folds,
    hasRoom,
    mustBeOpen,
    end: (hold) => end([hold]),
    now,
  })
  return { ledger, recovered }
}

function refuseUnless(isWritable: boolean, hasRoom: boolean): void {
  if (!isWritable) {
    throw unavailable(
      'The ledger cannot be written at the moment, so no new request is taken',
      RETRY_AFTER_SECONDS,
      { reason: 'storage', gate: 'ledger' },
    )
  }
  if (!hasRoom) {
    throw unavailable(
      'There is hardly any room left on the disk of the gateway, so no new request is taken',
      NO_ROOM_RETRY_SECONDS,
      { reason: 'storage', gate: 'disk' },
    )
  }
}

/** Adds a committed row to the counters in memory. */
function book(counters: Counters, row: NewRow): void {
  const usage = usageOf(row)
  const byok = byokUsageOf(row)
  counters.book('key', row.keyHash, row.startedAt, usage, byok)
  counters.book('workspace', row.workspaceId, row.startedAt, usage, byok)
  if (row.chargedScopes === null) return
  for (const { scope, id } of row.chargedScopes) counters.book(scope, id, row.startedAt, usage, byok)
}

/** Of a row that a commit had written although it seemed to fail. */
function reread(counters: Counters, row: NewRow): void {
  counters.reread('key', row.keyHash, row.startedAt)
  counters.reread('workspace', row.workspaceId, row.startedAt)
  for (const { scope, id } of row.chargedScopes ?? []) counters.reread(scope, id, row.startedAt)
}

/**
 * If the write-ahead log cannot grow, it is moved into the database: the next attempt reuses its space, even on a disk that
 * stays full.
 */
function roomMade<T>({ file }: Database, work: () => T): T {
  try {
    return work()
  } catch (error) {
    try {
      file.run('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // The first error is the cause.
    }
    throw error
  }
}

const ROWS_PER_COMMIT = 500

/**
 * Settles what a former process sent upstream and did not live to settle: `finish_reason: "error"`,
 * `cancelled: true`, the prompt's estimated cost, flagged as estimated. Destinations get them as well. Gives back how many there
 * were.
 */
function recover(database: Database, commit: (batch: Batch) => unknown, exportsAll: boolean): number {
  const exporting = exportsOf(database)
  const isExported = ({ workspace_id: id }: JournalRow): boolean => exportsAll || exporting.has(id)
  let count = 0
  for (;;) {
    const rows = database.sync.select().from(journal).limit(ROWS_PER_COMMIT).all()
    if (rows.length === 0) return count
    commit({
      settled: rows.map((row) => settledRowOf(row, isExported(row))),
      journaled: [],
      forgotten: rows.map((row) => row.generation_id),
    })
    count += rows.length
  }
}

function settledRowOf(row: JournalRow, isExported: boolean) {
  const { entry, charged } = journaledOf(row)
  const settlement = interrupted(entry)
  const { callerTrace } = entry
  const exported = callerTrace === undefined ? {} : { trace: callerTrace }
  return rowOf(isExported ? { ...settlement, exported } : settlement, charged)
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
