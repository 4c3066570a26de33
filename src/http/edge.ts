/** What every request passes first and every reply last: request id, checks of host and path, security headers. */
import type { GatewayError } from '../core/errors.ts'
import { type ErrorLog, errorResponse, type FormOf, logFailure, publicError } from './envelope.ts'
import { hostProblem } from './host.ts'
import { pathProblem } from './path.ts'
import { requestIdOf } from './request-id.ts'

export type Handler = (request: Request) => Response | Promise<Response>

export interface EdgeOptions {
  log: ErrorLog
  /** A reason to refuse any request now (draining, too much in flight); null: none. */
  refuse?: (request: Request) => GatewayError | null
  /** Routes whose errors have a form of their own. */
  formOf?: FormOf
}

/** Wraps the application's `fetch`. The result never throws and always answers with an id and safe headers. */
export function withEdge(next: Handler, { log, refuse, formOf }: EdgeOptions): Handler {
  return async function edge(request) {
    const refusal = hostProblem(request) ?? pathProblem(request) ?? refuse?.(request) ?? null
    if (refusal !== null) return finished(errorResponse(refusal, request, formOf), request)
    try {
      return finished(await next(request), request)
    } catch (thrown) {
      const failure = publicError(thrown)
      logFailure(log, failure, request)
      return finished(errorResponse(failure, request, formOf), request)
    }
  }
}

function finished(response: Response, request: Request): Response {
  const { headers } = response
  headers.set('x-request-id', requestIdOf(request))
  headers.set('x-content-type-options', 'nosniff')
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  return response
}
