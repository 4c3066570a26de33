/** One line for each request. */
import { isHealthCheck } from './health.ts'
import { requestIdOf } from './request-id.ts'

export interface AccessLog {
  info(fields: object, message: string): void
}

/** A key of ours that somebody has put where its hash belongs. */
const KEY = /(sk-sl-(?:mgmt-)?v1-)\w+/g

const notes = new WeakMap<Request, Record<string, unknown>>()
const deferred = new WeakSet<Request>()

/** Adds fields to this request's line. Never a secret, never a prompt. */
export function note(request: Request, fields: Record<string, unknown>): void {
  notes.set(request, { ...notes.get(request), ...fields })
}

/** This request's line is written elsewhere, once its stream has ended. */
export const deferLine = (request: Request): void => {
  deferred.add(request)
}

export function logRequest(log: AccessLog, request: Request, response: Response, totalMs: number): void {
  if (deferred.has(request)) return
  // They come every few seconds and say nothing.
  if (isHealthCheck(request)) return
  const path = URL.parse(request.url)?.pathname ?? ''
  log.info(
    {
      request_id: requestIdOf(request),
      method: request.method,
      path: path.replace(KEY, '$1…').slice(0, 200),
      status: response.status,
      total_ms: Math.round(totalMs * 10) / 10,
      ...notes.get(request),
    },
    'request',
  )
}
