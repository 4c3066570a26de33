/** The outermost layer: the first step of every request and the last of every reply. */
import { badRequest, type GatewayError, unavailable } from '../core/errors.ts'
import { DRAINING } from '../core/refusal.ts'
import { type AccessLog, dropLine, logRequest } from './access-log.ts'
import { type BodyBudget, closeBody, leaseBody } from './body-budget.ts'
import { namesKey } from './caller.ts'
import { createCors } from './cors.ts'
import { type ErrorLog, errorResponse, type FormOf, logFailure, publicError } from './envelope.ts'
import { isHealthCheck } from './health.ts'
import { type Connection, type Incoming, limitIdle, openIncoming } from './incoming.ts'
import { pathProblem } from './path.ts'
import type { WrongKeys } from './wrong-keys.ts'

/** `connection`: the listening server; absent when a request comes without a connection. */
export type Handler = (request: Request, connection?: Connection) => Response | Promise<Response>

export interface EdgeDeps {
  log: ErrorLog
  accessLog: AccessLog
  bodies: BodyBudget
  corsOrigins: readonly string[]
  wrongKeys: Pick<WrongKeys, 'count'>
  /** Called for a request that the gateway refused. */
  onRefused(incoming: Incoming): void
  /** The client's address; null if unknown. */
  addressOf(incoming: Incoming): string | null
}

export interface EdgeOptions {
  /** True during shutdown: all requests except health checks are rejected. */
  isDraining(): boolean
  /** Served during shutdown too, and logged only if it is refused; absent: none. */
  metricsPath?: string
  /** The error format of routes with another API's format. */
  formOf?: FormOf
}

/** Retry-After during a shutdown: long enough for a replacement process to start. */
const RETRY_AFTER_SECONDS = 5

/** Wraps the application. The result never throws, and its replies have a request id and security headers. */
export function withEdge(
  next: (incoming: Incoming) => Response | Promise<Response>,
  deps: EdgeDeps,
  { isDraining, metricsPath, formOf }: EdgeOptions,
): Handler {
  const cors = createCors(deps.corsOrigins)
  const hostProblem = createHostCheck()
  return async (request, connection) => {
    const incoming = openIncoming(request, leaseBody(deps.bodies), connection)
    let response: Response
    try {
      const refusal =
        hostProblem(request) ??
        pathProblem(incoming.path) ??
        (incoming.path === metricsPath ? null : drainProblem(incoming, isDraining))
      const reply =
        refusal === null
          ? (cors.preflight(request) ?? (await next(incoming)))
          : errorResponse(refusal, incoming, formOf)
      response = finished(reply, incoming)
    } catch (thrown) {
      const failure = publicError(thrown)
      logFailure(deps.log, failure, incoming)
      response = finished(errorResponse(failure, incoming, formOf), incoming)
    }
    closeBody(incoming.body)
    limitIdle(incoming)
    if (incoming.refusal !== null) deps.onRefused(incoming)
    cors.mark(request, response)
    const isScrape = incoming.path === metricsPath && response.ok
    if (isScrape || isFlood(response, incoming, deps)) dropLine(incoming)
    else logRequest(deps.accessLog, incoming, response.status)
    return response
  }
}

const drainProblem = ({ path }: Incoming, isDraining: () => boolean): GatewayError | null =>
  isDraining() && !isHealthCheck(path)
    ? unavailable('The gateway is shutting down', RETRY_AFTER_SECONDS, DRAINING)
    : null

/** Adds the common headers to replies that do not have them yet. */
function finished(response: Response, { id, isHeaded }: Incoming): Response {
  if (isHeaded) return response
  const { headers } = response
  headers.set('x-request-id', id)
  headers.set('x-content-type-options', 'nosniff')
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  return response
}

/** True for a request with a wrong key that only the summary of its minute logs. */
const isFlood = ({ status }: Response, incoming: Incoming, { wrongKeys, addressOf }: EdgeDeps): boolean =>
  status === 401 && namesKey(incoming.request) && !wrongKeys.count(addressOf(incoming))

// A name (underscores included, which containers use) or an address, with an optional port.
const WELL_FORMED = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::(\d{1,5}))?$/
const LAST_PORT = 65_535

/**
 * Rejects an invalid Host header: with it, Bun's `request.url` and Elysia's path differ, and a route could be reached
 * under a wrong path. Two Host headers are joined by a comma and therefore rejected. Without one (HTTP/1.0) the URL must
 * be absolute. Caches the last valid host: nearly all requests have the same one.
 */
function createHostCheck(): (request: Request) => GatewayError | null {
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
