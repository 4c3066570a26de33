/** One line for each request. */
import { isHealthCheck } from './health.ts'
import type { Incoming } from './incoming.ts'

/** Where lines of requests go. */
export interface AccessLog {
  /** Writes one line with these JSON members, unless the level of the log leaves it out. */
  request(members: string): void
}

/**
 * Writes the lines in pino's format, as one string each: a line by pino's own way costs seven times as much, and there
 * is one for every request.
 */
export function createAccessLog(isEnabled: () => boolean, write: (line: string) => void): AccessLog {
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

  return {
    request(members) {
      if (isEnabled()) write(`{"level":30,"time":"${isoNow()}",${members},"msg":"request"}\n`)
    },
  }
}

/** Letters that JSON has as they are. */
const PLAIN = /^[ !#-[\]-~]*$/

/** A text as JSON. */
export const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

/** A number as JSON, which knows neither NaN nor infinity. */
export const numeral = (value: number): number | null => (Number.isFinite(value) ? value : null)

/**
 * What its generation came to, as JSON members for the request's line. False: that line is written already, so that a
 * line of its own is due.
 */
export function noteSettled(incoming: Incoming, members: string): boolean {
  if (incoming.isClosed) return false
  incoming.settled = members
  incoming.isDeferred = false
  return true
}

/** The line of a request whose generation is not settled yet is written once its stream has ended. */
export const deferLine = (incoming: Incoming): void => {
  incoming.isDeferred = incoming.settled === ''
}

/** This request has no line. */
export const dropLine = (incoming: Incoming): void => {
  incoming.isClosed = true
}

/** Writes the line, unless its generation will. */
export function logRequest(log: AccessLog, incoming: Incoming, status: number): void {
  incoming.isClosed = true
  // Health checks arrive every few seconds and carry no information.
  if (incoming.isDeferred || isHealthCheck(incoming.path)) return
  const { id, request, path, arrivedAt, keyLabel, userId, settled } = incoming
  const totalMs = Math.round((performance.now() - arrivedAt) * 10) / 10
  const key = keyLabel === null ? '' : `,"key":${quoted(keyLabel)}`
  const user = userId === null ? '' : `,"user":${quoted(userId)}`
  const generation = settled === '' ? '' : `,${settled}`
  log.request(
    `"request_id":"${id}","method":${quoted(request.method)},"path":${quoted(shown(path))},` +
      `"status":${status},"total_ms":${totalMs}${key}${user}${generation}`,
  )
}

const LONGEST_PATH = 200
/** A Sluice key in a path, where its hash belongs. */
const KEY = /(sk-sl-(?:mgmt-)?v1-)\w+/g
/** A bootstrap key may look like a hash, so long hex words are cut to the length that the command line shows. */
const LONG_HASH = /(\/keys\/(?!sk-sl-)[^/]{12})[^/]+/g

const shown = (path: string): string =>
  path.replace(KEY, '$1…').replace(LONG_HASH, '$1…').slice(0, LONGEST_PATH)
