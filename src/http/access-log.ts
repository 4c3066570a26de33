/** The access log: one line per request. */
import type { Refusal } from '../core/refusal.ts'
import { isHealthCheck } from './health.ts'
import type { Incoming } from './incoming.ts'

/** The destination of access log lines. */
export interface AccessLog {
  /** Writes one line with these JSON members, if the log level includes it. */
  request(members: string): void
}

/**
 * Writes the lines in pino's format, each as one string. This is seven times faster than pino, and there is a line for
 * every request.
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

/** Characters that need no escape in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/

/** A text as JSON. */
export const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

/** A number as JSON; null for NaN and infinity. */
export const numeral = (value: number): number | null => (Number.isFinite(value) ? value : null)

/**
 * Adds the fields of the settled generation to the request's line. False if that line has been written, so that the
 * generation needs its own line.
 */
export function noteSettled(incoming: Incoming, members: string): boolean {
  if (incoming.isClosed) return false
  incoming.settled = members
  incoming.isDeferred = false
  return true
}

/** Defers the request's line until its generation is settled. */
export const deferLine = (incoming: Incoming): void => {
  incoming.isDeferred = incoming.settled === ''
}

/** Suppresses the request's line. */
export const dropLine = (incoming: Incoming): void => {
  incoming.isClosed = true
}

/** Writes the line, unless its generation will. */
export function logRequest(log: AccessLog, incoming: Incoming, status: number): void {
  incoming.isClosed = true
  // Health checks arrive every few seconds and carry no information.
  if (incoming.isDeferred || isHealthCheck(incoming.path)) return
  const { id, trace, request, path, arrivedAt, keyLabel, userId, settled, refusal, param } = incoming
  const totalMs = Math.round((performance.now() - arrivedAt) * 10) / 10
  const key = keyLabel === null ? '' : `,"key":${quoted(keyLabel)}`
  const user = userId === null ? '' : `,"user":${quoted(userId)}`
  const generation = settled === '' ? '' : `,${settled}`
  const fault = param === null ? '' : `,"param":${quoted(withoutKeys(param))}`
  log.request(
    `"request_id":"${id}","trace_id":"${trace.traceId}","method":${quoted(request.method)},"path":${quoted(shown(path))},` +
      `"status":${status},"total_ms":${totalMs}${key}${user}${refusal === null ? '' : refusalMembers(refusal, settled === '' ? incoming.model : null)}${fault}${generation}`,
  )
}

function refusalMembers({ reason, gate, guardrail }: Refusal, model: string | null): string {
  const named = model === null ? '' : `,"model":${quoted(withoutKeys(model))}`
  const ofGate = gate === undefined ? '' : `,"gate":${quoted(gate)}`
  const ofGuardrail = guardrail === undefined ? '' : `,"guardrail":${quoted(guardrail)}`
  return `,"refused":"${reason}"${named}${ofGate}${ofGuardrail}`
}

/** A name in the caller's words: a key in its place is not written. */
const withoutKeys = (name: string): string => name.slice(0, LONGEST_NAME).replace(ANY_KEY, '…')

const LONGEST_NAME = 100
/** A key of any vendor. */
const ANY_KEY = /\b(?:sk|pk|key)-[\w-]{12,}/g
const LONGEST_PATH = 200
/** A Sluice key in a path, sent by mistake instead of its hash. */
const KEY = /(sk-sl-(?:mgmt-)?v1-)\w+/g
/** A bootstrap key may look like a hash, so hashes are truncated to the length that the command line shows. */
const LONG_HASH = /(\/keys\/(?!sk-sl-)[^/]{12})[^/]+/g

const shown = (path: string): string =>
  path.replace(KEY, '$1…').replace(LONG_HASH, '$1…').slice(0, LONGEST_PATH)
