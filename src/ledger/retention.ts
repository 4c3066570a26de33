import type { Database } from '../db/database.ts'
import { freePagesOf, pagesOf, releasePages, usedBytes } from '../db/space.ts'
import { pruneApps } from './apps.ts'
import { preparePruning } from './prune.ts'

/** Retention of generation rows. Their sums (counters, hours) are never deleted. */
export interface Retention {
  /** Milliseconds since the request; null: forever. */
  readonly maxAgeMs: number | null
  /** Size limit of the ledger's file in bytes, without its write-ahead log and free pages; null: no limit. */
  readonly maxBytes: number | null
}

const DAY_MS = 24 * 3_600_000

/** From the settings, where 0 means forever and no limit. */
export const retentionOf = (days: number, megabytes: number): Retention => ({
  maxAgeMs: days === 0 ? null : days * DAY_MS,
  maxBytes: megabytes === 0 ? null : megabytes * 1_000_000,
})

/** The retention, for messages about deleted rows; null: none is ever deleted. */
export function formatRetention({ maxAgeMs, maxBytes }: Retention): string | null {
  const bounds = [
    ...(maxAgeMs === null ? [] : [`${maxAgeMs / DAY_MS} ${maxAgeMs === DAY_MS ? 'day' : 'days'}`]),
    ...(maxBytes === null ? [] : [`as long as the ledger holds less than ${maxBytes / 1_000_000} MB`]),
  ]
  return bounds.length === 0 ? null : bounds.join(', and ')
}

export interface Pruning {
  readonly retention: Retention
  /** Milliseconds since 1970. */
  now(): number
  /** Looked at before every slice: false while settlements wait that could not be committed, and when it is to stop. */
  mayPrune(): boolean
  /** Yields to other requests for at least this many milliseconds. */
  pause(ms: number): Promise<void>
}

export interface PruneReport {
  pruned: number
  /** Pages that went back to the disk. */
  freedPages: number
  /** The file exceeds its limit although only sums and rows of the last hour remain. */
  isOverCap: boolean
}

/** Younger rows stay even if the file is full: people look up recent requests. */
const KEPT_IN_ANY_CASE_MS = 3_600_000
/** The most that a settlement ever waits for, in rows. */
export const MOST_ROWS = 250
const FEWEST_ROWS = 10
const FIRST_ROWS = 50
/** A slice that took longer is followed by a smaller one, a much shorter one by a larger one. */
const SLICE_MS = 4
const SHORT_SLICE_MS = 2
/** After a slice others have this many times as long: pruning takes at most a fifth of the thread. */
const PAUSE_FACTOR = 4
/** A sixteenth of the file stays free for new rows, because releasing and growing again costs twice. */
const RESERVE_SHARE = 1 / 16
const RESERVE_PAGES = 1024
const PAGES_PER_SLICE = 64

/** Deletes expired rows, then the oldest until the file is within its limit, and releases the space. */
export async function prune(database: Database, pruning: Pruning): Promise<PruneReport> {
  const { maxAgeMs, maxBytes } = pruning.retention
  const run = sliced(database, pruning)
  const report: PruneReport = { pruned: 0, freedPages: 0, isOverCap: false }
  if (maxAgeMs !== null) {
    report.pruned += await run(pruning.now() - maxAgeMs, () => true)
    if (pruning.mayPrune()) pruneApps(database, pruning.now() - maxAgeMs)
  }
  if (maxBytes !== null) {
    const isOver = (): boolean => usedBytes(database) > maxBytes
    report.pruned += await run(pruning.now() - KEPT_IN_ANY_CASE_MS, isOver)
    report.isOverCap = isOver() && pruning.mayPrune()
  }
  if (report.pruned > 0) {
    report.freedPages = await giveBack(database, pruning)
    // A passive checkpoint: moves committed pages into the file unless a reader uses them, and never waits.
    if (pruning.mayPrune()) database.file.run('PRAGMA wal_checkpoint(PASSIVE)')
  }
  return report
}

/** Prunes slice by slice, as large as fit into a few milliseconds, while `goesOn`. */
function sliced(database: Database, { mayPrune, pause }: Pruning) {
  const pruneSlice = preparePruning(database)
  let maxRows = FIRST_ROWS
  return async (before: number, goesOn: () => boolean): Promise<number> => {
    let pruned = 0
    for (let after: string | null = ''; after !== null && mayPrune() && goesOn(); ) {
      const startedAt = performance.now()
      const slice = pruneSlice({ after, before, maxRows })
      const tookMs = performance.now() - startedAt
      pruned += slice.pruned
      after = slice.next
      if (tookMs > SLICE_MS) maxRows = Math.max(FEWEST_ROWS, maxRows >> 1)
      else if (tookMs < SHORT_SLICE_MS) maxRows = Math.min(MOST_ROWS, maxRows * 2)
      if (slice.pruned > 0) await pause(PAUSE_FACTOR * tookMs)
    }
    return pruned
  }
}

async function giveBack(database: Database, { mayPrune, pause }: Pruning): Promise<number> {
  const reserve = Math.max(RESERVE_PAGES, Math.floor(pagesOf(database) * RESERVE_SHARE))
  let freed = 0
  for (let before = freePagesOf(database); before > reserve && mayPrune(); ) {
    const startedAt = performance.now()
    const after = releasePages(database, Math.min(PAGES_PER_SLICE, before - reserve))
    if (after >= before) break
    freed += before - after
    before = after
    await pause(PAUSE_FACTOR * (performance.now() - startedAt))
  }
  return freed
}

export interface PruningSchedule extends Pick<Pruning, 'retention' | 'now' | 'mayPrune'> {
  onPruned(report: PruneReport): void
  onError(error: unknown): void
}

const EVERY_MS = 60_000

/** Prunes at once and then every minute. `stop` waits for the slice that is under way. */
export function startPruning(database: Database, schedule: PruningSchedule): { stop(): Promise<void> } {
  if (schedule.retention.maxAgeMs === null && schedule.retention.maxBytes === null)
    return { stop: async () => undefined }
  let isStopping = false
  let running: Promise<void> | null = null
  const pruning: Pruning = {
    ...schedule,
    mayPrune: () => !isStopping && schedule.mayPrune(),
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, isStopping ? 0 : ms)),
  }
  const run = (): void => {
    running ??= prune(database, pruning)
      .then(schedule.onPruned, schedule.onError)
      .finally(() => {
        running = null
      })
  }
  run()
  const timer = setInterval(run, EVERY_MS)
  return {
    async stop() {
      isStopping = true
      clearInterval(timer)
      await running
    },
  }
}
