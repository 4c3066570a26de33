import {
  type Attributes,
  type AttributeValue,
  FAILED,
  SCOPE,
  SPAN_KINDS,
  type Span,
  type Traces,
} from './span.ts'
import * as write from './writer.ts'
import { createProtobufWriter, type ProtobufWriter, writtenIn } from './writer.ts'

/** Of most resources and scopes, and of most records; a growing buffer has room for more. */
const RECORD_BYTES = 4_096

/**
 * OTLP as protobuf, of spans that `createSpanWriter` has written. The numbers are those of the fields in opentelemetry-proto
 * 1.x; tests decode every body with the official definitions.
 */
export function protobufOf({ resource, version }: Omit<Traces, 'spans'>, spans: readonly Uint8Array[]) {
  const to = createProtobufWriter(spans.reduce((sum, { length }) => sum + length, RECORD_BYTES))
  message(to, 1, () => {
    message(to, 1, () => writeAttributes(to, 1, resource))
    message(to, 2, () => {
      message(to, 1, () => {
        write.text(to, 1, SCOPE)
        write.text(to, 2, version)
      })
      for (const some of spans) write.fields(to, some)
    })
  })
  return to.bytes.subarray(0, to.at)
}

/** Writes the spans of records, as members of their scope. */
export function createSpanWriter(): (spans: readonly Span[]) => Uint8Array {
  const to = createProtobufWriter(RECORD_BYTES)
  return (spans) => {
    to.at = 0
    for (const span of spans) message(to, 2, () => writeSpan(to, span))
    return writtenIn(to)
  }
}

function writeSpan(to: ProtobufWriter, span: Span): void {
  write.hex(to, 1, span.traceId)
  write.hex(to, 2, span.spanId)
  if (span.traceState !== null) write.text(to, 3, span.traceState)
  if (span.parentSpanId !== null) write.hex(to, 4, span.parentSpanId)
  write.text(to, 5, span.name)
  write.integer(to, 6, SPAN_KINDS[span.kind])
  write.nanoseconds(to, 7, span.startedAt)
  write.nanoseconds(to, 8, span.endedAt)
  writeAttributes(to, 9, span.attributes)
  for (const event of span.events) {
    message(to, 11, () => {
      write.nanoseconds(to, 1, event.at)
      write.text(to, 2, event.name)
      writeAttributes(to, 3, event.attributes)
    })
  }
  for (const link of span.links) {
    message(to, 13, () => {
      write.hex(to, 1, link.traceId)
      write.hex(to, 2, link.spanId)
      writeAttributes(to, 4, link.attributes)
    })
  }
  const { failure } = span
  if (failure === null) return
  message(to, 15, () => {
    if (failure.message !== null) write.text(to, 2, failure.message)
    write.integer(to, 3, FAILED)
  })
}

/** Without closures and lists: most of a batch is attributes. */
function writeAttributes(to: ProtobufWriter, field: number, attributes: Attributes): void {
  for (const key in attributes) {
    const value = attributes[key]
    if (value === null || value === undefined) continue
    const pair = write.begin(to, field)
    write.text(to, 1, key)
    const from = write.begin(to, 2)
    writeValue(to, value)
    write.end(to, from)
    write.end(to, pair)
  }
}

/** An empty text is written too: a value without a member has no type. */
function writeValue(to: ProtobufWriter, value: AttributeValue): void {
  if (typeof value === 'string') write.text(to, 1, value)
  else if (typeof value === 'boolean') write.boolean(to, 2, value)
  else if (typeof value === 'number') writeNumber(to, value)
  else if ('double' in value) write.double(to, 4, value.double)
  else {
    message(to, 5, () => {
      for (const item of value) message(to, 1, () => write.text(to, 1, item))
    })
  }
}

const writeNumber = (to: ProtobufWriter, value: number) =>
  Number.isSafeInteger(value) ? write.integer(to, 3, value) : write.double(to, 4, value)

function message(to: ProtobufWriter, field: number, members: () => void): void {
  const from = write.begin(to, field)
  members()
  write.end(to, from)
}
