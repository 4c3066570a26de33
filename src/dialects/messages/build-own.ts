import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Traits } from '../claude.ts'
import { hasUnsignedTurn } from '../claude-thinking.ts'
import { forwardedMessages } from './forwarded-messages.ts'
import { NOT_SENT, unservedOf } from './gateway-fields.ts'
import { type Drop, isText } from './marks.ts'
import { messagesBody } from './schema.ts'

/**
 * The body of a caller of this dialect for a provider of it: what the caller sent, unknown fields at every level
 * included, but for what is the gateway's. Thoughts and citations of other providers, which the gateway had sealed,
 * are taken out. Never changes `request`.
 */
export function ownBody(
  request: InferenceRequest,
  attempt: Attempt,
  traits: Traits,
  bound: number,
  drop: Drop,
): JsonObject {
  const { messages, hasLostThoughts } = forwardedMessages(request.body.messages, drop)
  const body: JsonObject = { ...forwardedFields(request.body), model: attempt.endpoint.upstreamId, messages }
  if (request.stream) body.stream = true
  applyUser(body, request)
  applyBound(body, request, bound, drop)
  if (hasLostThoughts && isBudgeted(body) && hasUnsignedTurn(request.messages)) {
    // The API thinks on only where a turn of calls begins with the thoughts that led to it.
    delete body.thinking
    drop('thinking')
  }
  for (const name of traits.takesSampling ? [] : SAMPLING) {
    if (body[name] === undefined) continue
    delete body[name]
    drop(name)
  }
  for (const name of unservedOf(request.body)) drop(name)
  return body
}

const SAMPLING = ['temperature', 'top_p', 'top_k']

/** Of fields that we know a null means the same as absent, and the API refuses some of them. */
function forwardedFields(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => {
      if (name === 'fallbacks') return isString(value)
      return !NOT_SENT.has(name) && !(value === null && Object.hasOwn(messagesBody.properties, name))
    }),
  )
}

/** The gateway's `user` is the API's `metadata.user_id`. */
function applyUser(body: JsonObject, { user }: InferenceRequest): void {
  const metadata = isObject(body.metadata) ? body.metadata : {}
  if (user !== undefined && !isText(metadata.user_id)) body.metadata = { ...metadata, user_id: user }
}

const isBudgeted = ({ thinking }: JsonObject): boolean => isObject(thinking) && thinking.type === 'enabled'

const LEAST_BUDGET = 1_024

/** Where the caller set no bound, ours must leave room for the budget that it set. */
function applyBound(body: JsonObject, request: InferenceRequest, bound: number, drop: Drop): void {
  const { thinking } = body
  body.max_tokens = bound
  if (request.maxOutputTokens !== undefined || !isObject(thinking) || !isBudgeted(body)) return
  if (Number(thinking.budget_tokens) < bound) return
  drop('thinking.budget_tokens')
  if (bound > LEAST_BUDGET) body.thinking = { ...thinking, budget_tokens: bound - 1 }
  else delete body.thinking
}
