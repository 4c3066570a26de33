import { inflateRawSync } from 'node:zlib'
import { Refusal } from './bounds.ts'

/** A part of an archive. */
export interface ZipPart {
  readonly name: string
  /** As the archive states it. */
  readonly sizeBytes: number
  /** Throws a `Refusal` for a part that is larger than stated. */
  read(): Uint8Array
}

const END = 0x06054b50
const ENTRY = 0x02014b50
const END_BYTES = 22
const ENTRY_BYTES = 46
const LOCAL_BYTES = 30
const LONGEST_COMMENT = 0xffff
const STORED = 0
const DEFLATED = 8

/** The parts of a ZIP archive by its directory. Throws for an archive that is broken. */
export function* zipParts(bytes: Uint8Array): Generator<ZipPart> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = endOf(file)
  let at = file.readUInt32LE(end + 16)
  for (let left = file.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (file.readUInt32LE(at) !== ENTRY) throw new Error('the directory of the archive is broken')
    const nameEnd = at + ENTRY_BYTES + file.readUInt16LE(at + 28)
    yield partAt(file, at, file.toString('latin1', at + ENTRY_BYTES, nameEnd))
    at = nameEnd + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32)
  }
}

/** The directory is named at the end of the file, before a comment. */
function endOf(file: Buffer): number {
  const first = Math.max(0, file.byteLength - END_BYTES - LONGEST_COMMENT)
  for (let at = file.byteLength - END_BYTES; at >= first; at -= 1)
    if (file.readUInt32LE(at) === END) return at
  throw new Error('the archive has no directory')
}

function partAt(file: Buffer, at: number, name: string): ZipPart {
  const [flags, method] = [file.readUInt16LE(at + 8), file.readUInt16LE(at + 10)]
  const [packedBytes, sizeBytes] = [file.readUInt32LE(at + 20), file.readUInt32LE(at + 24)]
  const local = file.readUInt32LE(at + 42)
  return {
    name,
    sizeBytes,
    read() {
      if ((flags & 1) === 1) throw new Refusal('it is encrypted. Send a copy without a password')
      const start = local + LOCAL_BYTES + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28)
      const packed = file.subarray(start, start + packedBytes)
      if (method === STORED) return packed
      if (method !== DEFLATED) throw new Refusal('it is packed in a way that this gateway does not read')
      return inflated(packed, sizeBytes)
    },
  }
}

function inflated(packed: Buffer, sizeBytes: number): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, sizeBytes) })
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal('it is broken: a part is larger than it states')
    throw error
  }
}
