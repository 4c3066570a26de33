import type { ExportNote } from '../core/export-note.ts'
import { isObject } from '../core/json.ts'
import type { Database } from '../db/database.ts'
import { MOST_OF_ROW, type OutboxGeneration } from '../db/export-tables.ts'
import { type OutboxRow, outboxRow } from '../ledger/outbox.ts'

/** One settled generation that waits for destinations. */
export interface OutboxEntry {
  /** Its place in the order of commits; a cursor is the position that was passed last. */
  readonly position: number
  readonly generationId: string
  readonly workspaceId: string
  /** Milliseconds since 1970. */
  readonly committedAt: number
  /** Null: read from the ledger again, which has no note. */
  readonly note: ExportNote | null
}

/** The most entries that are remembered. */
const MOST_RECENT = 1_024

/** Reads the entries after a position, in the order of commits, at most `most` of them. */
export type ReadOutbox = (after: number, most: number) => OutboxEntry[]

/**
 * Remembers the entries that it returned last: destinations read the same ones at about the same time, and what is made of
 * an entry is kept with it.
 */
export function createOutboxReader(database: Database): ReadOutbox {
  const recent = new Map<number, RecentRow>()
  let held = 0
  function remember(row: RecentRow): void {
    recent.set(row.seq, row)
    held += row.entries.length
    for (const [oldest, { entries }] of recent) {
      if (held <= MOST_RECENT) return
      recent.delete(oldest)
      held -= entries.length
    }
  }
  /** The first row from `seq` on. */
  function rowFrom(seq: number): RecentRow | null {
    const known = recent.get(seq)
    if (known !== undefined) return known
    const row = outboxRow(database, seq)
    if (row === null) return null
    const read = recent.get(row.seq) ?? { seq: row.seq, entries: entriesOf(row) }
    if (!recent.has(row.seq)) remember(read)
    return read
  }
  return (after, most) => {
    const entries: OutboxEntry[] = []
    let row = rowFrom(Math.floor(after / MOST_OF_ROW))
    for (; row !== null; row = rowFrom(row.seq + 1)) {
      for (const entry of row.entries) {
        if (entry.position <= after) continue
        entries.push(entry)
        if (entries.length === most) return entries
      }
    }
    return entries
  }
}

interface RecentRow {
  readonly seq: number
  readonly entries: readonly OutboxEntry[]
}

const entriesOf = ({ seq, committedAt, generations }: OutboxRow): OutboxEntry[] =>
  generationsIn(generations).map(({ id, workspace, note }, index) => ({
    position: seq * MOST_OF_ROW + index,
    generationId: id,
    workspaceId: workspace,
    committedAt,
    note,
  }))

/** Only the ledger writes the column, so its members are trusted; a damaged row must not stop those behind it. */
function generationsIn(generations: string): readonly OutboxGeneration[] {
  try {
    const read: unknown = JSON.parse(generations)
    return Array.isArray(read) ? read.filter(isEntry) : []
  } catch {
    return []
  }
}

const isEntry = (value: unknown): value is OutboxGeneration =>
  isObject(value) && typeof value['id'] === 'string' && isObject(value['note'])
