import type { Incoming } from './incoming.ts'

/** As Bun names it in `Response.json`. */
export const JSON_TYPE = 'application/json;charset=utf-8'

/**
 * The headers that every reply has, and its content type, in one object with which the `Response` is made. The door
 * adds none then: touching the headers of a finished `Response` costs as much as making it.
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
