import { and, asc, desc, eq, gt, gte, inArray, lt, sql } from 'drizzle-orm'
import { isObject } from '../core/json.ts'
import { jsonInSteps } from '../core/json-steps.ts'
import { isFinal, RESPONSE_STATUSES, statusesBefore } from '../core/response-status.ts'
import type { ResponseStore, StoredReply, StoredResponse } from '../core/stored-response.ts'
import { type ResponsePart, responseItems, responseParts, responses } from '../db/bodies-tables.ts'
import { atomically, type Database, type Db, mustChange } from '../db/database.ts'
import type { Sealer } from '../db/seal.ts'
import { pack, unpack } from './pack.ts'
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
        await partRow(sealer, response, 'reply', await jsonInSteps(reply)),
        await partRow(sealer, response, 'input', await jsonInSteps(input)),
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
      const { clear_bytes, sealed } = await partRow(sealer, response, 'reply', await jsonInSteps(reply))
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
      const row = await partRow(sealer, response, 'events', [text], first, last)
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
  texts: readonly string[],
  first = 0,
  last = 0,
) {
  const { bytes, clearBytes } = await pack(texts)
  const sealed = sealer.sealBytes(bytes, placeOf(id, workspaceId, part, first))
  return { response_id: id, part, first, last, clear_bytes: clearBytes, sealed }
}

/** One statement for all ids: to build statements of 20,000 rows takes as long as to run them. */
function indexItems(tx: Db, { id, workspaceId }: StoredResponse, itemIds: readonly string[]) {
  const ids = JSON.stringify(itemIds)
  // SQLite reads `on conflict` as a join condition unless the query has a `where`.
  const rows = sql`select ${workspaceId}, value, ${id} from json_each(${ids}) where true`
  return [tx.insert(responseItems).select(rows).onConflictDoNothing()]
}

/** As many rows as one statement takes. */
function slices<Row>(rows: readonly Row[]): Row[][] {
  const all: Row[][] = []
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT)
    all.push(rows.slice(from, from + ROWS_PER_STATEMENT))
  return all
}

interface ResponseStoreDeps {
  /** The file of sealed bodies, migrated. */
  bodies: Database
  sealer: Sealer
  /** Milliseconds since 1970. */
  now(): number
}

const UNFINISHED = RESPONSE_STATUSES.filter((status) => !isFinal(status))
/** A client that sends an answer's items back with each turn has them in many responses; one of the newest will do. */
const MOST_HOLDERS = 5

type ResponseReads = Pick<ResponseStore, 'find' | 'open' | 'withItem' | 'eventsFrom' | 'unfinished'>

const responseReads = ({ bodies: { db }, sealer, now }: ResponseStoreDeps): ResponseReads => ({
  async find(id, workspaceId) {
    const isFound = and(eq(responses.id, id), eq(responses.workspace_id, workspaceId), isAlive(now()))
    const [row] = await db.select().from(responses).where(isFound).limit(1)
    return row === undefined ? null : responseOf(row)
  },

  async open(response) {
    const isContent = inArray(responseParts.part, ['reply', 'input'])
    const rows = await db
      .select()
      .from(responseParts)
      .where(and(eq(responseParts.response_id, response.id), isContent))
    const opened: { -readonly [Name in keyof StoredReply]: StoredReply[Name] } = {
      reply: {},
      input: [],
      clearBytes: 0,
    }
    for (const row of rows) {
      const value: unknown = JSON.parse(await textOf(row, response, sealer))
      opened.clearBytes += row.clear_bytes
      if (Array.isArray(value)) opened.input = value.filter(isObject)
      else if (isObject(value)) opened.reply = value
    }
    return opened
  },

  async withItem(itemId, workspaceId) {
    const { workspace_id, item_id, response_id } = responseItems
    const rows = await db
      .select({ response: responses })
      .from(responseItems)
      .innerJoin(responses, eq(responses.id, response_id))
      .where(and(eq(workspace_id, workspaceId), eq(item_id, itemId), isAlive(now())))
      .orderBy(desc(responses.id))
      .limit(MOST_HOLDERS)
    return rows.map(({ response }) => responseOf(response))
  },

  async eventsFrom(response, sequence) {
    const { response_id, part, first, last } = responseParts
    const [row] = await db
      .select()
      .from(responseParts)
      .where(and(eq(response_id, response.id), eq(part, 'events'), gte(last, sequence)))
      .orderBy(asc(first))
      .limit(1)
    if (row === undefined) return null
    return { first: row.first, last: row.last, text: await textOf(row, response, sealer) }
  },

  async unfinished() {
    const rows = await db.select().from(responses).where(inArray(responses.status, UNFINISHED))
    return rows.map(responseOf)
  },
})

/** The condition of responses that have not expired. */
const isAlive = (now: number) => gt(responses.expires_at, new Date(now))

const textOf = (
  { part, first, sealed }: typeof responseParts.$inferSelect,
  { id, workspaceId }: StoredResponse,
  sealer: Sealer,
): Promise<string> => unpack(sealer.openBytes(sealed, placeOf(id, workspaceId, part, first)))
