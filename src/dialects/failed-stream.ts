import { GatewayError } from '../core/errors.ts'
import type { PublicError } from '../core/result.ts'

/**
 * Clients built on an EventSource (async-openai up to 0.29 and others on reqwest-eventsource) connect again after
 * every end without a terminal marker, for ever, and each time pay for a new answer. They return the last event id in
 * `Last-Event-ID`. So the last event of a stream that ends with an error has an id, which holds the error, and a request that
 * returns it is refused with a 400, after which these clients stop.
 */
const PREFIX = 'failed.'
/** Characters of the message that the id carries: a header has to hold it. */
const MAX_MESSAGE_CHARACTERS = 300
const MAX_ID_CHARACTERS = 4096

/**
 * An event that has only an id, which the events after it inherit. It is an event of its own because some readers
 * expect `data:` alone in the events that have data.
 */
export function failureIdEvent({ status, message }: PublicError): string {
  const text = JSON.stringify({ status, message: message.slice(0, MAX_MESSAGE_CHARACTERS) })
  return `id: ${PREFIX}${Buffer.from(text.toWellFormed()).toString('base64url')}\n\n`
}

/** Throws a `GatewayError` 400 for a request to resume a stream, which these routes do not support. */
export function refuseResumption(headers: Headers): void {
  const id = headers.get('last-event-id')
  if (!id) return
  const failure = failureOf(id)
  const reason = failure ? `it ended with an error (${failure})` : 'streams of this route cannot be resumed'
  throw new GatewayError(
    400,
    `Last-Event-ID: the stream cannot be resumed: ${reason}. To start a new answer, send the request without this header.`,
  )
}

function failureOf(id: string): string | null {
  if (!id.startsWith(PREFIX) || id.length > MAX_ID_CHARACTERS) return null
  try {
    const failure: unknown = JSON.parse(Buffer.from(id.slice(PREFIX.length), 'base64url').toString())
    if (typeof failure !== 'object' || failure === null) return null
    if (!('status' in failure && 'message' in failure)) return null
    const { status, message } = failure
    return typeof status === 'number' && typeof message === 'string' ? `${status}: ${message}` : null
  } catch {
    return null
  }
}
