import type { Journaled } from './journal-row.ts'
import { createQueue, type Endings, type Next, type Queue, type Waiting } from './queue.ts'

/** Group commit: what arrives together is committed together. */
export interface Writer<Settled extends Waiting> {
  /** Ends in `onWritten`, or in `onGivenUp` for a row that the database can never take; while commits fail it waits. */
  settle(settled: Settled): void
  /** Committed with the next batch that is due; dropped when the settlement comes before that. */
  journal(journaled: Journaled): void
  /** Takes a journal row back, without a settlement. */
  forget(generationId: string): void
  isWritable(): boolean
  /** Settlements that wait for their commit. */
  waiting(): number
  /** Commits the waiting rows with retries; throws if some cannot be written. */
  close(): Promise<void>
}

export interface WriterOptions<Settled> extends Endings<Settled> {
  /** One transaction; throws when nothing of it was written. */
  commit(batch: Next<Settled>): void
  /** Number of running requests, including those that wait for their commit. Without others the writer commits at once. */
  running(): number
  /** A commit failed. `failures`: consecutive failed commits; 0 if a single bad row caused it. */
  onFailure?(error: unknown, waiting: number, failures: number): void
  /** A commit went well. */
  onCommit?(milliseconds: number): void
  /** The first commit that went well again. */
  onRecovery?(): void
  /** Milliseconds until the n-th try after a failure (n from 1). */
  retryDelayMs?(failures: number): number
  /** A settlement that waits longer ends in `onLate`; default: `LATE_MS`. */
  lateMs?: number | undefined
}

/** The most rows in one transaction: all requests wait while it runs. */
const MAX_ROWS = 64
/** The longest time that a settlement waits for others to share its commit. */
const MAX_GATHER_MS = 5
/**
 * A journal row waits this long: a request that is settled by then needs none. Models begin to answer after a few
 * hundred milliseconds; with less, a gateway under load writes and deletes rows of requests that are all but settled.
 */
const JOURNAL_DELAY_MS = 25
/**
 * A settlement that waits longer is late: its caller gets an error. Commits are tried every two seconds at least, so
 * that the caller waits ten seconds at most.
 */
const LATE_MS = 7_500
const TRIES_AT_CLOSE = 5

const doubling = (failures: number): number => Math.min(2000, 25 * 2 ** failures)

export function createWriter<Settled extends Waiting>(options: WriterOptions<Settled>): Writer<Settled> {
  const { running, retryDelayMs = doubling } = options
  const queue = createQueue<Settled>(options)
  const committer = createCommitter(queue, options)
  let next: 'nothing' | 'retry' | 'journal' | 'gather' | 'now' = 'nothing'
  let timer: ReturnType<typeof setTimeout> | undefined

  function run(): void {
    next = 'nothing'
    clearTimeout(timer)
    committer.flush(performance.now())
    schedule()
  }

  function after(milliseconds: number, what: typeof next): void {
    next = what
    clearTimeout(timer)
    timer = setTimeout(run, milliseconds)
  }

  /** Due rows that did not fit into the last commit are in the next: a crash loses rows that are not journaled. */
  function untilJournal(now: number): number {
    const dueInMs = (queue.dueAt() ?? now + JOURNAL_DELAY_MS) - now
    return Math.ceil(Math.max(0, dueInMs, committer.pauseMs(now)))
  }

  /**
   * An idle writer, or one that expects no further rows, commits at the end of the current turn. A busy one pauses for six
   * times the last commit's duration, so that commits take at most a seventh of the thread and more rows share one.
   */
  function schedule(): void {
    if (next === 'now' || next === 'retry' || queue.isEmpty()) return
    if (committer.failures() > 0) after(retryDelayMs(committer.failures()), 'retry')
    else if (queue.settlements() === 0) {
      if (next === 'nothing') after(untilJournal(performance.now()), 'journal')
    } else {
      const pauseMs = committer.pauseMs(performance.now())
      if (pauseMs <= 0 || queue.settlements() >= Math.min(MAX_ROWS, running())) {
        next = 'now'
        setImmediate(run)
      } else if (next !== 'gather') after(Math.ceil(pauseMs), 'gather')
    }
  }

  return {
    settle(settled) {
      queue.settle(settled, performance.now())
      schedule()
    },
    journal(journaled) {
      journaled.dueAt = performance.now() + JOURNAL_DELAY_MS
      queue.journal(journaled)
      schedule()
    },
    forget(generationId) {
      if (queue.forget(generationId)) schedule()
    },
    isWritable: () => committer.failures() === 0 || queue.isEmpty(),
    waiting: queue.settlements,
    async close() {
      clearTimeout(timer)
      for (let tries = 1; !queue.isEmpty(); ) {
        if (committer.flush(Number.POSITIVE_INFINITY)) continue
        if (tries === TRIES_AT_CLOSE) {
          throw new Error(`${queue.settlements()} settled generations could not be written to the ledger`)
        }
        tries += 1
        await Bun.sleep(retryDelayMs(committer.failures()))
      }
    },
  }
}

/** Commits batches one after another and tracks failures. */
function createCommitter<Settled extends Waiting>(
  queue: Queue<Settled>,
  { commit, onCommit, onFailure, onRecovery, lateMs = LATE_MS }: WriterOptions<Settled>,
) {
  /** In a row, since the last commit that went well. */
  let failures = 0
  /** How many rows are still to be tried one by one, since one of them cannot be written. */
  let suspects = 0
  let lastEnd = Number.NEGATIVE_INFINITY
  let lastDurationMs = 0

  function failed(batch: Next<Settled>, error: unknown): boolean {
    if (!isRowAtFault(error)) {
      failures += 1
      queue.reportLate(performance.now() - lateMs)
      onFailure?.(error, queue.settlements(), failures)
      return false
    }
    onFailure?.(error, queue.settlements(), 0)
    if (batch.settled.length + batch.journaled.length === 1) {
      queue.giveUp(batch, error)
      suspects -= 1
    } else suspects = batch.settled.length + batch.journaled.length
    return true
  }

  return {
    failures: () => failures,
    /** How long to wait before the next commit, so that others may join it. */
    pauseMs: (now: number) => lastEnd + Math.min(MAX_GATHER_MS, 6 * lastDurationMs) - now,
    /** Commits one batch; false if nothing can be written now: all rows stay in the queue. */
    flush(due: number): boolean {
      const startedAt = performance.now()
      const batch = suspects > 0 ? one(queue.next(due, 1)) : queue.next(due, MAX_ROWS)
      if (batch.settled.length + batch.journaled.length + batch.forgotten.length === 0) {
        suspects = 0
        return true
      }
      try {
        commit(batch)
      } catch (error) {
        return failed(batch, error)
      }
      if (failures > 0) onRecovery?.()
      failures = 0
      suspects = Math.max(0, suspects - 1)
      lastEnd = performance.now()
      lastDurationMs = lastEnd - startedAt
      onCommit?.(lastDurationMs)
      queue.written(batch)
      return true
    },
  }
}

/** A settlement or a journal row, not both. */
const one = <Settled>(batch: Next<Settled>): Next<Settled> =>
  batch.settled.length === 0 ? batch : { ...batch, journaled: [] }

/**
 * True for a row that no retry can write (a missing value, for example): it must not block the other rows. All other
 * errors (a full disk, a lock, an I/O error) are temporary, so the writer retries.
 */
function isRowAtFault(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(code)
}
