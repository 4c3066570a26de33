/** Calls from web pages of other origins (Fetch Standard, CORS protocol): with a key in a header, never with cookies. */

export interface Cors {
  /** The reply to a preflight request; null for any other request. */
  preflight(request: Request): Response | null
  /** Adds the headers that let the page read a reply, including errors and streams. */
  mark(request: Request, response: Response): void
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
/** Allowed if a preflight requests no headers. All requested headers are allowed: SDKs add dozens (`x-stainless-…`). */
const USUAL_HEADERS =
  'authorization, content-type, x-api-key, x-goog-api-key, anthropic-version, anthropic-beta, ' +
  'anthropic-dangerous-direct-browser-access, idempotency-key, http-referer, x-title, x-session-id, x-service-metadata, traceparent, ' +
  'tracestate'
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/
const LONGEST_HEADER_NAMES = 4_096
/** A day; Chrome caches it for at most two hours. */
const MAX_AGE_SECONDS = '86400'

const EXPOSED = [
  'x-generation-id',
  'x-request-id',
  'request-id',
  'traceresponse',
  'retry-after',
  'x-should-retry',
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'idempotent-replayed',
  ...['x-openrouter-cache', 'x-service-cache'].flatMap((name) =>
    ['status', 'age', 'ttl', 'source-id'].map((part) => `${name}-${part}`),
  ),
  'content-disposition',
].join(', ')

/** `origins`: as in the `Origin` header; `*` allows every origin. Empty: CORS is off. */
export function createCors(origins: readonly string[]): Cors {
  const isOpen = origins.includes('*')
  const known = new Set(origins)
  const allowed = (request: Request): string | null => {
    const origin = request.headers.get('origin')
    if (origin === null) return null
    return isOpen ? '*' : known.has(origin.toLowerCase()) ? origin : null
  }
  return {
    preflight(request) {
      if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return null
      if (allowed(request) === null) return null
      const asked = request.headers.get('access-control-request-headers') ?? ''
      const isList = asked.length <= LONGEST_HEADER_NAMES && HEADER_NAMES.test(asked)
      const headers = new Headers({
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': isList ? asked : USUAL_HEADERS,
        'access-control-max-age': MAX_AGE_SECONDS,
        vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
      })
      // A public page calls a gateway in a private network.
      if (request.headers.get('access-control-request-private-network') === 'true')
        headers.set('access-control-allow-private-network', 'true')
      return new Response(null, { status: 204, headers })
    },
    mark(request, response) {
      if (known.size === 0) return
      const { headers } = response
      headers.append('vary', 'Origin')
      const origin = allowed(request)
      if (origin === null) return
      headers.set('access-control-allow-origin', origin)
      headers.set('access-control-expose-headers', EXPOSED)
    },
  }
}
