import { inArray, lt, sql } from 'drizzle-orm'
import type { EndedContent, ExportContents, ExportedContent } from '../core/generation-content.ts'
import { firstIdAt } from '../core/ids.ts'
import { jsonInSteps } from '../core/json-steps.ts'
import { turnOfLoop } from '../core/turn.ts'
import { exportContents } from '../db/bodies-tables.ts'
import { atomically, type Database } from '../db/database.ts'
import type { Place, Sealer } from '../db/seal.ts'
import { pack, unpack } from './pack.ts'
import { createWriteQueue } from './write-queue.ts'

export interface ExportContentsOptions {
  /** The file of sealed bodies, migrated. */
  bodies: Database
  sealer: Sealer
  /** The most bytes of all contents that wait for destinations. */
  mostBytes: number
  /** Older contents are deleted at the start: no destination takes them any more. In milliseconds. */
  oldestMs: number
  /** Milliseconds since 1970. */
  now(): number
  /** So many contents could not be written; their generations are delivered without. */
  onLost(error: unknown, contents: number): void
  /** The most bytes that may wait in memory. */
  mostQueuedBytes?: number
}

const MOST_QUEUED_BYTES = 64 * 1024 * 1024
const GATHER_MS = 50
/** Memory of one content in addition to its text. */
const OVERHEAD_BYTES = 512
const MOST_REFUSED = 100_000
const IDS_OF_QUERY = 500

type Ended = EndedContent<ExportedContent>
type Row = typeof exportContents.$inferInsert

const placeOf = (generationId: string, workspaceId: string): Place => ({
  table: 'export_contents',
  column: 'sealed',
  rowId: generationId,
  workspaceId,
})

/** Opens the table of contents that wait for destinations. */
export function createExportContents(options: ExportContentsOptions): ExportContents {
  const { bodies, mostBytes, onLost, mostQueuedBytes = MOST_QUEUED_BYTES } = options
  const table = tableOf(options)
  let usedBytes = 0
  const opened = table.open().then((bytes) => {
    usedBytes += bytes
  }, lost)
  /** Contents that the queue had no room for; their rows are written with the next batch. */
  const refused: Row[] = []
  /** Passed by every destination before they were written. */
  const passed = new Set<string>()
  const queue = createWriteQueue<Ended>({
    bytesOf: ({ weight }) => weight + OVERHEAD_BYTES,
    mostBytes: mostQueuedBytes,
    gatherMs: GATHER_MS,
    async write(batch) {
      await opened
      await write(batch)
      const late = batch.filter(({ generationId }) => passed.delete(generationId))
      if (late.length > 0) await remove(late.map(({ generationId }) => generationId))
    },
  })

  function lost(error: unknown, contents = 0): void {
    onLost(error, contents)
  }

  async function write(batch: readonly Ended[]): Promise<void> {
    const rows = refused.splice(0)
    let added = 0
    for (const ended of batch) {
      if (passed.has(ended.generationId)) continue
      const row = await rowFor(ended, mostBytes - usedBytes - added)
      added += row.sealed?.length ?? 0
      rows.push(row)
      await turnOfLoop()
    }
    if (rows.length === 0) return
    try {
      await atomically(bodies, (tx) => [tx.insert(exportContents).values(rows).onConflictDoNothing()])
      usedBytes += added
    } catch (error) {
      lost(error, rows.length)
    }
  }

  async function rowFor(ended: Ended, room: number): Promise<Row> {
    if (room <= 0) return withoutRoom(ended)
    try {
      const row = await table.seal(ended)
      return (row.sealed?.length ?? 0) > room ? withoutRoom(ended) : row
    } catch (error) {
      lost(error, 1)
      return withoutRoom(ended)
    }
  }

  async function remove(generationIds: readonly string[]): Promise<void> {
    try {
      for (let from = 0; from < generationIds.length; from += IDS_OF_QUERY)
        usedBytes -= await table.remove(generationIds.slice(from, from + IDS_OF_QUERY))
    } catch (error) {
      lost(error)
    }
  }

  return {
    add(content) {
      if (queue.add(content.generationId, content)) return
      if (refused.length < MOST_REFUSED) refused.push(withoutRoom(content))
    },
    forget(generationIds) {
      for (const id of generationIds) if (queue.get(id) !== undefined) passed.add(id)
      return remove(generationIds)
    },
    close: queue.flush,
  }
}

const withoutRoom = ({ generationId, workspaceId }: Ended): Row => ({
  generation_id: generationId,
  workspace_id: workspaceId,
  sealed: null,
})

function tableOf({ bodies, sealer, oldestMs, now }: ExportContentsOptions) {
  const { db } = bodies
  const { generation_id, sealed } = exportContents
  return {
    /** Deletes what no destination will take any more, and returns the bytes of the rest. */
    async open(): Promise<number> {
      await db.delete(exportContents).where(lt(generation_id, firstIdAt(now() - oldestMs)))
      const rows = await db
        .select({ bytes: sql<number>`coalesce(sum(length(${sealed})), 0)` })
        .from(exportContents)
      return rows[0]?.bytes ?? 0
    },
    async seal({ generationId, workspaceId, content }: Ended): Promise<Row> {
      const { bytes } = await pack(await jsonInSteps(await content()))
      const place = placeOf(generationId, workspaceId)
      return {
        generation_id: generationId,
        workspace_id: workspaceId,
        sealed: sealer.sealBytes(bytes, place),
      }
    },
    /** The number of deleted bytes. */
    async remove(ids: readonly string[]): Promise<number> {
      const rows = await db
        .delete(exportContents)
        .where(inArray(generation_id, [...ids]))
        .returning({ bytes: sql<number>`coalesce(length(${sealed}), 0)` })
      return rows.reduce((sum, { bytes }) => sum + bytes, 0)
    },
  }
}

/** Reads contents for destinations; the file may be open for reading only. By id. */
export async function readExportContents(
  { db }: Database,
  sealer: Sealer,
  generationIds: readonly string[],
): Promise<ReadonlyMap<string, ExportedContent | 'full' | 'unreadable'>> {
  const rows = await db
    .select()
    .from(exportContents)
    .where(inArray(exportContents.generation_id, [...generationIds]))
  const found = new Map<string, ExportedContent | 'full' | 'unreadable'>()
  for (const { generation_id: id, workspace_id: workspaceId, sealed } of rows)
    found.set(id, sealed === null ? 'full' : await opened(sealer, sealed, placeOf(id, workspaceId)))
  return found
}

async function opened(
  sealer: Sealer,
  sealed: Uint8Array,
  place: Place,
): Promise<ExportedContent | 'unreadable'> {
  try {
    const content: ExportedContent = JSON.parse(await unpack(sealer.openBytes(sealed, place)))
    return content
  } catch {
    return 'unreadable'
  }
}
