import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { asList, isObject, isString } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { ITEM, isOwnItemId } from '../../dialects/responses/items.ts'
import { MOST_ARGUMENT_CHARACTERS, type WrittenCall } from './written-call.ts'

/** A call that the user has approved and that is not made yet. */
export interface ApprovedCall extends WrittenCall {
  /** And its id. */
  readonly approvalRequestId: string
}

/** What the items of a request say about calls that needed an approval. */
export interface Approvals {
  /** Made before the model is asked again. */
  readonly approved: readonly ApprovedCall[]
  /** What the model reads about the calls that are not made, by the id of their request. */
  readonly results: ReadonlyMap<string, string>
}

/** The name of the function for a tool of a server; undefined: the request has none. */
type FunctionOf = (label: unknown, tool: unknown) => string | undefined

const NONE: Approvals = { approved: [], results: new Map() }
const MOST_REQUESTS = 128
const MOST_REASON_CHARACTERS = 1_000
const UNANSWERED = 'The call was not made: the user has not approved it.'

/**
 * Reads `mcp_approval_request` and `mcp_approval_response` items. A call whose `mcp_call` item follows was made in a former
 * turn. Throws a `GatewayError` 400 with the place for a response without its request, and for an approved call of a tool
 * that the request does not have.
 */
export function approvalsOf({ dialect, body }: InferenceRequest, functionOf: FunctionOf): Approvals {
  if (dialect !== 'responses') return NONE
  const items = itemsOf(body)
  const made = new Set(
    items.map(({ item }) => (item.type === ITEM.mcpCall ? item.approval_request_id : null)),
  )
  const requests = new Map(
    items.flatMap(({ item }) => (item.type === ITEM.mcpApprovalRequest ? [[item.id, item] as const] : [])),
  )
  if (requests.size > MOST_REQUESTS)
    throw badRequest(`has more than ${MOST_REQUESTS} requests for an approval`, 'input')
  const approved: ApprovedCall[] = []
  const results = new Map<string, string>()
  for (const id of requests.keys()) if (isString(id) && !made.has(id)) results.set(id, UNANSWERED)
  for (const { item, place } of items) {
    const { type, approval_request_id: id, approve, reason } = item
    if (type !== ITEM.mcpApprovalResponse) continue
    const request = requests.get(id)
    if (!isString(id) || request === undefined)
      throw badRequest('must be the id of an mcp_approval_request item', `${place}.approval_request_id`)
    if (typeof approve !== 'boolean') throw badRequest('must be true or false', `${place}.approve`)
    if (results.get(id) !== UNANSWERED) continue
    results.set(id, approve ? '' : refusalWith(reason))
    if (approve) approved.push({ ...writtenIn(request, place, functionOf), approvalRequestId: id })
  }
  return { approved, results }
}

/** A request without the server whose call waits for an approval would leave the answer unread. */
export function checkApprovals({ dialect, body }: InferenceRequest): void {
  if (dialect !== 'responses') return
  const lost = itemsOf(body).find(
    ({ item }) => item.type === ITEM.mcpApprovalResponse && isOwnItemId(item.approval_request_id),
  )
  if (lost !== undefined)
    throw badRequest('answers an MCP server of this gateway that is not among tools', lost.place)
}

/** Items of earlier turns come first where a request continues a stored response: the caller's own have other places then. */
const itemsOf = ({ input, previous_response_id }: JsonObject): { item: JsonObject; place: string }[] =>
  asList(input).flatMap((item, i) =>
    isObject(item) ? [{ item, place: previous_response_id ? 'input' : `input[${i}]` }] : [],
  )

function writtenIn(request: JsonObject, place: string, functionOf: FunctionOf): WrittenCall {
  const { id, server_label, name, arguments: json } = request
  const own = functionOf(server_label, name)
  if (own === undefined)
    throw badRequest(
      `approves a call of ${JSON.stringify(String(name).slice(0, 60))}, which no MCP server among tools has`,
      place,
    )
  if (!isString(json)) throw badRequest('approves a call without arguments', place)
  const isTooLong = json.length > MOST_ARGUMENT_CHARACTERS
  return { id: String(id), name: own, json: isTooLong ? '{}' : json, isTooLong }
}

const refusalWith = (reason: unknown): string =>
  isString(reason) && reason !== ''
    ? `The call was not made: the user refused it, because: ${reason.slice(0, MOST_REASON_CHARACTERS)}`
    : 'The call was not made: the user refused it.'
