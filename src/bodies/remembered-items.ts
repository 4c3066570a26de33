import { and, eq, gt, sql } from 'drizzle-orm'
import type { JsonObject } from '../core/events.ts'
import { isObject } from '../core/json.ts'
import type { RememberedItems } from '../core/remembered-items.ts'
import { turnOfLoop } from '../core/turn.ts'
import { rememberedItems } from '../db/bodies-tables.ts'
import { atomically, type Database } from '../db/database.ts'
import type { Place, Sealer } from '../db/seal.ts'
import { pack, unpack } from './pack.ts'
import { deleteOldestItems } from './room.ts'
import { createWriteQueue } from './write-queue.ts'

export interface RememberedItemsOptions {
  /** The file of sealed bodies, migrated. */
  bodies: Database
  sealer: Sealer
  /** Milliseconds since 1970. */
  now(): number
  keepMs: number
  /** The most sealed bytes in the table. */
  mostBytes?: number
  /** Items that were not stored, because of an error or a full queue. */
  onLost(error: unknown, items: number): void
}

const MOST_BYTES = 256 * 1024 * 1024
const MOST_WAITING_BYTES = 32 * 1024 * 1024
/** A larger item is not remembered. */
const MOST_ITEM_BYTES = 4 * 1024 * 1024
const GATHER_MS = 200
const COUNT_EVERY_MS = 10 * 60_000

type Row = typeof rememberedItems.$inferInsert
interface Waiting {
  readonly rowId: string
  readonly workspaceId: string
  readonly json: string
  readonly at: number
}

/** An item that was moved to another row or another workspace cannot be opened. */
const placeOf = (rowId: string, workspaceId: string): Place => ({
  table: 'remembered_items',
  column: 'sealed',
  rowId,
  workspaceId,
})
const rowIdOf = (id: string, workspaceId: string): string => `${workspaceId}/${id}`

/** An answer never waits for this store: items are found in memory until they are sealed and written. */
export function createRememberedItems(options: RememberedItemsOptions): RememberedItems {
  const { bodies, sealer, now, keepMs, onLost } = options
  const makeRoom = roomMaker(bodies, options.mostBytes ?? MOST_BYTES, now)
  const queue = createWriteQueue<Waiting>({
    bytesOf: ({ json }) => json.length,
    mostBytes: MOST_WAITING_BYTES,
    gatherMs: GATHER_MS,
    async write(batch) {
      try {
        await store(batch)
      } catch (error) {
        onLost(error, batch.length)
      }
    },
  })

  async function store(batch: readonly Waiting[]): Promise<void> {
    const rows: Row[] = []
    for (const { rowId, workspaceId, json, at } of batch) {
      const { bytes } = await pack([json])
      const sealed = sealer.sealBytes(bytes, placeOf(rowId, workspaceId))
      rows.push({ id: rowId, workspace_id: workspaceId, expires_at: new Date(at + keepMs), sealed })
      await turnOfLoop()
    }
    await atomically(bodies, (tx) => [
      tx
        .insert(rememberedItems)
        .values(rows)
        .onConflictDoUpdate({
          target: rememberedItems.id,
          set: { expires_at: sql`excluded.expires_at`, sealed: sql`excluded.sealed` },
        }),
    ])
    await makeRoom(rows.reduce((sum, { sealed }) => sum + sealed.byteLength, 0))
  }

  return {
    add(workspaceId, items) {
      for (const item of items) {
        const { id } = item
        if (typeof id !== 'string' || id === '') continue
        // Serialising an oversized item would block the thread for nothing.
        const json = hasLonger(item, MOST_ITEM_BYTES) ? null : JSON.stringify(item)
        const rowId = rowIdOf(id, workspaceId)
        const isQueued =
          json !== null &&
          json.length <= MOST_ITEM_BYTES &&
          queue.add(rowId, { rowId, workspaceId, json, at: now() })
        if (!isQueued) onLost(new Error('there is no room for it'), 1)
      }
    },
    async find(id, workspaceId) {
      const rowId = rowIdOf(id, workspaceId)
      const waiting = queue.get(rowId)
      return waiting === undefined ? readItem(rowId, workspaceId, options) : parsed(waiting.json)
    },
    close: queue.flush,
  }
}

/** True if a text within the value is longer than `most`. */
function hasLonger(value: unknown, most: number): boolean {
  if (typeof value === 'string') return value.length > most
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((inner) => hasLonger(inner, most))
}

async function readItem(
  rowId: string,
  workspaceId: string,
  { bodies, sealer, now }: RememberedItemsOptions,
): Promise<JsonObject | null> {
  const { id, expires_at, sealed } = rememberedItems
  const [row] = await bodies.db
    .select({ sealed })
    .from(rememberedItems)
    .where(and(eq(id, rowId), gt(expires_at, new Date(now()))))
  return row === undefined
    ? null
    : parsed(await unpack(sealer.openBytes(row.sealed, placeOf(rowId, workspaceId))))
}

function parsed(json: string): JsonObject | null {
  const value: unknown = JSON.parse(json)
  return isObject(value) ? value : null
}

/** Deletes the oldest items beyond the limit. Recounts now and then, because sweeps delete too. */
function roomMaker(bodies: Database, mostBytes: number, now: () => number) {
  let bytes = Number.POSITIVE_INFINITY
  let countedAt = Number.NEGATIVE_INFINITY
  const count = async (): Promise<void> => {
    const [row] = await bodies.db
      .select({ bytes: sql<number>`coalesce(sum(length(${rememberedItems.sealed})), 0)` })
      .from(rememberedItems)
    bytes = row?.bytes ?? 0
    countedAt = now()
  }
  return async (added: number): Promise<void> => {
    bytes += added
    if (bytes > mostBytes || now() - countedAt > COUNT_EVERY_MS) await count()
    while (bytes > mostBytes) {
      const freed = await deleteOldestItems(bodies)
      if (freed === 0) return
      bytes -= freed
      await turnOfLoop()
    }
  }
}
