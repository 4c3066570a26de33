/** One line for each request. */
import { isHealthCheck } from './health.ts'
import { pathOf } from './path.ts'
import { requestIdOf } from './request-id.ts'

export interface AccessLog {
  info(fields: object, message: string): void
}

/** A key of ours that somebody has put where its hash belongs. */
const KEY = /(sk-sl-(?:mgmt-)?v1-)\w+/g
/** The same of a key of the settings, which may look like a hash: as much is told as the command line shows of one. */
const LONG_HASH = /(\/keys\/(?!sk-sl-)[^/]{12})[^/]+/g

const notes = new WeakMap<Request, Record<string, unknown>>()
/** Requests whose line is still to come, by their id. */
const awaited = new Map<string, Request>()
const settled = new WeakSet<Request>()
const deferred = new WeakSet<Request>()

/** Every request begins with this and ends with `logRequest` or `dropLine`. */
export const awaitLine = (request: Request): void => {
  awaited.set(requestIdOf(request), request)
}

/** This request has no line. */
export const dropLine = (request: Request): void => {
  awaited.delete(requestIdOf(request))
}

/** Adds fields to this request's line. Never a secret, never a prompt. */
export function note(request: Request, fields: Record<string, unknown>): void {
  notes.set(request, { ...notes.get(request), ...fields })
}

/** Adds what its generation came to; false: the line is not awaited (any more), so that a line of its own is due. */
export function noteSettled(requestId: string, fields: Record<string, unknown>): boolean {
  const request = awaited.get(requestId)
  if (request === undefined) return false
  note(request, fields)
  settled.add(request)
  deferred.delete(request)
  return true
}

/** The line of a request whose generation is not settled yet is written once its stream has ended. */
export const deferLine = (request: Request): void => {
  if (!settled.has(request)) deferred.add(request)
}

export function logRequest(log: AccessLog, request: Request, response: Response, totalMs: number): void {
  dropLine(request)
  if (deferred.has(request)) return
  // They come every few seconds and say nothing.
  if (isHealthCheck(request)) return
  log.info(
    {
      request_id: requestIdOf(request),
      method: request.method,
      path: pathOf(request.url).replace(KEY, '$1…').replace(LONG_HASH, '$1…').slice(0, 200),
      status: response.status,
      total_ms: Math.round(totalMs * 10) / 10,
      ...notes.get(request),
    },
    'request',
  )
}
