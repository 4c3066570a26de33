import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import {
  type Attributes,
  type AttributeValue,
  FAILED,
  nanoseconds,
  presentIn,
  SCOPE,
  SPAN_KINDS,
  type Span,
  type Traces,
} from './span.ts'

/**
 * OTLP as protobuf. The numbers are those of the fields in opentelemetry-proto 1.x; tests decode every body with the
 * official definitions.
 */
export function protobufOf({ resource, version, spans }: Traces): Uint8Array<ArrayBuffer> {
  const to = new BinaryWriter()
  message(to, 1, () => {
    message(to, 1, () => writeAttributes(to, 1, resource))
    message(to, 2, () => {
      message(to, 1, () => {
        text(to, 1, SCOPE)
        text(to, 2, version)
      })
      for (const span of spans) message(to, 2, () => writeSpan(to, span))
    })
  })
  return new Uint8Array(to.finish())
}

function writeSpan(to: BinaryWriter, span: Span): void {
  id(to, 1, span.traceId)
  id(to, 2, span.spanId)
  if (span.traceState !== null) text(to, 3, span.traceState)
  if (span.parentSpanId !== null) id(to, 4, span.parentSpanId)
  text(to, 5, span.name)
  to.tag(6, WireType.Varint).int32(SPAN_KINDS[span.kind])
  time(to, 7, span.startedAt)
  time(to, 8, span.endedAt)
  writeAttributes(to, 9, span.attributes)
  for (const event of span.events) {
    message(to, 11, () => {
      time(to, 1, event.at)
      text(to, 2, event.name)
      writeAttributes(to, 3, event.attributes)
    })
  }
  for (const link of span.links) {
    message(to, 13, () => {
      id(to, 1, link.traceId)
      id(to, 2, link.spanId)
      writeAttributes(to, 4, link.attributes)
    })
  }
  const { failure } = span
  if (failure === null) return
  message(to, 15, () => {
    if (failure.message !== null) text(to, 2, failure.message)
    to.tag(3, WireType.Varint).int32(FAILED)
  })
}

function writeAttributes(to: BinaryWriter, field: number, attributes: Attributes): void {
  for (const [key, value] of presentIn(attributes)) {
    message(to, field, () => {
      text(to, 1, key)
      message(to, 2, () => writeValue(to, value))
    })
  }
}

/** An empty text is written too: a value without a member has no type. */
function writeValue(to: BinaryWriter, value: AttributeValue): void {
  if (typeof value === 'string') text(to, 1, value)
  else if (typeof value === 'boolean') to.tag(2, WireType.Varint).bool(value)
  else if (typeof value === 'number') writeNumber(to, value)
  else if ('double' in value) to.tag(4, WireType.Bit64).double(value.double)
  else {
    message(to, 5, () => {
      for (const item of value) message(to, 1, () => text(to, 1, item))
    })
  }
}

const writeNumber = (to: BinaryWriter, value: number) =>
  Number.isSafeInteger(value)
    ? to.tag(3, WireType.Varint).int64(value)
    : to.tag(4, WireType.Bit64).double(value)

function message(to: BinaryWriter, field: number, write: () => void): void {
  to.tag(field, WireType.LengthDelimited).fork()
  write()
  to.join()
}

const text = (to: BinaryWriter, field: number, value: string) =>
  to.tag(field, WireType.LengthDelimited).string(value)

const id = (to: BinaryWriter, field: number, hex: string) =>
  to.tag(field, WireType.LengthDelimited).bytes(Uint8Array.fromHex(hex))

const time = (to: BinaryWriter, field: number, at: number) =>
  to.tag(field, WireType.Bit64).fixed64(nanoseconds(at))
