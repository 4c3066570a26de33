import { inflateSync } from 'node:zlib'
import { Refusal } from './bounds.ts'

/** The largest stream, inflated: the library holds it whole. */
const MOST_STREAM_BYTES = 64 * 1024 * 1024
/** Of all streams together: each takes time. */
const MOST_BYTES = 1024 * 1024 * 1024
/** A stream may be deflated several times. */
const DEEPEST = 3
/** LZW makes up to 1,400 times as many bytes, and cannot be measured without a reader of its own. */
const MOST_LZW_BYTES = 48 * 1024

export const ENCRYPTED = 'it is encrypted. Send a copy without a password'
const BOMB = 'its streams grow too large when they are inflated'

/**
 * Throws a `Refusal` for an encrypted PDF, whose streams cannot be measured, and for one with a stream that inflates to
 * more than the bound. Reads the streams by their key words, not by the table of the file, which may lie.
 */
export function checkStreams(bytes: Uint8Array<ArrayBuffer>): void {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file.includes('/Encrypt')) throw new Refusal(ENCRYPTED)
  let total = 0
  let at = 0
  for (;;) {
    const word = file.indexOf('stream', at)
    if (word === -1) return
    at = word + 'stream'.length
    if (file.toString('latin1', word - 3, word) === 'end') continue
    if (isLzw(file, word)) {
      const end = file.indexOf('endstream', at)
      if ((end === -1 ? file.length : end) - at > MOST_LZW_BYTES) throw new Refusal(BOMB)
    }
    // What is deflated names its own end. The key word for the end of a stream may be a part of it.
    total += inflatedLength(file.subarray(afterLine(file, at)), DEEPEST)
    if (total > MOST_BYTES) throw new Refusal(BOMB)
  }
}

/** A stream begins behind the end of the line of its key word. */
function afterLine(file: Buffer, at: number): number {
  if (file[at] === 0x0d && file[at + 1] === 0x0a) return at + 2
  return file[at] === 0x0a || file[at] === 0x0d ? at + 1 : at
}

const DICTIONARY_BYTES = 1_024
const isLzw = (file: Buffer, word: number): boolean =>
  /\/LZW/.test(file.toString('latin1', Math.max(0, word - DICTIONARY_BYTES), word))

/** 0 for what is not deflated. */
function inflatedLength(data: Buffer, depth: number): number {
  const [first = 0, second = 0] = data
  // The first two bytes of zlib are a method, and a multiple of 31.
  if ((first & 0x0f) !== 8 || (first * 256 + second) % 31 !== 0) return 0
  const inflated = inflated64(data)
  if (inflated === null) return 0
  if (depth === 0) throw new Refusal(BOMB)
  return inflated.length + inflatedLength(inflated, depth - 1)
}

/** Null for what is broken: the library makes of it what it can. */
function inflated64(data: Buffer): Buffer | null {
  try {
    return inflateSync(data, { maxOutputLength: MOST_STREAM_BYTES })
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(BOMB)
    return null
  }
}
