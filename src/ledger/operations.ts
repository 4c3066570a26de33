import type { Settlement } from '../core/generation.ts'
import { amount } from './brief.ts'
import { counterKey } from './counter-key.ts'
import type { Counters } from './counters.ts'
import type { FoldTimer } from './fold-timer.ts'
import type { KeyUsage, Ledger } from './ledger.ts'
import type { Waiting as Queued } from './queue.ts'
import type { Holds, OpenHold } from './reserve.ts'
import { rowOf } from './row.ts'
import type { Waiting } from './waiting.ts'
import type { Writer } from './writer.ts'

/** A settlement on its way into the table. */
export interface Settled extends Queued {
  readonly hold: OpenHold
  resolve(): void
  reject(error: unknown): void
}

interface Parts {
  counters: Counters
  holds: Holds
  waiting: Waiting
  writer: Writer<Settled>
  folds: FoldTimer
  hasRoom(): boolean
  mustBeOpen(): void
  /** Ends the hold and admits requests that waited for it. */
  end(hold: OpenHold): void
  now(): number
}

/** The operations of an open ledger. */
export function ledgerOf(parts: Parts): Ledger {
  const { counters, holds, waiting, writer, folds, hasRoom, mustBeOpen, end, now } = parts

  /** A hold that no settlement has been called for. */
  function unsettled(generationId: string): OpenHold | undefined {
    const hold = holds.get(generationId)
    return hold?.settled === null ? hold : undefined
  }

  /** Throws if the row cannot be built; the hold is unchanged. */
  function settle(hold: OpenHold, settlement: Settlement): Promise<void> {
    const row = rowOf(settlement, hold.charged)
    hold.settled = new Promise((resolve, reject) =>
      writer.settle({ row, hold, resolve, reject, since: 0, isLate: false }),
    )
    return hold.settled
  }

  return {
    remaining: holds.remaining,
    reserve(request) {
      mustBeOpen()
      return holds.reserve(request)
    },
    claim: waiting.claim,
    release({ generationId }) {
      const hold = unsettled(generationId)
      if (hold === undefined) return
      end(hold)
      writer.forget(generationId)
    },
    journal(entry) {
      const hold = unsettled(entry.generationId)
      if (hold === undefined) return
      amount(entry.promptCostNanoUsd)
      writer.journal({ entry, charged: hold.charged, dueAt: 0 })
    },
    settle({ generationId }, settlement) {
      const hold = holds.get(generationId)
      if (hold === undefined) return Promise.resolve()
      if (hold.settled !== null) return hold.settled
      try {
        return settle(hold, settlement)
      } catch (error) {
        return Promise.reject(error)
      }
    },
    usageOf: async (keyHash, at) => keyUsage(counters, keyHash, at),
    organizationUsage: async () =>
      counters.spent(counterKey('organization', '', 'lifetime', now())).usageNanoUsd,
    heldNanoUsd: holds.heldNanoUsd,
    isWritable: () => writer.isWritable() && hasRoom(),
    hasBacklog: () => !writer.isWritable(),
    hasRoom,
    waiting: writer.waiting,
    usedNanoUsd({ scope, id, interval, includeByok = false }, at) {
      const { usageNanoUsd, byokUsageNanoUsd } = counters.spent(counterKey(scope, id, interval, at))
      return includeByok ? usageNanoUsd + byokUsageNanoUsd : usageNanoUsd
    },
    // While commits fail, another attempt would delay all requests.
    fold: () => writer.isWritable() && folds.fold(),
    async close() {
      waiting.close()
      await writer.close()
      folds.stop()
      folds.fold()
    },
  }
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
