import type { Caller } from '../../core/caller.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isFinal } from '../../core/response-status.ts'
import type { ResponseStore, StoredResponse } from '../../core/stored-response.ts'
import type { BackgroundRuns } from './background.ts'
import { type EventSource, storedEvents } from './event-log.ts'
import { ONLY_STORED, type Turn, turnsUpTo } from './history.ts'
import { idOf, outputItems, shownItem } from './items.ts'
import { failed } from './stored-reply.ts'

export interface StoredDeps {
  store: ResponseStore
  background: BackgroundRuns
}

const unknown = () => notFound(`There is no stored response with this id; ${ONLY_STORED}`)

/**
 * A stored response of the caller's workspace; throws a `GatewayError` 404 for those of other workspaces. If the end of a
 * response could not be stored (full disk), it is failed here: otherwise its caller would poll forever.
 */
async function findResponse(id: string, { workspace }: Caller, deps: StoredDeps): Promise<StoredResponse> {
  const { store, background } = deps
  const find = async (): Promise<StoredResponse> => {
    const response = await store.find(id, workspace.id)
    if (response === null) throw unknown()
    return response
  }
  const isLost = ({ status }: StoredResponse) => !isFinal(status) && background.find(id) === undefined
  // Read again, because its run may have ended between the read and the check.
  const first = await find()
  if (!isLost(first)) return first
  const response = await find()
  if (!isLost(response)) return response
  const { reply } = await store.open(response)
  await store.advance(id, { status: 'failed', reply: failed(reply, END_LOST) })
  return find()
}

const END_LOST = 'The end of this response could not be stored'

export async function getResponse(id: string, caller: Caller, deps: StoredDeps): Promise<JsonObject> {
  return (await deps.store.open(await findResponse(id, caller, deps))).reply
}

/** The event source of a running or ended response. */
export async function eventsOfResponse(id: string, caller: Caller, deps: StoredDeps): Promise<EventSource> {
  const response = await findResponse(id, caller, deps)
  if (!response.streamed)
    throw badRequest(
      'the events of this response are not stored: only one created with background and stream can be streamed again',
      'query parameter stream',
    )
  return deps.background.find(id)?.events ?? storedEvents(response, deps.store)
}

/** Deletes a response. A running one is cancelled, and its delivered part is settled. */
export async function deleteResponse(id: string, caller: Caller, deps: StoredDeps): Promise<JsonObject> {
  await findResponse(id, caller, deps)
  await deps.background.find(id)?.cancel()
  if (!(await deps.store.remove(id, caller.workspace.id))) throw unknown()
  return { id, object: 'response', deleted: true }
}

/** Cancels a background response and returns it. Has no effect on one that has ended. */
export async function cancelResponse(id: string, caller: Caller, deps: StoredDeps): Promise<JsonObject> {
  const response = await findResponse(id, caller, deps)
  if (!response.background)
    throw badRequest(
      'Only a response that was created with background can be cancelled; to stop another one, close its connection',
    )
  await deps.background.find(id)?.cancel()
  return getResponse(id, caller, deps)
}

export interface ItemsQuery {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** The id of the item before the first one. */
  readonly after: string | undefined
}

/** The input of a response: earlier turns, then its own input. Each item has an id and a type. */
export async function listInputItems(
  id: string,
  { limit, order, after }: ItemsQuery,
  caller: Caller,
  deps: StoredDeps,
): Promise<JsonObject> {
  const { turns } = await turnsUpTo(await findResponse(id, caller, deps), deps.store)
  const items = inputItemsOf(turns)
  if (order === 'desc') items.reverse()
  const from = after === undefined ? 0 : items.findIndex((item) => item.id === after) + 1
  if (after !== undefined && from === 0)
    throw badRequest(
      'there is no item with this id among the input of this response',
      'query parameter after',
    )
  const data = items.slice(from, from + limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + data.length < items.length,
  }
}

/** Oldest first, each id once: clients that send outputs back have them in several turns. */
function inputItemsOf(turns: readonly Turn[]): (JsonObject & { id: string })[] {
  const items = new Map<string, JsonObject & { id: string }>()
  const last = turns.at(-1)
  for (const turn of turns) {
    const own = turn.input.map((item, index) => shownItem(item, turn.response.id, index))
    const answered = turn === last ? [] : outputItems(turn.reply)
    for (const item of own) if (!items.has(item.id)) items.set(item.id, item)
    for (const item of answered) {
      const itemId = idOf(item)
      if (itemId !== null && !items.has(itemId)) items.set(itemId, { ...item, id: itemId })
    }
  }
  return [...items.values()]
}
