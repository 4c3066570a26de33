import { and, asc, desc, eq, gt, gte, inArray } from 'drizzle-orm'
import { isObject } from '../core/json.ts'
import { isFinal, RESPONSE_STATUSES } from '../core/response-status.ts'
import type { ResponseStore, StoredReply, StoredResponse } from '../core/stored-response.ts'
import { responseItems, responseParts, responses } from '../db/bodies-tables.ts'
import type { Database } from '../db/database.ts'
import type { Sealer } from '../db/seal.ts'
import { unpack } from './pack.ts'
import { placeOf, responseOf } from './row.ts'

export interface ResponseStoreDeps {
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

export const responseReads = ({ bodies: { db }, sealer, now }: ResponseStoreDeps): ResponseReads => ({
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
export const isAlive = (now: number) => gt(responses.expires_at, new Date(now))

const textOf = (
  { part, first, sealed }: typeof responseParts.$inferSelect,
  { id, workspaceId }: StoredResponse,
  sealer: Sealer,
): Promise<string> => unpack(sealer.openBytes(sealed, placeOf(id, workspaceId, part, first)))
