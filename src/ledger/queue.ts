import type { Batch } from './batch.ts'
import type { Journaled } from './journal-row.ts'
import type { NewRow } from './row.ts'

/** A settlement on its way into the table. */
export interface Waiting {
  readonly row: NewRow
  /** Arrival by `performance.now()`, set by the queue. */
  since: number
  /** `onLate` was called. */
  isLate: boolean
}

export interface Endings<Settled> {
  /** Its row is committed. */
  onWritten(settled: Settled): void
  /** It has waited too long: called once. The row stays in the queue. */
  onLate(settled: Settled): void
  /** It can never be written. */
  onGivenUp(settled: Settled, error: unknown): void
}

/** The next rows to write, and the settlements that they are of. */
export interface Next<Settled> extends Batch {
  readonly waiting: readonly Settled[]
}

/** Rows that wait for a commit. Each stays here until a commit with it has returned. */
export interface Queue<Settled extends Waiting> {
  settle(settled: Settled, at: number): void
  /** Written once it is due; dropped if the settlement comes first. */
  journal(journaled: Journaled): void
  /** Takes a journal row back; false when it was not in the table. */
  forget(generationId: string): boolean
  /** The next rows to write, oldest first: at most `maxRows` of each kind. They stay in the queue. */
  next(at: number, maxRows: number): Next<Settled>
  written(batch: Next<Settled>): void
  /** Gives up a batch that can never be written. Its journal rows stay in the table. */
  giveUp(batch: Next<Settled>, error: unknown): void
  /** Calls `onLate` of the settlements that arrived before `before`. */
  reportLate(before: number): void
  settlements(): number
  /** When the next journal row is due; undefined without one. */
  dueAt(): number | undefined
  isEmpty(): boolean
}

export function createQueue<Settled extends Waiting>(endings: Endings<Settled>): Queue<Settled> {
  const settlements: Settled[] = []
  const unwritten = new Map<string, Journaled>()
  /** Generations whose journal row is in the table. */
  const inTable = new Set<string>()
  /** Those of them whose row must be deleted without a settlement. */
  const forgotten = new Set<string>()

  return {
    settle(settled, since) {
      if (unwritten.size > 0) unwritten.delete(settled.row.id)
      settled.since = since
      settlements.push(settled)
    },
    journal(journaled) {
      const { generationId } = journaled.entry
      unwritten.delete(generationId)
      unwritten.set(generationId, journaled)
    },
    forget(generationId) {
      unwritten.delete(generationId)
      if (!inTable.has(generationId)) return false
      forgotten.add(generationId)
      return true
    },
    next(at, maxRows) {
      const waiting = settlements.slice(0, maxRows)
      return {
        waiting,
        settled: waiting.map(({ row }) => row),
        journaled: dueEntries(unwritten, at, maxRows),
        forgotten: [...forgotten],
      }
    },
    written(batch) {
      for (const { entry } of batch.journaled) {
        unwritten.delete(entry.generationId)
        inTable.add(entry.generationId)
      }
      for (const id of batch.forgotten) {
        inTable.delete(id)
        forgotten.delete(id)
      }
      settlements.splice(0, batch.waiting.length)
      for (const settled of batch.waiting) {
        if (inTable.size > 0) inTable.delete(settled.row.id)
        endings.onWritten(settled)
      }
    },
    giveUp(batch, error) {
      for (const { entry } of batch.journaled) unwritten.delete(entry.generationId)
      settlements.splice(0, batch.waiting.length)
      for (const settled of batch.waiting) {
        inTable.delete(settled.row.id)
        endings.onGivenUp(settled, error)
      }
    },
    reportLate(before) {
      for (const settled of settlements) {
        if (settled.since > before) break
        if (settled.isLate) continue
        settled.isLate = true
        endings.onLate(settled)
      }
    },
    settlements: () => settlements.length,
    dueAt: () => unwritten.values().next().value?.dueAt,
    isEmpty: () => settlements.length + unwritten.size + forgotten.size === 0,
  }
}

/** Sorted by the time at which they are due. */
function dueEntries(unwritten: ReadonlyMap<string, Journaled>, at: number, maxRows: number): Journaled[] {
  const due: Journaled[] = []
  for (const journaled of unwritten.values()) {
    if (journaled.dueAt > at || due.length === maxRows) break
    due.push(journaled)
  }
  return due
}
