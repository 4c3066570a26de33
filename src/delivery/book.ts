import type { CursorRow } from './cursors.ts'
import type { Destination } from './destination.ts'
import type { LaneStanding, Report, SetAside, Waiting } from './report.ts'
import { entriesOf } from './tally.ts'

/** What the main thread knows of a destination. */
export interface Book {
  destination: Destination
  /** Changes with everything of the destination. */
  version: string
  /** As it is stored with the next flush. */
  row: CursorRow
  setAside: SetAside[]
  isDirty: boolean
  standing: LaneStanding
  waiting: Waiting
  /** Generations that were dropped since the last recovery; null: none. */
  dropping: { since: number; lastAt: number; generations: number } | null
}

/** What an operator should see in the audit log. */
export interface DeliveryEvent {
  readonly verb: 'pause' | 'resume' | 'drop' | 'recover'
  readonly destination: Destination
  readonly details: Readonly<Record<string, string | number>>
}

export const openBook = (destination: Destination, version: string, row: CursorRow): Book => ({
  destination,
  version,
  row,
  setAside: [],
  isDirty: false,
  standing: !destination.enabled ? 'disabled' : row.paused_at === null ? 'delivering' : 'paused',
  waiting: { generations: 0, bytes: 0, oldestAt: null },
  dropping: null,
})

/** Drops that follow each other within this time are one event. */
const DROPPING_MS = 10 * 60_000

/** Takes a report over. Returns what is to be recorded. */
export function takeReport(book: Book, report: Report, now: number): DeliveryEvent[] {
  const { destination, row } = book
  const dropped = { ...row.dropped }
  for (const [reason, count] of entriesOf(report.dropped)) dropped[reason] = (dropped[reason] ?? 0) + count
  const isPaused = report.standing === 'paused'
  book.row = {
    ...row,
    position: Math.max(row.position, report.position),
    sent: row.sent + report.sent,
    failed: row.failed + report.failed,
    dropped,
    last_success_at: dateOf(report.lastSuccessAt) ?? row.last_success_at,
    last_error_at: dateOf(report.lastError?.at ?? null) ?? row.last_error_at,
    last_error: report.lastError?.message ?? row.last_error,
    paused_at: isPaused ? (row.paused_at ?? new Date(now)) : null,
    replay: replayOf(row, report),
  }
  book.setAside.push(...report.setAside)
  book.waiting = report.waiting
  book.standing = report.standing
  book.isDirty = true
  const pause: DeliveryEvent[] =
    isPaused && row.paused_at === null
      ? [{ verb: 'pause', destination, details: { reason: book.row.last_error ?? '' } }]
      : []
  return [...pause, ...dropEvents(book, report, now)]
}

function dropEvents(book: Book, report: Report, now: number): DeliveryEvent[] {
  const { destination, dropping } = book
  const counts = entriesOf(report.dropped)
  const generations = counts.reduce((sum, [, count]) => sum + count, 0)
  if (generations > 0) {
    const before = dropping?.generations ?? 0
    book.dropping = {
      since: dropping?.since ?? now,
      lastAt: now,
      generations: before + generations,
    }
    return dropping === null ? [{ verb: 'drop', destination, details: Object.fromEntries(counts) }] : []
  }
  const isOver = dropping !== null && now - dropping.lastAt > DROPPING_MS && report.sent > 0
  if (!isOver) return []
  book.dropping = null
  const details = { since: new Date(dropping.since).toISOString(), dropped: dropping.generations }
  return [{ verb: 'recover', destination, details }]
}

function replayOf({ replay }: CursorRow, report: Report): CursorRow['replay'] {
  const progress = report.replay
  if (replay?.state !== 'running' || progress?.id !== replay.id) return replay
  const { position, passed, isDone } = progress
  return { ...replay, position, passed, state: isDone ? 'done' : 'running' }
}

const dateOf = (at: number | null): Date | null => (at === null ? null : new Date(at))
