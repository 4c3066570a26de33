import type { JsonObject } from '../../core/events.ts'
import { jsonText } from '../json-text.ts'
import {
  type Attributes,
  type AttributeValue,
  FAILED,
  nanoseconds,
  SCOPE,
  SPAN_KINDS,
  type Span,
  type Traces,
} from './span.ts'

/**
 * OTLP/JSON: ids in hex, 64-bit numbers as text
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
 */
export const jsonOf = ({ resource, version, spans }: Traces): string =>
  jsonText({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: SCOPE, version }, spans: spans.map(spanOf) }],
      },
    ],
  })

const spanOf = (span: Span): JsonObject => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.traceState === null ? {} : { traceState: span.traceState }),
  ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: SPAN_KINDS[span.kind],
  startTimeUnixNano: String(nanoseconds(span.startedAt)),
  endTimeUnixNano: String(nanoseconds(span.endedAt)),
  attributes: attributesOf(span.attributes),
  events: span.events.map(({ name, at, attributes }) => ({
    timeUnixNano: String(nanoseconds(at)),
    name,
    attributes: attributesOf(attributes),
  })),
  links: span.links.map(({ traceId, spanId, attributes }) => ({
    traceId,
    spanId,
    attributes: attributesOf(attributes),
  })),
  ...(span.failure === null ? {} : { status: failedStatus(span.failure) }),
})

const failedStatus = ({ message }: NonNullable<Span['failure']>): JsonObject =>
  message === null ? { code: FAILED } : { code: FAILED, message }

const attributesOf = (attributes: Attributes): JsonObject[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: anyValueOf(value) }],
  )

function anyValueOf(value: AttributeValue): JsonObject {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? { intValue: String(value) } : doubleOf(value)
  }
  if ('double' in value) return doubleOf(value.double)
  return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } }
}

/** Protobuf's JSON has texts for the numbers that JSON cannot write. */
const doubleOf = (value: number): JsonObject => ({
  doubleValue: Number.isFinite(value) ? value : String(value),
})
