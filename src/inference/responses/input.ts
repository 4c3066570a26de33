import { badRequest, GatewayError, notFound } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import type { RememberedItems } from '../../core/remembered-items.ts'
import type { ResponseStore, StoredResponse } from '../../core/stored-response.ts'
import { isOwnItemId } from '../../dialects/responses/items.ts'
import { INFERENCE_BODY_LIMIT } from '../../http/body.ts'
import { itemsById, itemsOf, ONLY_STORED, type Turn, turnsBefore } from './history.ts'
import { approvalOf, inputItems, isReference, outputItems } from './items.ts'
import type { StateOptions } from './state.ts'

/** The sources of items that a request refers to. */
export interface ItemSources {
  readonly store: ResponseStore
  /** Items of responses that are not stored; null if that is disabled. */
  readonly remembered: RememberedItems | null
}

/** A request with its references resolved. */
export interface ResolvedInput {
  /** The body for the dialect's parser: earlier turns first, references replaced. */
  readonly body: JsonObject
  /** The caller's items with references replaced: the stored input of this turn. */
  readonly own: JsonObject[]
  /** The ids of earlier responses, and the number of their items in the body. */
  readonly turnIds: string[]
  readonly earlierItems: number
}

/**
 * Resolves `previous_response_id` and item references within one workspace. An invalid `input` is left unchanged: the
 * dialect's parser rejects it.
 */
export async function resolveInput(
  body: JsonObject,
  state: StateOptions,
  workspaceId: string,
  sources: ItemSources,
): Promise<ResolvedInput> {
  const items = inputItems(body['input'])
  if (items === null) return { body: withState(body, state), own: [], turnIds: [], earlierItems: 0 }
  const turns =
    state.previousResponseId === null
      ? []
      : await turnsBefore(state.previousResponseId, workspaceId, sources.store)
  const own = await withMadeCalls(await resolved(items, turns, workspaceId, sources), workspaceId, sources)
  const earlier = itemsOf(turns)
  if (earlier.length > 0) checkCalls(earlier, own)
  const isUnchanged = earlier.length === 0 && own.length === items.length && !items.some(isReference)
  return {
    body: withState(isUnchanged ? body : { ...body, input: [...earlier, ...own] }, state),
    own,
    turnIds: turns.map(({ response }) => response.id),
    earlierItems: earlier.length,
  }
}

const callId = (item: JsonObject, kind: RegExp): string | null =>
  kind.test(String(item['type'])) && typeof item['call_id'] === 'string' ? item['call_id'] : null

/** Checks that each call output refers to a call of an earlier turn, or to one before it in the request. */
function checkCalls(earlier: readonly JsonObject[], own: readonly JsonObject[]): void {
  const calls = new Set(earlier.map((item) => callId(item, /_call$/)))
  for (const [index, item] of own.entries()) {
    calls.add(callId(item, /_call$/))
    const answered = callId(item, /_call_output$/)
    if (answered !== null && !calls.has(answered))
      throw badRequest(
        'answers a call that is neither in this request nor in the conversation that it continues',
        `input[${index}].call_id`,
      )
  }
}

/** Sets the effective `store`, which the reply reports: a background response is always stored. */
const withState = (body: JsonObject, { store }: StateOptions): JsonObject =>
  store && body['store'] !== true ? { ...body, store } : body

/** Replaces references by items. Drops repeated references, and those to items of earlier turns. */
async function resolved(
  items: readonly JsonObject[],
  turns: readonly Turn[],
  workspaceId: string,
  sources: ItemSources,
): Promise<JsonObject[]> {
  if (!items.some(isReference)) return [...items]
  const own: JsonObject[] = []
  const stored = storedItems(workspaceId, sources)
  const seen = new Set(turns.flatMap((turn) => [...itemsById(turn).keys()]))
  let references = 0
  for (const [index, item] of items.entries()) {
    if (!isReference(item)) own.push(item)
    else if (!seen.has(item.id)) {
      if (++references > MOST_REFERENCES)
        throw badRequest(`refers to more than ${MOST_REFERENCES} items: send the items themselves`, 'input')
      seen.add(item.id)
      own.push(await stored(item.id, index))
    }
  }
  return own
}

/** Each reference needs a database lookup. */
const MOST_REFERENCES = 2_000

/** Looks up items for one request. Opens each response once. All items together must fit the limit of request bodies. */
function storedItems(workspaceId: string, { store, remembered }: ItemSources) {
  const opened = new Map<string, ReadonlyMap<string, JsonObject>>()
  let characters = 0

  async function openedItems(response: StoredResponse): Promise<ReadonlyMap<string, JsonObject>> {
    const known = opened.get(response.id)
    if (known !== undefined) return known
    const byId = itemsById({ response, ...(await store.open(response)) })
    opened.set(response.id, byId)
    return byId
  }

  async function itemOf(id: string): Promise<JsonObject | null> {
    const item = await remembered?.find(id, workspaceId)
    if (item) return item
    for (const response of await store.withItem(id, workspaceId)) {
      const found = (await openedItems(response)).get(id)
      if (found !== undefined) return found
    }
    return null
  }

  return async (id: string, index: number): Promise<JsonObject> => {
    const item = await itemOf(id)
    if (item === null)
      throw notFound(
        `input[${index}].id: there is no item with this id; ${ONLY_STORED}, others for a short time`,
      )
    characters += JSON.stringify(item).length
    if (characters > INFERENCE_BODY_LIMIT)
      throw badRequest('the referenced items exceed the size of one request', `input[${index}].id`)
    return item
  }
}

/** Matches places in errors of the dialect's parser: `input[5].content: …; input[6]: …`. */
const PLACES = /(^|; )input\[(\d+)\]/g

/**
 * Adds the call of each approval that a stored response has used: an approval is for one call. Without them a request that is
 * sent again would make the call again.
 */
async function withMadeCalls(
  items: JsonObject[],
  workspaceId: string,
  { store }: ItemSources,
): Promise<JsonObject[]> {
  const made = new Set(items.map(approvalOf))
  const unmade = items.flatMap(({ type, approve, approval_request_id: id }) =>
    type === 'mcp_approval_response' && approve === true && isOwnItemId(id) && !made.has(id) ? [id] : [],
  )
  const calls: JsonObject[] = []
  for (const id of new Set(unmade.slice(0, MOST_APPROVALS))) {
    const call = await madeCallOf(id, workspaceId, store)
    if (call !== undefined) calls.push(call)
  }
  return calls.length === 0 ? items : [...items, ...calls]
}

/** More requests for an approval are refused. */
const MOST_APPROVALS = 128

async function madeCallOf(
  id: string,
  workspaceId: string,
  store: ResponseStore,
): Promise<JsonObject | undefined> {
  for (const response of await store.withItem(id, workspaceId)) {
    const { reply, input } = await store.open(response)
    const call = [...outputItems(reply), ...input].find((item) => approvalOf(item) === id)
    if (call !== undefined) return call
  }
  return undefined
}

/** Converts the places in the dialect's error to those in the caller's body. */
export function withCallerPlaces(error: unknown, { earlierItems }: ResolvedInput): unknown {
  if (earlierItems === 0 || !(error instanceof GatewayError)) return error
  const message = error.message.replace(PLACES, (_, before: string, at: string) => {
    const index = Number(at) - earlierItems
    return `${before}${index >= 0 ? `input[${index}]` : 'previous_response_id (an earlier item)'}`
  })
  return new GatewayError(error.status, message, {
    cause: error.cause,
    ...(error.metadata ? { metadata: error.metadata } : {}),
    headers: { ...error.headers },
    refusal: error.refusal,
  })
}
