/** Writes protobuf field by field (https://protobuf.dev/programming-guides/encoding/, November 2026). */

/** A growing buffer, and how much of it is written. */
export interface ProtobufWriter {
  bytes: Buffer<ArrayBuffer>
  at: number
}

const VARINT = 0
const BIT64 = 1
const LENGTH = 2
const LONGEST_VARINT = 10
/** Up to here a loop is faster than a call into the runtime. Less than 128: the length is one byte. */
const SHORT = 64

/**
 * A writer with room for `expected` bytes. A span has 20 attributes of two nested messages each, most shorter than 128
 * bytes: room for one byte of length is left before a message, and a longer one is moved. It takes a third of the time of
 * `@bufbuild/protobuf`'s writer, which keeps each message in a list of parts.
 */
export const createProtobufWriter = (expected: number): ProtobufWriter => ({
  bytes: Buffer.allocUnsafeSlow(expected),
  at: 0,
})

/** A copy of everything that was written. */
export const writtenIn = ({ bytes, at }: ProtobufWriter): Uint8Array<ArrayBuffer> =>
  new Uint8Array(bytes.subarray(0, at))

/** Fields that were written elsewhere. */
export function fields(to: ProtobufWriter, written: Uint8Array): void {
  ensure(to, written.length)
  to.bytes.set(written, to.at)
  to.at += written.length
}

/** Halves of a character become U+FFFD. */
export function text(to: ProtobufWriter, field: number, value: string): void {
  tag(to, field, LENGTH, LONGEST_VARINT + SHORT)
  if (value.length <= SHORT && ascii(to, value)) return
  const length = Buffer.byteLength(value)
  varint(to, length)
  ensure(to, length)
  to.at += to.bytes.write(value, to.at, length)
}

/** Bytes, given as hex digits. */
export function hex(to: ProtobufWriter, field: number, digits: string): void {
  const length = digits.length / 2
  tag(to, field, LENGTH, LONGEST_VARINT + length)
  varint(to, length)
  to.at += to.bytes.write(digits, to.at, length, 'hex')
}

export function boolean(to: ProtobufWriter, field: number, value: boolean): void {
  tag(to, field, VARINT, 1)
  to.bytes[to.at++] = value ? 1 : 0
}

/** A safe integer; a negative one as two's complement of 64 bits. */
export function integer(to: ProtobufWriter, field: number, value: number): void {
  tag(to, field, VARINT, LONGEST_VARINT)
  if (value >= 0) {
    varint(to, value)
    return
  }
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 127n; rest >>= 7n) to.bytes[to.at++] = Number(rest & 127n) + 128
  to.bytes[to.at++] = Number(rest)
}

export function double(to: ProtobufWriter, field: number, value: number): void {
  tag(to, field, BIT64, 8)
  to.at = to.bytes.writeDoubleLE(value, to.at)
}

/** Milliseconds as nanoseconds in 64 bits. In halves, which takes a tenth of the time of a bigint. */
export function nanoseconds(to: ProtobufWriter, field: number, milliseconds: number): void {
  const whole = Math.max(0, Math.round(milliseconds))
  const upper = Math.floor(whole / 2 ** 20) * 1e6
  const lower = (whole % 2 ** 20) * 1e6 + (upper % 2 ** 12) * 2 ** 20
  tag(to, field, BIT64, 8)
  to.at = to.bytes.writeUInt32LE(lower % 2 ** 32, to.at)
  to.at = to.bytes.writeUInt32LE(Math.floor(upper / 2 ** 12) + Math.floor(lower / 2 ** 32), to.at)
}

/** Begins a message: what is written up to `end` is in it. Returns what that takes. */
export function begin(to: ProtobufWriter, field: number): number {
  tag(to, field, LENGTH, 1)
  to.at += 1
  return to.at
}

export function end(to: ProtobufWriter, from: number): void {
  const length = to.at - from
  if (length > 127) {
    ensure(to, LONGEST_VARINT)
    const more = Math.ceil(Math.log2(length + 1) / 7) - 1
    to.bytes.copyWithin(from + more, from, to.at)
  }
  to.at = from - 1
  varint(to, length)
  to.at += length
}

function ensure(to: ProtobufWriter, more: number): void {
  if (to.at + more <= to.bytes.length) return
  const larger = Buffer.allocUnsafeSlow(Math.max(to.bytes.length * 2, to.at + more))
  to.bytes.copy(larger, 0, 0, to.at)
  to.bytes = larger
}

/** Makes room for the tag and `room` bytes behind it. */
function tag(to: ProtobufWriter, field: number, type: number, room: number): void {
  ensure(to, LONGEST_VARINT + room)
  varint(to, field * 8 + type)
}

/** Of a number that is not negative, where there is room. */
function varint(to: ProtobufWriter, value: number): void {
  let rest = value
  while (rest > 127) {
    to.bytes[to.at++] = (rest % 128) + 128
    rest = Math.floor(rest / 128)
  }
  to.bytes[to.at++] = rest
}

/** Writes a short text with its length. False: it is not ASCII, and nothing was written. */
function ascii(to: ProtobufWriter, value: string): boolean {
  const { bytes, at } = to
  bytes[at] = value.length
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index)
    if (code > 127) return false
    bytes[at + 1 + index] = code
  }
  to.at = at + 1 + value.length
  return true
}
