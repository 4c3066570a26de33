import type { JsonObject } from '../../core/events.ts'
import { isFinal, isResponseStatus, type ResponseStatus } from '../../core/response-status.ts'
import type { Ending } from '../reply/meter.ts'

/** A stored reply: its status, and the Response object with it. */
export interface StoredReply {
  readonly status: ResponseStatus
  readonly reply: JsonObject
}

/** The status of a reply that has ended: its own, or `cancelled` after a client disconnect or a cancellation. */
export function storedReply(ending: Ending, reply: JsonObject): StoredReply {
  if (ending === 'disconnected') return { status: 'cancelled', reply: cancelled(reply) }
  const { status } = reply
  if (isResponseStatus(status) && isFinal(status)) return { status, reply }
  return { status: 'failed', reply: failed(reply, 'The reply was truncated') }
}

/** The reply of a response that has not started. `from` has the fields that repeat the request. */
export function queued(from: JsonObject): JsonObject {
  // The response has not been routed.
  const { service_metadata: _, openrouter_metadata: __, ...rest } = unanswered(from)
  return { ...rest, status: 'queued', output: [] }
}

export const inProgress = (reply: JsonObject): JsonObject => ({ ...reply, status: 'in_progress' })

/** Keeps the output so far. */
const cancelled = (reply: JsonObject): JsonObject => ({ ...unanswered(reply), status: 'cancelled' })

export const failed = (reply: JsonObject, message: string): JsonObject => ({
  ...unanswered(reply),
  status: 'failed',
  error: serverError(message),
})

/** The `error` field of the Response object, with an error code of the Responses API. */
const serverError = (message: string): JsonObject => ({ code: 'server_error', message })

function unanswered(reply: JsonObject): JsonObject {
  const { error_type: _, ...rest } = reply
  return { ...rest, error: null, completed_at: null, incomplete_details: null }
}
