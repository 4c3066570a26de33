import { and, asc, desc, eq, gt, gte, inArray, lt } from 'drizzle-orm'
import { isObject } from '../core/json.ts'
import { isFinal, RESPONSE_STATUSES, statusesBefore } from '../core/response-status.ts'
import type { ResponseStore, StoredReply, StoredResponse } from '../core/stored-response.ts'
import { type ResponsePart, responseItems, responseParts, responses } from '../db/bodies-tables.ts'
import { atomically, type Database, type Db, transact } from '../db/database.ts'
import type { Sealer } from '../db/seal.ts'
import { pack, unpack } from './pack.ts'
import { placeOf, responseOf, rowOf } from './row.ts'

export interface ResponseStoreDeps {
  /** The file of sealed bodies, migrated. */
  bodies: Database
  sealer: Sealer
  /** Milliseconds since 1970. */
  now(): number
}

/** Statuses from which a response goes on. */
const UNFINISHED = RESPONSE_STATUSES.filter((status) => !isFinal(status))
/** An ancestor's expiry is moved only by more than this: each turn would rewrite the complete chain otherwise. */
const EXPIRY_GRAIN_MS = 24 * 3_600_000
const IDS_PER_STATEMENT = 500

export function createResponseStore({ bodies, sealer, now }: ResponseStoreDeps): ResponseStore {
  const { db, sync } = bodies
  const partRow = async (
    { id, workspaceId }: StoredResponse,
    part: ResponsePart,
    text: string,
    first = 0,
    last = 0,
  ) => {
    const { bytes, clearBytes } = await pack(text)
    const sealed = sealer.sealBytes(bytes, placeOf(id, workspaceId, part, first))
    return { response_id: id, part, first, last, clear_bytes: clearBytes, sealed }
  }
  const opened = async (
    { id, workspaceId }: StoredResponse,
    part: ResponsePart,
    first: number,
    sealed: Uint8Array,
  ) => unpack(sealer.openBytes(sealed, placeOf(id, workspaceId, part, first)))
  const alive = (id: string) => and(eq(responses.id, id), gt(responses.expires_at, new Date(now())))

  return {
    async keep(response, { reply, input, itemIds }) {
      const parts = [
        await partRow(response, 'reply', JSON.stringify(reply)),
        await partRow(response, 'input', JSON.stringify(input)),
      ]
      await atomically(bodies, (tx) => [
        tx.insert(responses).values(rowOf(response)),
        tx.insert(responseParts).values(parts),
        ...indexItems(tx, response, itemIds),
      ])
    },

    async advance(id, { status, reply, itemIds = [], model }) {
      const row = (await db.select().from(responses).where(alive(id)).limit(1))[0]
      if (row === undefined) return false
      const response = responseOf(row)
      const part = await partRow(response, 'reply', JSON.stringify(reply))
      // Encryption takes a moment, so the statement checks the status again.
      const mayFollow = and(eq(responses.id, id), inArray(responses.status, statusesBefore(status)))
      return transact(bodies.file, () => {
        const moved = sync
          .update(responses)
          .set({ status, ...(model === undefined ? {} : { model }) })
          .where(mayFollow)
          .returning({ id: responses.id })
          .all()
        if (moved.length === 0) return false
        const isReply = and(eq(responseParts.response_id, id), eq(responseParts.part, 'reply'))
        sync
          .update(responseParts)
          .set({ clear_bytes: part.clear_bytes, sealed: part.sealed })
          .where(isReply)
          .run()
        for (const statement of indexItems(db, response, itemIds)) statement.run()
        return true
      })
    },

    async find(id, workspaceId) {
      const rows = await db
        .select()
        .from(responses)
        .where(and(alive(id), eq(responses.workspace_id, workspaceId)))
        .limit(1)
      return rows[0] === undefined ? null : responseOf(rows[0])
    },

    async open(response) {
      const rows = await db
        .select()
        .from(responseParts)
        .where(
          and(eq(responseParts.response_id, response.id), inArray(responseParts.part, ['reply', 'input'])),
        )
      const said: { -readonly [Name in keyof StoredReply]: StoredReply[Name] } = {
        reply: {},
        input: [],
        clearBytes: 0,
      }
      for (const { part, first, clear_bytes, sealed } of rows) {
        const value: unknown = JSON.parse(await opened(response, part, first, sealed))
        said.clearBytes += clear_bytes
        if (Array.isArray(value)) said.input = value.filter(isObject)
        else if (isObject(value)) said.reply = value
      }
      return said
    },

    async withItem(itemId, workspaceId) {
      const rows = await db
        .select({ response: responses })
        .from(responseItems)
        .innerJoin(responses, eq(responses.id, responseItems.response_id))
        .where(
          and(
            eq(responseItems.workspace_id, workspaceId),
            eq(responseItems.item_id, itemId),
            gt(responses.expires_at, new Date(now())),
          ),
        )
        .orderBy(desc(responses.id))
        .limit(MOST_HOLDERS)
      return rows.map(({ response }) => responseOf(response))
    },

    async keepUntil(ids, expiresAt) {
      const before = new Date(expiresAt - EXPIRY_GRAIN_MS)
      for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT) {
        const some = ids.slice(from, from + IDS_PER_STATEMENT)
        await db
          .update(responses)
          .set({ expires_at: new Date(expiresAt) })
          .where(and(inArray(responses.id, some), lt(responses.expires_at, before)))
      }
    },

    async remove(id, workspaceId) {
      const gone = await db
        .delete(responses)
        .where(and(alive(id), eq(responses.workspace_id, workspaceId)))
        .returning({ id: responses.id })
      return gone.length > 0
    },

    async addEvents(response, { first, last, text }) {
      const row = await partRow(response, 'events', text, first, last)
      // Deleted while it ran: its events are dropped.
      if ((await db.select({ id: responses.id }).from(responses).where(alive(response.id))).length === 0)
        return
      await db.insert(responseParts).values(row)
    },

    async eventsFrom(response, sequence) {
      const rows = await db
        .select()
        .from(responseParts)
        .where(
          and(
            eq(responseParts.response_id, response.id),
            eq(responseParts.part, 'events'),
            gte(responseParts.last, sequence),
          ),
        )
        .orderBy(asc(responseParts.first))
        .limit(1)
      const row = rows[0]
      if (row === undefined) return null
      return {
        first: row.first,
        last: row.last,
        text: await opened(response, 'events', row.first, row.sealed),
      }
    },

    async unfinished() {
      const rows = await db.select().from(responses).where(inArray(responses.status, UNFINISHED))
      return rows.map(responseOf)
    },
  }
}

/** A client that sends an answer's items back with each turn has them in many responses; one of the newest will do. */
const MOST_HOLDERS = 5
const ITEMS_PER_STATEMENT = 500

function indexItems(tx: Db, { id, workspaceId }: StoredResponse, itemIds: readonly string[]) {
  const rows = [...new Set(itemIds)].map((itemId) => ({
    workspace_id: workspaceId,
    item_id: itemId,
    response_id: id,
  }))
  const statements = []
  for (let from = 0; from < rows.length; from += ITEMS_PER_STATEMENT) {
    statements.push(
      tx
        .insert(responseItems)
        .values(rows.slice(from, from + ITEMS_PER_STATEMENT))
        .onConflictDoNothing(),
    )
  }
  return statements
}
