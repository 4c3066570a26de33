/** One line for each request. */
import { isHealthCheck } from './health.ts'
import { pathOf } from './path.ts'
import { requestIdOf } from './request-id.ts'

/** Where lines of requests go. */
export interface AccessLog {
  /** Writes one line with these fields, unless the level of the log leaves it out. */
  request(fields: object): void
}

/**
 * Writes the lines in pino's format, as one string each: a line by pino's own way costs seven times as much, and there
 * is one for every request.
 */
export const createAccessLog = (isEnabled: () => boolean, write: (line: string) => void): AccessLog => ({
  request(fields) {
    if (isEnabled())
      write(`{"level":30,"time":"${isoNow()}",${JSON.stringify(fields).slice(1, -1)},"msg":"request"}\n`)
  },
})

let second = 0
let secondText = ''

/** The time as pino writes it; the date is formatted once a second. */
function isoNow(): string {
  const now = Date.now()
  const current = Math.floor(now / 1000)
  if (current !== second) {
    second = current
    secondText = new Date(current * 1000).toISOString().slice(0, 20)
  }
  return `${secondText}${String(now - current * 1000).padStart(3, '0')}Z`
}

/** A key of ours that somebody has put where its hash belongs. */
const KEY = /(sk-sl-(?:mgmt-)?v1-)\w+/g
/** The same of a key of the settings, which may look like a hash: as much is told as the command line shows of one. */
const LONG_HASH = /(\/keys\/(?!sk-sl-)[^/]{12})[^/]+/g

/** What a request's line will say, and whether it waits for the end of its generation. */
interface Line {
  readonly requestId: string
  readonly fields: Record<string, unknown>
  isSettled: boolean
  isDeferred: boolean
}

const lines = new WeakMap<Request, Line>()
/** Lines that are still to be written, by the id of their request: generations end under it. */
const awaited = new Map<string, Line>()

/** Every request begins with this and ends with `logRequest` or `dropLine`. */
export function awaitLine(request: Request): void {
  const line = { requestId: requestIdOf(request), fields: {}, isSettled: false, isDeferred: false }
  lines.set(request, line)
  awaited.set(line.requestId, line)
}

/** This request has no line. */
export function dropLine(request: Request): void {
  awaited.delete(requestIdOf(request))
}

/** Adds fields to this request's line. Never a secret, never a prompt. */
export function note(request: Request, fields: Record<string, unknown>): void {
  const line = lines.get(request)
  if (line !== undefined) Object.assign(line.fields, fields)
}

/** Adds what its generation came to; false: the line was written already, so that a line of its own is due. */
export function noteSettled(requestId: string, fields: Record<string, unknown>): boolean {
  const line = awaited.get(requestId)
  if (line === undefined) return false
  Object.assign(line.fields, fields)
  line.isSettled = true
  line.isDeferred = false
  return true
}

/** The line of a request whose generation is not settled yet is written once its stream has ended. */
export function deferLine(request: Request): void {
  const line = lines.get(request)
  if (line !== undefined) line.isDeferred = !line.isSettled
}

export function logRequest(log: AccessLog, request: Request, response: Response, totalMs: number): void {
  const line = lines.get(request)
  dropLine(request)
  // Health checks come every few seconds and say nothing.
  if (line?.isDeferred || isHealthCheck(request)) return
  log.request({
    request_id: requestIdOf(request),
    method: request.method,
    path: pathOf(request.url).replace(KEY, '$1…').replace(LONG_HASH, '$1…').slice(0, 200),
    status: response.status,
    total_ms: Math.round(totalMs * 10) / 10,
    ...line?.fields,
  })
}
