import { traceparentOf } from '../core/trace-context.ts'
import type { Incoming } from './incoming.ts'

/** The content type of Bun's `Response.json`. */
export const JSON_TYPE = 'application/json;charset=utf-8'

/**
 * The common headers of every reply, and its content type, for creating a `Response`. The edge then adds none: accessing
 * the headers of a `Response` costs as much as creating it.
 */
export function replyHeaders(incoming: Incoming, contentType: string): Record<string, string> {
  incoming.isHeaded = true
  return {
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': incoming.id,
  }
}

/** The value of `traceresponse` (Trace Context, level 2) of a request that no destination gets a span of. */
export const traceresponseOf = ({ id, trace }: Incoming): string =>
  traceparentOf(trace, id.slice(-SPAN_DIGITS), false)

const SPAN_DIGITS = 16
