import type { Batch } from './batch.ts'
import type { GenerationRow, JournalRow } from './row.ts'

/** Group commit: what arrives together is committed together. */
export interface Writer {
  /** Resolves once the row is committed; while commits fail it stays pending, and the row is kept. */
  settle(row: GenerationRow): Promise<void>
  /** Committed with the next batch that is due; dropped when the settlement comes before that. */
  journal(row: JournalRow): void
  /** Takes a journal row back, without a settlement. */
  forget(generationId: string): void
  isWritable(): boolean
  /** Commits what waits, trying again for a while; throws when rows are left that could not be written. */
  close(): Promise<void>
}

export interface WriterOptions {
  /** One transaction; throws when nothing of it was written. */
  commit(batch: Batch): void
  /** A commit failed: how many settlements wait for the next try. */
  onFailure?(error: unknown, waiting: number): void
  /** How many requests run, those that wait for their commit included: with no others there is none to wait for. */
  running(): number
  /** Milliseconds until the n-th try after a failure (n from 1). */
  retryDelayMs?(failures: number): number
}

/** More are not taken into one transaction, so that it stays short: everything stands still while it runs. */
const MAX_ROWS = 64
/** No settlement waits longer than this for others to join it. */
const MAX_GATHER_MS = 5
/** A journal row waits this long: a request that is settled by then needs none. */
const JOURNAL_DELAY_MS = 5
const TRIES_AT_CLOSE = 5

interface Waiting {
  row: GenerationRow
  committed(): void
}

const doubling = (failures: number): number => Math.min(2000, 25 * 2 ** failures)

export function createWriter({ commit, running, onFailure, retryDelayMs = doubling }: WriterOptions): Writer {
  const waiting: Waiting[] = []
  const unwritten = new Map<string, { row: JournalRow; dueAt: number }>()
  /** Generations whose journal row is in the table. */
  const journaled = new Set<string>()
  let failures = 0
  /** Journal rows to remove although nothing is settled. */
  const forgotten = new Set<string>()
  let next: 'nothing' | 'retry' | 'journal' | 'gather' | 'now' = 'nothing'
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastEnd = Number.NEGATIVE_INFINITY
  let lastDurationMs = 0

  /** Commits one batch; false when that failed, with everything kept. */
  function flush(isEverythingDue = false): boolean {
    const startedAt = performance.now()
    const settling = waiting.slice(0, MAX_ROWS)
    const due = dueEntries(isEverythingDue ? Number.POSITIVE_INFINITY : startedAt)
    const unjournaled = settling.map((item) => item.row.id).filter((id) => journaled.has(id))
    unjournaled.push(...forgotten)
    if (settling.length + due.length + unjournaled.length === 0) return true
    try {
      commit({ settled: settling.map((item) => item.row), journaled: due, unjournaled })
    } catch (error) {
      failures += 1
      onFailure?.(error, waiting.length)
      return false
    }
    failures = 0
    lastEnd = performance.now()
    lastDurationMs = lastEnd - startedAt
    waiting.splice(0, settling.length)
    for (const row of due) {
      unwritten.delete(row.generation_id)
      journaled.add(row.generation_id)
    }
    for (const id of unjournaled) journaled.delete(id)
    forgotten.clear()
    for (const item of settling) item.committed()
    return true
  }

  function dueEntries(at: number): JournalRow[] {
    const due: JournalRow[] = []
    for (const entry of unwritten.values()) {
      if (entry.dueAt > at || due.length === MAX_ROWS) break
      due.push(entry.row)
    }
    return due
  }

  function run(): void {
    next = 'nothing'
    clearTimeout(timer)
    flush()
    schedule()
  }

  function after(milliseconds: number, what: typeof next): void {
    next = what
    clearTimeout(timer)
    timer = setTimeout(run, milliseconds)
  }

  /**
   * An idle writer commits at the end of the current turn, as does one that knows of no more to come. A busy one leaves a pause of twice the last commit's
   * duration, so that the disk never takes more than a third of the thread, and more rows share a commit.
   */
  function schedule(): void {
    if (next === 'now' || next === 'retry') return
    if (failures > 0) {
      after(retryDelayMs(failures), 'retry')
      return
    }
    if (waiting.length === 0) {
      if (next === 'nothing' && unwritten.size + forgotten.size > 0) after(JOURNAL_DELAY_MS, 'journal')
      return
    }
    const pauseMs = lastEnd + Math.min(MAX_GATHER_MS, 2 * lastDurationMs) - performance.now()
    if (pauseMs <= 0 || waiting.length >= Math.min(MAX_ROWS, running())) {
      next = 'now'
      setImmediate(run)
    } else if (next !== 'gather') after(Math.ceil(pauseMs), 'gather')
  }

  return {
    settle(row) {
      unwritten.delete(row.id)
      const committed = new Promise<void>((resolve) => waiting.push({ row, committed: resolve }))
      schedule()
      return committed
    },
    journal(row) {
      unwritten.set(row.generation_id, { row, dueAt: performance.now() + JOURNAL_DELAY_MS })
      schedule()
    },
    forget(generationId) {
      unwritten.delete(generationId)
      if (!journaled.has(generationId)) return
      forgotten.add(generationId)
      schedule()
    },
    isWritable: () => failures === 0,
    async close() {
      clearTimeout(timer)
      let tries = 0
      while (waiting.length + unwritten.size + forgotten.size > 0) {
        if (flush(true)) continue
        tries += 1
        if (tries === TRIES_AT_CLOSE) {
          throw new Error(`${waiting.length} settled generations could not be written to the ledger`)
        }
        await Bun.sleep(retryDelayMs(failures))
      }
    },
  }
}
