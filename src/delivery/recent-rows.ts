import { inArray } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { generations } from '../db/tables.ts'
import type { GenerationRow } from '../ledger/row.ts'

/** Rows of the ledger by the ids of their generations, and perhaps others. */
export type ReadRows = (ids: readonly string[]) => ReadonlyMap<string, GenerationRow>

const MOST_ROWS = 1_024
const RECENT_MS = 1_000

/**
 * Reads rows of the ledger, and keeps them for a second: all destinations read the same ones at about the same time, and
 * reading one takes as long as writing it for a destination.
 */
export function createRecentRows({ sync }: Database, now: () => number): ReadRows {
  let recent = new Map<string, GenerationRow>()
  let since = 0
  return (ids) => {
    const at = now()
    if (recent.size >= MOST_ROWS || Math.abs(at - since) > RECENT_MS) [recent, since] = [new Map(), at]
    const rows = recent
    const missing = ids.filter((id) => !rows.has(id))
    if (missing.length > 0) {
      const read = sync.select().from(generations).where(inArray(generations.id, missing)).all()
      for (const row of read) rows.set(row.id, row)
    }
    return rows
  }
}
