/** OpenTelemetry's spans, as both encodings of OTLP write them. */
import { jsonText } from '../json-text.ts'

/**
 * A number is an integer, and is written as a double if it is none that 64 bits hold exactly; other numbers are
 * `{ double }`, also when they happen to be whole.
 */
export type AttributeValue = string | boolean | number | readonly string[] | { readonly double: number }

/** Absent values are left out. */
export type Attributes = Readonly<Record<string, AttributeValue | null | undefined>>

export interface Span {
  /** 32 hex digits; the other ids have 16. */
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly traceState: string | null
  readonly name: string
  readonly kind: 'server' | 'client'
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly endedAt: number
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
  readonly links: readonly SpanLink[]
  /** Null: it did not fail. */
  readonly failure: { readonly message: string | null } | null
}

export interface SpanEvent {
  readonly name: string
  readonly at: number
  readonly attributes: Attributes
}

export interface SpanLink {
  readonly traceId: string
  readonly spanId: string
  readonly attributes: Attributes
}

export interface Traces {
  readonly resource: Attributes
  readonly version: string
  readonly spans: readonly Span[]
}

export const SCOPE = 'sluice'
/** OTLP's numbers of `kind`. */
export const SPAN_KINDS = { server: 2, client: 3 } as const
/** OTLP's number of a failed span's status. Others are unset: only applications set "ok". */
export const FAILED = 2

/** Whole milliseconds as OTLP's nanoseconds. */
export const nanoseconds = (milliseconds: number): bigint =>
  BigInt(Math.max(0, Math.round(milliseconds))) * 1_000_000n

/** Members of a JSON object as attributes: texts, truth values and numbers as they are, anything else as JSON text. */
export function prefixed(prefix: string, members: Readonly<Record<string, unknown>>): Attributes {
  const attributes: Record<string, AttributeValue | null> = {}
  for (const [key, value] of Object.entries(members)) attributes[prefix + key] = attributeOf(value)
  return attributes
}

function attributeOf(value: unknown): AttributeValue | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : { double: value }
  return jsonText(value)
}
