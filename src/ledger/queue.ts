import type { Batch } from './batch.ts'
import type { GenerationRow, JournalRow } from './row.ts'

/** What waits to be written, kept until it is known to be. */
export interface Queue {
  /**
   * Resolves when the row is written, rejects when it never can be. `onLate` is called once if `tellLate` finds the row
   * waiting; it is kept all the same.
   */
  settle(row: GenerationRow, at: number, onLate?: () => void): Promise<void>
  /** Not taken before `dueAt`, and dropped when the settlement comes before that. */
  journal(row: JournalRow, dueAt: number): void
  /** Takes a journal row back; false when it was not in the table. */
  forget(generationId: string): boolean
  /** The next rows to write, oldest first: at most `maxRows` of each kind. They stay in the queue. */
  next(at: number, maxRows: number): Batch
  written(batch: Batch): void
  /** Gives up a batch that can never be written: its callers are told. Its journal rows stay in the table. */
  giveUp(batch: Batch, error: unknown): void
  /** Calls `onLate` of the settlements that came before `before`. */
  tellLate(before: number): void
  settlements(): number
  /** When the next journal row is due; undefined: none waits. */
  dueAt(): number | undefined
  isEmpty(): boolean
}

interface Waiting {
  row: GenerationRow
  since: number
  onLate: (() => void) | undefined
  resolve(): void
  reject(error: unknown): void
}

export function createQueue(): Queue {
  const waiting: Waiting[] = []
  const unwritten = new Map<string, { row: JournalRow; dueAt: number }>()
  /** Generations whose journal row is in the table. */
  const journaled = new Set<string>()
  /** Those of them whose row must go although nothing is settled. */
  const forgotten = new Set<string>()

  function dueEntries(at: number, maxRows: number): JournalRow[] {
    const due: JournalRow[] = []
    for (const entry of unwritten.values()) {
      if (entry.dueAt > at || due.length === maxRows) break
      due.push(entry.row)
    }
    return due
  }

  return {
    settle(row, since, onLate) {
      unwritten.delete(row.id)
      return new Promise((resolve, reject) => waiting.push({ row, since, onLate, resolve, reject }))
    },
    journal(row, dueAt) {
      unwritten.delete(row.generation_id)
      unwritten.set(row.generation_id, { row, dueAt })
    },
    forget(generationId) {
      unwritten.delete(generationId)
      if (!journaled.has(generationId)) return false
      forgotten.add(generationId)
      return true
    },
    next(at, maxRows) {
      const settled = waiting.slice(0, maxRows).map((item) => item.row)
      const unjournaled = settled.map((row) => row.id).filter((id) => journaled.has(id))
      return {
        settled,
        journaled: dueEntries(at, maxRows),
        unjournaled: [...unjournaled, ...forgotten],
      }
    },
    written(batch) {
      for (const row of batch.journaled) {
        unwritten.delete(row.generation_id)
        journaled.add(row.generation_id)
      }
      for (const id of batch.unjournaled) {
        journaled.delete(id)
        forgotten.delete(id)
      }
      for (const item of waiting.splice(0, batch.settled.length)) item.resolve()
    },
    giveUp(batch, error) {
      for (const row of batch.journaled) unwritten.delete(row.generation_id)
      for (const item of waiting.splice(0, batch.settled.length)) {
        journaled.delete(item.row.id)
        item.reject(error)
      }
    },
    tellLate(before) {
      for (const item of waiting) {
        if (item.since > before) break
        item.onLate?.()
        item.onLate = undefined
      }
    },
    settlements: () => waiting.length,
    // They come in the order in which they are due.
    dueAt: () => unwritten.values().next().value?.dueAt,
    isEmpty: () => waiting.length + unwritten.size + forgotten.size === 0,
  }
}
