import { unavailable } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import type { Database } from '../db/database.ts'
import type { ChargedScope } from '../db/tables.ts'
import { type Batch, prepareCommit } from './batch.ts'
import { type Counters, counterKey, loadCounters } from './counters.ts'
import { fillDays } from './days.ts'
import type { KeyUsage, Ledger } from './ledger.ts'
import { recover } from './recover.ts'
import { createHolds, type OpenHold } from './reserve.ts'
import { journalRowOf, rowOf } from './row.ts'
import { createWaiting } from './waiting.ts'
import { createWriter } from './writer.ts'

export interface LedgerOptions {
  /** A commit failed: see the writer's. For the log. */
  onFailure?(error: unknown, waiting: number, failures: number): void
  onRecovery?(): void
  /** False while the disk has hardly any room: what runs may still be settled, and nothing new is taken. */
  hasRoom?(): boolean
  /** How long a claim waits for running reservations to end; default 0: not at all. */
  roomWaitMs?: number
  retryDelayMs?(failures: number): number
  /** How long a settlement that cannot be committed is waited for; default 7.5 seconds. */
  lateMs?: number | undefined
  now?(): number
}

/** How long a caller is told to wait while nothing can be written. */
const RETRY_AFTER_SECONDS = 2
/** And while somebody must make room. */
const NO_ROOM_RETRY_SECONDS = 10

const lateSettlement = () =>
  unavailable(
    'The answer could not be recorded: the ledger of the gateway cannot be written at the moment. Send the request again later',
    NO_ROOM_RETRY_SECONDS,
  )

const always = (): boolean => true

/**
 * Opens the ledger on a migrated database: settles what a crash left in the journal, then reads the counters. Gives
 * back how many generations were settled so.
 */
export function openLedger(
  database: Database,
  {
    onFailure,
    onRecovery,
    retryDelayMs,
    lateMs,
    hasRoom = always,
    roomWaitMs = 0,
    now = Date.now,
  }: LedgerOptions = {},
): { ledger: Ledger; recovered: number } {
  fillDays(database)
  const commit = prepareCommit(database)
  const recovered = recover(database, commit)
  const counters = loadCounters(database, now())
  const holds = createHolds(counters)
  const writer = createWriter({
    commit(batch: Batch) {
      const { added, read } = roomMade(database, () => commit(batch))
      counters.advance(now())
      for (const { key, spent } of added) counters.add(key, spent)
      for (const { key, spent } of read) counters.set(key, spent)
      // In the same turn as the counters: what was held is now spent, and at no moment neither.
      endHolds(batch.settled.map(({ id }) => id))
    },
    running: holds.count,
    onFailure(error, rows, failures) {
      onFailure?.(error, rows, failures)
      waiting.refuse()
    },
    onRecovery,
    retryDelayMs,
    lateMs,
  })
  const settling = new Map<string, Promise<void>>()

  function mustBeOpen(): void {
    if (!writer.isWritable()) {
      throw unavailable(
        'The ledger cannot be written at the moment, so no new request is taken',
        RETRY_AFTER_SECONDS,
      )
    }
    if (!hasRoom()) {
      throw unavailable(
        'There is hardly any room left on the disk of the gateway, so no new request is taken',
        NO_ROOM_RETRY_SECONDS,
      )
    }
  }
  const waiting = createWaiting({ holds, waitMs: roomWaitMs, mustBeOpen })

  /** How many of them were open. Requests that wait are served in a turn of their own: a commit must not fail by them. */
  function endHolds(generationIds: readonly string[]): number {
    const ended: OpenHold[] = []
    for (const id of generationIds) {
      const hold = holds.end(id)
      if (hold !== null) ended.push(hold)
    }
    if (waiting.count() > 0) queueMicrotask(() => waiting.serve(ended))
    return ended.length
  }

  const ledger: Ledger = {
    room: holds.room,
    reserve(request) {
      mustBeOpen()
      return holds.reserve(request)
    },
    claim: waiting.claim,
    release({ generationId }) {
      if (settling.has(generationId)) return
      if (endHolds([generationId]) > 0) writer.forget(generationId)
    },
    journal(entry) {
      const hold = holds.get(entry.generationId)
      if (hold === undefined || settling.has(entry.generationId)) return
      writer.journal(journalRowOf(entry, chargedScopes(hold.gates)))
    },
    settle({ generationId }, settlement) {
      const pending = settling.get(generationId)
      if (pending !== undefined) return pending
      const hold = holds.get(generationId)
      if (hold === undefined) return Promise.resolve()
      const settled = Promise.withResolvers<void>()
      const ended = (): void => {
        settling.delete(generationId)
        // Gone already, unless the row could not be written.
        endHolds([generationId])
      }
      try {
        const row = rowOf(settlement, chargedScopes(hold.gates))
        row.id = generationId
        // A late row is still written: its hold stays until then, and cannot be released.
        writer
          .settle(row, () => settled.reject(lateSettlement()))
          .then(settled.resolve, settled.reject)
          .finally(ended)
        settling.set(generationId, settled.promise)
      } catch (error) {
        settled.reject(error)
      }
      return settled.promise
    },
    keyUsage: (keyHash, at) => keyUsage(counters, keyHash, at),
    organizationUsage: () => counters.spent(counterKey('organization', '', 'lifetime', now())).usageNanoUsd,
    heldNanoUsd: holds.heldNanoUsd,
    isWritable: () => writer.isWritable() && hasRoom(),
    hasBacklog: () => !writer.isWritable(),
    close() {
      waiting.close()
      return writer.close()
    },
  }
  return { ledger, recovered }
}

/**
 * The write-ahead log may be what cannot grow: moved into the database, its room is used again by the next try, even
 * on a disk that stays full.
 */
function roomMade<T>({ file }: Database, work: () => T): T {
  try {
    return work()
  } catch (error) {
    try {
      file.run('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // The first error says more.
    }
    throw error
  }
}

const keptScopes = new WeakMap<readonly Gate[], readonly ChargedScope[] | null>()

/**
 * The gates whose counters are not booked by every generation: rows name them, so that `verify` can sum them. Made once
 * for each list of gates, and frozen, so that it is encoded once.
 */
function chargedScopes(gates: readonly Gate[]): readonly ChargedScope[] | null {
  const kept = keptScopes.get(gates)
  if (kept !== undefined) return kept
  const ids = new Set(gates.filter(({ scope }) => scope === 'guardrail').map(({ id }) => id))
  const scopes = [...ids].map((id) => Object.freeze<ChargedScope>({ scope: 'guardrail', id }))
  const charged = scopes.length === 0 ? null : Object.freeze(scopes)
  keptScopes.set(gates, charged)
  return charged
}

function keyUsage(counters: Counters, keyHash: string, at: number): KeyUsage {
  const lifetime = counters.spent(counterKey('key', keyHash, 'lifetime', at))
  const daily = counters.spent(counterKey('key', keyHash, 'daily', at))
  const weekly = counters.spent(counterKey('key', keyHash, 'weekly', at))
  const monthly = counters.spent(counterKey('key', keyHash, 'monthly', at))
  return {
    total: lifetime.usageNanoUsd,
    daily: daily.usageNanoUsd,
    weekly: weekly.usageNanoUsd,
    monthly: monthly.usageNanoUsd,
    byokTotal: lifetime.byokUsageNanoUsd,
    byokDaily: daily.byokUsageNanoUsd,
    byokWeekly: weekly.byokUsageNanoUsd,
    byokMonthly: monthly.byokUsageNanoUsd,
  }
}
