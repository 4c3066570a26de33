import type { JsonObject } from '../../core/events.ts'
import { isFinal, isResponseStatus, type ResponseStatus } from '../../core/response-status.ts'
import type { Ending } from '../reply/meter.ts'

/** How a reply is kept: its status, and the Response object that says it. */
export interface KeptReply {
  readonly status: ResponseStatus
  readonly reply: JsonObject
}

/** The status of a reply that has ended: its own word, but one whose caller left or that was stopped is cancelled. */
export function keptReply(ending: Ending, reply: JsonObject): KeptReply {
  if (ending === 'disconnected') return { status: 'cancelled', reply: cancelled(reply) }
  const { status } = reply
  if (isResponseStatus(status) && isFinal(status)) return { status, reply }
  return { status: 'failed', reply: failed(reply, 'The answer broke off') }
}

/** A reply that has not begun: as it is before anything was said. `from` has the fields that repeat the request. */
export function queued(from: JsonObject): JsonObject {
  // Nothing was routed yet.
  const { service_metadata: _, openrouter_metadata: __, ...rest } = unanswered(from)
  return { ...rest, status: 'queued', output: [] }
}

export const inProgress = (reply: JsonObject): JsonObject => ({ ...reply, status: 'in_progress' })

/** What was said until then stays. */
const cancelled = (reply: JsonObject): JsonObject => ({ ...unanswered(reply), status: 'cancelled' })

export const failed = (reply: JsonObject, message: string): JsonObject => ({
  ...unanswered(reply),
  status: 'failed',
  error: serverError(message),
})

/** A field of the Response object, in the words of the Responses API. */
const serverError = (message: string): JsonObject => ({ code: 'server_error', message })

function unanswered(reply: JsonObject): JsonObject {
  const { error_type: _, ...rest } = reply
  return { ...rest, error: null, completed_at: null, incomplete_details: null }
}
