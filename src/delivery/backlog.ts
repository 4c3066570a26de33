import { isObject } from '../core/json.ts'
import { MOST_OF_ROW } from '../db/export-tables.ts'
import type { DropReason, Waiting } from './report.ts'

/** A row of the outbox without its generations. */
export interface OutboxRow {
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly committedAt: number
  readonly entries: number
  readonly bytes: number
  /** JSON: how many of the entries each workspace has. */
  readonly workspaces: string
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
  /** What waits behind a position for a workspace; null: for all. Its bytes are its part of each row. */
  after(position: number, workspaceId: string | null): Waiting
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
/** Of one workspace while many have destinations. */
const LEAST_POINTS = 64
const ROWS_OF_READ = 5_000

/**
 * Sums over the rows of the outbox, in bounded memory: of a large backlog each second point is dropped, so figures are
 * exact for small backlogs and near the truth for large ones. `readRows` reads rows behind a `seq`, in order.
 */
export function createBacklog(
  readRows: (afterSeq: number, most: number) => readonly OutboxRow[],
  { maxAgeMs, maxBytes }: BacklogLimits,
): Backlog {
  const all = createSums()
  const ofWorkspaces = new Map<string, Sums>()
  let [last, head] = [0, 0]

  function add({ seq, committedAt, entries, bytes, workspaces }: OutboxRow): void {
    const position = seq * MOST_OF_ROW + entries - 1
    const point = { position, at: committedAt }
    all.add(point, entries, bytes)
    for (const [id, own] of countsIn(workspaces)) {
      const sums = ofWorkspaces.get(id) ?? createSums()
      ofWorkspaces.set(id, sums)
      sums.add(point, own, Math.round((bytes * own) / entries))
    }
    ;[last, head] = [seq, position]
  }

  return {
    extend() {
      for (;;) {
        const rows = readRows(last, ROWS_OF_READ)
        for (const row of rows) add(row)
        all.thin(MOST_POINTS)
        const most = Math.max(LEAST_POINTS, Math.floor(MOST_POINTS / ofWorkspaces.size))
        for (const sums of ofWorkspaces.values()) sums.thin(most)
        if (rows.length < ROWS_OF_READ) return
      }
    },
    head: () => head,
    after: (position, workspaceId) =>
      (workspaceId === null ? all : ofWorkspaces.get(workspaceId))?.after(position) ?? NOTHING,
    floor(now) {
      const tooMuch = all.lastWith((behind) => behind > maxBytes)
      const tooOld = all.lastWith((_, { at }) => at < now - maxAgeMs)
      const newest = [tooMuch, tooOld].reduce((a, b) => ((b?.position ?? -1) > (a?.position ?? -1) ? b : a))
      if (newest === undefined) return null
      return { position: newest.position, reason: newest === tooMuch ? 'bytes' : 'age' }
    },
    forget(position) {
      all.forget(position)
      for (const [id, sums] of ofWorkspaces) if (sums.forget(position) === 0) ofWorkspaces.delete(id)
    },
  }
}

const NOTHING: Waiting = { generations: 0, bytes: 0, oldestAt: null }

/** Only the ledger writes the column; a damaged one must not stop the delivery. */
function countsIn(workspaces: string): [string, number][] {
  try {
    const read: unknown = JSON.parse(workspaces)
    return isObject(read) ? Object.entries(read).map(([id, count]) => [id, Number(count)]) : []
  } catch {
    return []
  }
}

type Sums = ReturnType<typeof createSums>

/** Sums of rows, in their order. */
function createSums() {
  let points: Point[] = []
  let [entries, bytes] = [0, 0]

  /** The number of points for which this holds; they are in order, so it holds for the first ones. */
  function countWith(holds: (point: Point) => boolean): number {
    let [low, high] = [0, points.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (holds(points[middle]!)) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    add(point: Pick<Point, 'position' | 'at'>, moreEntries: number, moreBytes: number): void {
      points.push({ ...point, entriesBefore: entries, bytesBefore: bytes })
      entries += moreEntries
      bytes += moreBytes
    },
    /** Drops each second point if there are more than this. */
    thin(most: number): void {
      if (points.length > most) points = points.filter((_, index) => index % 2 === 0)
    },
    after(position: number): Waiting {
      const first = points[countWith((point) => point.position <= position)]
      if (first === undefined) return NOTHING
      return {
        generations: entries - first.entriesBefore,
        bytes: bytes - first.bytesBefore,
        oldestAt: first.at,
      }
    },
    /** The newest point for which this holds. `behind`: the bytes from it on. */
    lastWith: (holds: (behind: number, point: Point) => boolean): Point | undefined =>
      points[countWith((point) => holds(bytes - point.bytesBefore, point)) - 1],
    /** Drops what is not behind this position. Returns how many points are left. */
    forget(position: number): number {
      points = points.slice(countWith((point) => point.position <= position))
      return points.length
    },
  }
}
