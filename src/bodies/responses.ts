import { and, eq, inArray, lt } from 'drizzle-orm'
import { statusesBefore } from '../core/response-status.ts'
import type { ResponseStore, StoredResponse } from '../core/stored-response.ts'
import { type ResponsePart, responseItems, responseParts, responses } from '../db/bodies-tables.ts'
import { atomically, type Db, mustChange } from '../db/database.ts'
import type { Sealer } from '../db/seal.ts'
import { pack } from './pack.ts'
import { isAlive, type ResponseStoreDeps, responseReads } from './response-reads.ts'
import { placeOf, responseOf, rowOf } from './row.ts'

/** An ancestor's expiry is moved only by more than this: each turn would rewrite the complete chain otherwise. */
const EXPIRY_GRAIN_MS = 24 * 3_600_000
const ROWS_PER_STATEMENT = 500

export function createResponseStore(deps: ResponseStoreDeps): ResponseStore {
  const { bodies, sealer, now } = deps
  const { db } = bodies
  const living = (id: string) => and(eq(responses.id, id), isAlive(now()))

  return {
    ...responseReads(deps),

    async keep(response, { reply, input, itemIds }) {
      const parts = [
        await partRow(sealer, response, 'reply', JSON.stringify(reply)),
        await partRow(sealer, response, 'input', JSON.stringify(input)),
      ]
      await atomically(bodies, (tx) => [
        tx.insert(responses).values(rowOf(response)),
        tx.insert(responseParts).values(parts),
        ...indexItems(tx, response, itemIds),
      ])
    },

    async advance(id, { status, reply, itemIds = [], model }) {
      const [row] = await db.select().from(responses).where(living(id)).limit(1)
      if (row === undefined) return false
      const response = responseOf(row)
      const { clear_bytes, sealed } = await partRow(sealer, response, 'reply', JSON.stringify(reply))
      // Encryption takes a moment, so the statement checks the status again.
      const mayFollow = and(eq(responses.id, id), inArray(responses.status, statusesBefore(status)))
      const isReply = and(eq(responseParts.response_id, id), eq(responseParts.part, 'reply'))
      const refused = new Error(`Response ${id} cannot become ${status} any more`)
      try {
        await atomically(bodies, (tx) => [
          mustChange(tx.update(responses).set({ status, model }).where(mayFollow), () => refused),
          tx.update(responseParts).set({ clear_bytes, sealed }).where(isReply),
          ...indexItems(tx, response, itemIds),
        ])
        return true
      } catch (error) {
        if (error === refused) return false
        throw error
      }
    },

    async keepUntil(ids, expiresAt) {
      const before = lt(responses.expires_at, new Date(expiresAt - EXPIRY_GRAIN_MS))
      for (const some of slices(ids)) {
        await db
          .update(responses)
          .set({ expires_at: new Date(expiresAt) })
          .where(and(inArray(responses.id, some), before))
      }
    },

    async remove(id, workspaceId) {
      const isOwn = and(living(id), eq(responses.workspace_id, workspaceId))
      return (await db.delete(responses).where(isOwn).returning({ id: responses.id })).length > 0
    },

    async addEvents(response, { first, last, text }) {
      const row = await partRow(sealer, response, 'events', text, first, last)
      // If the response was deleted while it ran, its events are dropped.
      const found = await db.select({ id: responses.id }).from(responses).where(living(response.id))
      if (found.length > 0) await db.insert(responseParts).values(row)
    },
  }
}

async function partRow(
  sealer: Sealer,
  { id, workspaceId }: StoredResponse,
  part: ResponsePart,
  text: string,
  first = 0,
  last = 0,
) {
  const { bytes, clearBytes } = await pack(text)
  const sealed = sealer.sealBytes(bytes, placeOf(id, workspaceId, part, first))
  return { response_id: id, part, first, last, clear_bytes: clearBytes, sealed }
}

function indexItems(tx: Db, { id, workspaceId }: StoredResponse, itemIds: readonly string[]) {
  const rows = [...new Set(itemIds)].map((itemId) => ({
    workspace_id: workspaceId,
    item_id: itemId,
    response_id: id,
  }))
  return slices(rows).map((some) => tx.insert(responseItems).values(some).onConflictDoNothing())
}

/** As many rows as one statement takes. */
function slices<Row>(rows: readonly Row[]): Row[][] {
  const all: Row[][] = []
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT)
    all.push(rows.slice(from, from + ROWS_PER_STATEMENT))
  return all
}
