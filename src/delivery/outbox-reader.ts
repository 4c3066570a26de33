import type { ExportNote } from '../core/export-note.ts'
import { isObject } from '../core/json.ts'
import type { Database } from '../db/database.ts'
import { MOST_OF_ROW, type OutboxGeneration } from '../db/export-tables.ts'
import { outboxRows } from '../ledger/outbox.ts'

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

/** The entries after a position, in the order of commits, at most `most` of them. */
export function readOutbox(database: Database, after: number, most: number): OutboxEntry[] {
  const rows = outboxRows(database, Math.floor(after / MOST_OF_ROW), most + 1)
  const entries: OutboxEntry[] = []
  for (const { seq, committedAt, generations } of rows) {
    for (const [index, { id, workspace, note }] of entriesOf(generations).entries()) {
      const position = seq * MOST_OF_ROW + index
      if (position <= after) continue
      entries.push({ position, generationId: id, workspaceId: workspace, committedAt, note })
      if (entries.length === most) return entries
    }
  }
  return entries
}

/** Only the ledger writes the column, so its members are trusted; a damaged row must not stop those behind it. */
function entriesOf(generations: string): readonly OutboxGeneration[] {
  try {
    const read: unknown = JSON.parse(generations)
    return Array.isArray(read) ? read.filter(isEntry) : []
  } catch {
    return []
  }
}

const isEntry = (value: unknown): value is OutboxGeneration =>
  isObject(value) && typeof value['id'] === 'string' && isObject(value['note'])
