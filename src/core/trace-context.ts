/** W3C Trace Context: https://www.w3.org/TR/trace-context/ */
import { createHash } from 'node:crypto'

/** The trace that a request belongs to. */
export interface TraceContext {
  /** 32 lower-case hex digits, not all 0. */
  readonly traceId: string
  /** The caller's span, 16 such digits; null: the caller named none. */
  readonly spanId: string | null
  /** `tracestate`; null: none. */
  readonly state: string | null
  /** The caller records the trace. */
  readonly isSampled: boolean
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const INVALID_VERSION = 'ff'
const VERSION = '00'
const LONGEST = 256
const IS_SAMPLED = 1
/** What the specification wants to be passed on. */
const LONGEST_STATE = 512
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)

/**
 * Reads `traceparent` and `tracestate`. Null if the first is malformed: the headers are ignored then, and a new trace
 * begins. Later versions than 00 are read by their first four fields.
 */
export function readTraceparent(traceparent: string, tracestate: string | null): TraceContext | null {
  if (traceparent.length > LONGEST) return null
  const [, version, traceId = NO_TRACE, spanId = NO_SPAN, flags = '', more] = FORM.exec(traceparent) ?? []
  if (version === undefined || version === INVALID_VERSION) return null
  if (version === VERSION && more !== undefined) return null
  if (traceId === NO_TRACE || spanId === NO_SPAN) return null
  return {
    traceId,
    spanId,
    state: stateOf(tracestate),
    isSampled: (Number.parseInt(flags, 16) & IS_SAMPLED) === IS_SAMPLED,
  }
}

const STATE = /^[\x20-\x7e\t]*$/

/** Complete members of the list from its beginning, as many as fit. */
export function stateOf(tracestate: string | null, longest: number = LONGEST_STATE): string | null {
  if (tracestate === null || tracestate.length > 8 * LONGEST_STATE || !STATE.test(tracestate)) return null
  let state = tracestate.trim()
  while (state.length > longest) {
    const comma = state.lastIndexOf(',')
    if (comma === -1) return null
    state = state.slice(0, comma).trimEnd()
  }
  return state === '' ? null : state
}

/** A new trace: its id is made of a request's id, which ends in 32 hex digits of time and chance. */
export const newTrace = (requestId: string): TraceContext => ({
  traceId: requestId.slice(-32),
  spanId: null,
  state: null,
  isSampled: false,
})

/** The same trace, or that of the body's `trace.trace_id`, which takes precedence. */
export function traceNamed(trace: TraceContext, given: unknown): TraceContext {
  if (typeof given !== 'string' || given === '') return trace
  const traceId = traceIdOfText(given)
  return traceId === trace.traceId ? trace : { ...trace, traceId, spanId: null, state: null }
}

/** An id of a trace that a caller wrote: 32 hex digits that are not all 0; any other text is hashed. */
export const traceIdOfText = (given: string): string => idOf(given, 32)
/** The same for a span: 16 hex digits. */
export const spanIdOfText = (given: string): string => idOf(given, 16)

const idOf = (given: string, digits: 16 | 32): string =>
  given.length === digits && /^[0-9a-f]+$/i.test(given) && /[^0]/.test(given)
    ? given.toLowerCase()
    : createHash('sha256').update(given).digest('hex').slice(0, digits)

/** The value of `traceparent` and of `traceresponse`. */
export const traceparentOf = ({ traceId }: TraceContext, spanId: string, isSampled: boolean): string =>
  `${VERSION}-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
