import { asc, inArray, sql } from 'drizzle-orm'
import { turnOfLoop } from '../core/turn.ts'
import { loggedContents, rememberedItems } from '../db/bodies-tables.ts'
import type { Database } from '../db/database.ts'
import { freePagesOf, releasePages, usedBytes } from '../db/space.ts'

const ROWS_PER_SLICE = 100
const PAGES_PER_SLICE = 500

/**
 * Deletes the oldest logged contents, in slices, until the file has at most `mostBytes` (0: no limit). Stored responses
 * are never deleted for space, because callers rely on them. Freed pages are reused first; the next sweep releases the
 * rest. Returns the number of deleted contents.
 */
export async function makeRoom(bodies: Database, mostBytes: number): Promise<number> {
  if (mostBytes === 0) return 0
  let gone = 0
  for (let excess = usedBytes(bodies) - mostBytes; excess > 0; excess = usedBytes(bodies) - mostBytes) {
    // Items that are remembered for an hour go first.
    if ((await deleteOldestItems(bodies)) > 0) {
      await turnOfLoop()
      continue
    }
    const ids = await oldest(bodies, excess)
    if (ids.length === 0) break
    await bodies.db.delete(loggedContents).where(inArray(loggedContents.generation_id, ids))
    gone += ids.length
    await turnOfLoop()
  }
  return gone
}

/** Deletes a slice of the oldest remembered items. Returns the number of deleted bytes. */
export async function deleteOldestItems({ db }: Database): Promise<number> {
  const { id, expires_at, sealed } = rememberedItems
  const rows = await db
    .select({ id, bytes: sql<number>`length(${sealed})` })
    .from(rememberedItems)
    .orderBy(asc(expires_at))
    .limit(ROWS_PER_SLICE)
  const ids = rows.map((row) => row.id)
  if (ids.length > 0) await db.delete(rememberedItems).where(inArray(id, ids))
  return rows.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The oldest rows with this many bytes in total, at most one slice. */
async function oldest({ db }: Database, bytes: number): Promise<string[]> {
  const rows = await db
    .select({
      id: loggedContents.generation_id,
      bytes: sql<number>`length(${loggedContents.sealed})`,
    })
    .from(loggedContents)
    .orderBy(asc(loggedContents.generation_id))
    .limit(ROWS_PER_SLICE)
  let sum = 0
  const enough = rows.findIndex((row) => {
    sum += row.bytes
    return sum >= bytes
  })
  return rows.slice(0, enough === -1 ? rows.length : enough + 1).map(({ id }) => id)
}

/** Releases free pages and empties the write-ahead log, so that neither file has deleted data. */
export async function giveBack(bodies: Database): Promise<void> {
  for (let before = freePagesOf(bodies); before > 0; ) {
    const after = releasePages(bodies, PAGES_PER_SLICE)
    if (after >= before) break
    before = after
    await turnOfLoop()
  }
  bodies.file.run('PRAGMA wal_checkpoint(TRUNCATE)')
}
