import { badRequest, type GatewayError } from '../core/errors.ts'

// A name (underscores included, which containers use) or an address, with an optional port.
const WELL_FORMED = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::(\d{1,5}))?$/
const LAST_PORT = 65_535

/**
 * Rejects an invalid Host header: with it, Bun's `request.url` and Elysia's path differ, and a route could be reached
 * under a wrong path. Two Host headers are joined by a comma and therefore rejected. Without one (HTTP/1.0) the URL must
 * be absolute. Caches the last valid host: nearly all requests have the same one.
 */
export function createHostCheck(): (request: Request) => GatewayError | null {
  let lastGood = ''
  return (request) => {
    const host = request.headers.get('host')
    if (host !== null && host !== '' && host === lastGood) return null
    const isGood = host === null ? URL.canParse(request.url) : isWellFormed(host)
    if (!isGood)
      return badRequest(
        'The Host header is missing or malformed: one host name or address is expected, perhaps with a port',
      )
    lastGood = host ?? ''
    return null
  }
}

function isWellFormed(host: string): boolean {
  const match = WELL_FORMED.exec(host)
  return match !== null && Number(match[1] ?? 0) <= LAST_PORT
}
