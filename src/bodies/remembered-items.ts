import { and, eq, gt, sql } from 'drizzle-orm'
import type { JsonObject } from '../core/events.ts'
import { isObject } from '../core/json.ts'
import type { RememberedItems } from '../core/remembered-items.ts'
import { rememberedItems } from '../db/bodies-tables.ts'
import { atomically, type Database } from '../db/database.ts'
import type { Place, Sealer } from '../db/seal.ts'
import { pack, unpack } from './pack.ts'
import { deleteOldestItems, turn } from './room.ts'

export interface RememberedItemsOptions {
  /** The file of sealed bodies, migrated. */
  bodies: Database
  sealer: Sealer
  /** Milliseconds since 1970. */
  now(): number
  keepMs: number
  /** What the table may hold, in sealed bytes. */
  mostBytes?: number
  /** What may wait in memory to be written. */
  mostWaitingBytes?: number
  /** Items that were not stored, because of an error or a full queue. */
  onLost(error: unknown, items: number): void
}

const MOST_BYTES = 256 * 1024 * 1024
const MOST_WAITING_BYTES = 32 * 1024 * 1024
/** A larger item is not remembered. */
const MOST_ITEM_BYTES = 4 * 1024 * 1024
/** What comes within this time is written together. */
const GATHER_MS = 200
const ROWS_PER_BATCH = 64
const BYTES_PER_BATCH = 1024 * 1024
const COUNT_EVERY_MS = 10 * 60_000

type Row = typeof rememberedItems.$inferInsert
interface Waiting {
  readonly rowId: string
  readonly workspaceId: string
  readonly json: string
  readonly at: number
}

/** An item that is moved to another row or another workspace cannot be opened. */
const placeOf = (rowId: string, workspaceId: string): Place => ({
  table: 'remembered_items',
  column: 'sealed',
  rowId,
  workspaceId,
})
const rowIdOf = (id: string, workspaceId: string): string => `${workspaceId}/${id}`

/** An answer waits for nothing here: items lie in memory, where they are found, until they are sealed and written. */
export function createRememberedItems(options: RememberedItemsOptions): RememberedItems {
  const { bodies, sealer, now, keepMs, mostWaitingBytes = MOST_WAITING_BYTES } = options
  const waiting = new Map<string, Waiting>()
  const makeRoom = roomMaker(bodies, options.mostBytes ?? MOST_BYTES, now)
  let waitingBytes = 0
  let timer: ReturnType<typeof setTimeout> | null = null
  let writing: Promise<void> = Promise.resolve()

  function nextBatch(): Waiting[] {
    const batch: Waiting[] = []
    let bytes = 0
    for (const item of waiting.values()) {
      if (batch.length === ROWS_PER_BATCH || bytes >= BYTES_PER_BATCH) break
      batch.push(item)
      bytes += item.json.length
    }
    return batch
  }

  async function writeAll(): Promise<void> {
    timer = null
    for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) {
      try {
        await write(batch)
      } catch (error) {
        options.onLost(error, batch.length)
      }
      for (const item of batch) {
        // The same item may have come once more meanwhile.
        if (waiting.get(item.rowId) !== item) continue
        waiting.delete(item.rowId)
        waitingBytes -= item.json.length
      }
    }
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    const rows: Row[] = []
    for (const { rowId, workspaceId, json, at } of batch) {
      const { bytes } = await pack(json)
      const sealed = sealer.sealBytes(bytes, placeOf(rowId, workspaceId))
      rows.push({ id: rowId, workspace_id: workspaceId, expires_at: new Date(at + keepMs), sealed })
      await turn()
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

  function begin(): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    writing = writing.then(writeAll)
    return writing
  }

  return {
    add(workspaceId, items) {
      for (const item of items) {
        const { id } = item
        if (typeof id !== 'string' || id === '') continue
        // Serialising an oversized item would hold the thread for nothing.
        const json = hasLonger(item, MOST_ITEM_BYTES) ? null : JSON.stringify(item)
        const rowId = rowIdOf(id, workspaceId)
        if (json === null || json.length > MOST_ITEM_BYTES || waitingBytes + json.length > mostWaitingBytes) {
          options.onLost(new Error('there is no room for it'), 1)
          continue
        }
        waitingBytes += json.length - (waiting.get(rowId)?.json.length ?? 0)
        waiting.set(rowId, { rowId, workspaceId, json, at: now() })
      }
      if (waiting.size > 0) timer ??= setTimeout(begin, GATHER_MS)
    },
    async find(id, workspaceId) {
      const rowId = rowIdOf(id, workspaceId)
      const held = waiting.get(rowId)
      return held === undefined ? readItem(rowId, workspaceId, options) : parsed(held.json)
    },
    close: begin,
  }
}

/** True where a text within the value is longer than `most`. */
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
      await turn()
    }
  }
}
