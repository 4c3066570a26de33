import { badRequest, notFound } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isAnswered } from '../../core/response-status.ts'
import type { ResponseStore, StoredReply, StoredResponse } from '../../core/stored-response.ts'
import { INFERENCE_BODY_LIMIT } from '../../http/body.ts'
import { idOf, outputItems, shownItem } from './items.ts'

export interface Turn extends StoredReply {
  readonly response: StoredResponse
}

/** A hint for clients that expect every response to be stored: OpenAI stores unless `store` is false. */
export const ONLY_STORED = 'only responses created with store: true are stored'

/** Turns opened per turn of the event loop, so that a long conversation does not delay other streams. */
const TURNS_AT_ONCE = 32

/**
 * The conversation that ends with `response`, oldest turn first. `missing` is the id of the previous turn if that was
 * deleted or has expired, else null. Throws a `GatewayError` 400 if the turns exceed the limit of request bodies.
 */
export async function turnsUpTo(
  response: StoredResponse,
  store: ResponseStore,
): Promise<{ turns: Turn[]; missing: string | null }> {
  const turns: Turn[] = []
  let bytes = 0
  for (let next: StoredResponse | null = response; next !== null; ) {
    const opened = await store.open(next)
    turns.push({ response: next, ...opened })
    bytes += opened.clearBytes
    if (bytes > INFERENCE_BODY_LIMIT) throw tooLong()
    const previous: string | null = next.previousResponseId
    if (previous === null) break
    next = await store.find(previous, next.workspaceId)
    if (next === null) return { turns: turns.reverse(), missing: previous }
    if (turns.length % TURNS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return { turns: turns.reverse(), missing: null }
}

const tooLong = () =>
  badRequest(
    `the conversation is longer than ${Math.floor(INFERENCE_BODY_LIMIT / 1_000_000)} MB, the limit of one request: start a new one`,
    'previous_response_id',
  )

/**
 * The turns before a request that continues the response `id`. Throws a `GatewayError`: 404 if the workspace has no such
 * response or an earlier turn was deleted, 400 if the response has no reply.
 */
export async function turnsBefore(id: string, workspaceId: string, store: ResponseStore): Promise<Turn[]> {
  const response = await store.find(id, workspaceId)
  if (response === null)
    throw notFound(`previous_response_id: there is no stored response with this id; ${ONLY_STORED}`)
  if (!isAnswered(response.status))
    throw badRequest(
      `this response is ${response.status}: only a completed or incomplete one can be continued`,
      'previous_response_id',
    )
  const { turns, missing } = await turnsUpTo(response, store)
  if (missing !== null)
    throw notFound(
      `previous_response_id: the earlier response ${missing} of this conversation was deleted or has expired`,
    )
  return turns
}

/** The items of earlier turns, inputs and outputs in order. Instructions are not included. */
export const itemsOf = (turns: readonly Turn[]): JsonObject[] =>
  turns.flatMap(({ input, reply }) => [...input, ...outputItems(reply)])

/** The items of a turn by id. If several have the same id, the first one. */
export function itemsById({ response, input, reply }: Turn): Map<string, JsonObject> {
  const byId = new Map<string, JsonObject>()
  const add = (id: string | null, item: JsonObject): void => {
    if (id !== null && !byId.has(id)) byId.set(id, item)
  }
  for (const [index, item] of input.entries()) add(shownItem(item, response.id, index).id, item)
  for (const item of outputItems(reply)) add(idOf(item), item)
  return byId
}
