import { MOST_OF_ROW } from '../db/export-tables.ts'
import type { DropReason, Waiting } from './report.ts'

/** A row of the outbox without its generations. */
export interface OutboxRow {
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly committedAt: number
  readonly entries: number
  readonly bytes: number
}

export interface BacklogLimits {
  readonly maxAgeMs: number
  readonly maxBytes: number
}

/** What waits in the outbox, by rows and their sizes. */
export interface Backlog {
  /** Reads the rows that are new. */
  extend(): void
  /** The position of the newest generation; 0: there was none since the start. */
  head(): number
  /** What waits behind a position. */
  after(position: number): Waiting
  /** The position up to which everything is too old, or too much by bytes; null: nothing is. */
  floor(now: number): { readonly position: number; readonly reason: DropReason } | null
  /** Drops what every destination has passed. */
  forget(position: number): void
}

/** The position of a row's last generation, and the sums of all rows before it. */
interface Point {
  readonly position: number
  readonly at: number
  readonly entriesBefore: number
  readonly bytesBefore: number
}

const MOST_POINTS = 8192
const ROWS_OF_READ = 5_000

/**
 * Sums over the rows of the outbox, in bounded memory: of a large backlog each second point is dropped, so figures are
 * exact for small backlogs and near the truth for large ones. `readRows` reads rows behind a `seq`, in order.
 */
export function createBacklog(
  readRows: (afterSeq: number, most: number) => readonly OutboxRow[],
  { maxAgeMs, maxBytes }: BacklogLimits,
): Backlog {
  let points: Point[] = []
  let [last, head] = [0, 0]
  let [entries, bytes] = [0, 0]

  /** The first point behind a position. */
  function pointAfter(position: number): Point | undefined {
    let [low, high] = [0, points.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (points[middle]!.position <= position) low = middle + 1
      else high = middle
    }
    return points[low]
  }

  /** The newest point for which this holds; the points are in order, so it holds for those before too. */
  function lastWith(holds: (point: Point) => boolean): Point | undefined {
    let [low, high] = [0, points.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (holds(points[middle]!)) low = middle + 1
      else high = middle
    }
    return points[low - 1]
  }

  return {
    extend() {
      for (;;) {
        const rows = readRows(last, ROWS_OF_READ)
        for (const row of rows) {
          const position = row.seq * MOST_OF_ROW + row.entries - 1
          points.push({ position, at: row.committedAt, entriesBefore: entries, bytesBefore: bytes })
          head = position
          entries += row.entries
          bytes += row.bytes
          last = row.seq
        }
        if (points.length > MOST_POINTS) points = points.filter((_, index) => index % 2 === 0)
        if (rows.length < ROWS_OF_READ) return
      }
    },
    head: () => head,
    after(position) {
      const first = pointAfter(position)
      if (first === undefined) return { generations: 0, bytes: 0, oldestAt: null }
      return {
        generations: entries - first.entriesBefore,
        bytes: bytes - first.bytesBefore,
        oldestAt: first.at,
      }
    },
    floor(now) {
      const tooMuch = lastWith(({ bytesBefore }) => bytes - bytesBefore > maxBytes)
      const tooOld = lastWith(({ at }) => at < now - maxAgeMs)
      const newest = [tooMuch, tooOld].reduce((a, b) => ((b?.position ?? -1) > (a?.position ?? -1) ? b : a))
      if (newest === undefined) return null
      return { position: newest.position, reason: newest === tooMuch ? 'bytes' : 'age' }
    },
    forget(position) {
      const keep = points.findIndex((point) => point.position > position)
      points = keep === -1 ? [] : points.slice(keep)
    },
  }
}
