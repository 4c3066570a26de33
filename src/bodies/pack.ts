import { turnAfterLong } from '../core/turn.ts'

/** The plaintext before encryption: a byte with the format, then the text, compressed if that saves space. */

const PLAIN = 0
const ZSTD = 1
/** Shorter texts gain nothing. */
const WORTH_COMPRESSING_BYTES = 1_024
/** Longer ones are compressed off this thread: it has other streams to serve. */
const LONG_BYTES = 64 * 1024
/** Fast, and within a tenth of the higher levels on JSON. */
const LEVEL = 3

export interface Packed {
  readonly bytes: Uint8Array
  /** Length of the text itself in UTF-8. */
  readonly clearBytes: number
}

/** `texts`: one text, in pieces. */
export async function pack(texts: readonly string[]): Promise<Packed> {
  const clear = await bytesOf(texts)
  if (clear.length < WORTH_COMPRESSING_BYTES) return { bytes: marked(PLAIN, clear), clearBytes: clear.length }
  const compressed =
    clear.length > LONG_BYTES
      ? await Bun.zstdCompress(clear, { level: LEVEL })
      : Bun.zstdCompressSync(clear, { level: LEVEL })
  // Images are compressed already.
  const bytes = compressed.length < clear.length ? marked(ZSTD, compressed) : marked(PLAIN, clear)
  return { bytes, clearBytes: clear.length }
}

async function bytesOf(texts: readonly string[]): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let begunAt = performance.now()
  for (const text of texts) {
    pieces.push(Buffer.from(text))
    const turn = turnAfterLong(begunAt)
    if (turn === undefined) continue
    await turn
    begunAt = performance.now()
  }
  return Buffer.concat(pieces)
}

export async function unpack(bytes: Uint8Array): Promise<string> {
  const rest = bytes.subarray(1)
  switch (bytes[0]) {
    case PLAIN:
      return Buffer.from(rest).toString('utf8')
    case ZSTD: {
      const clear = rest.length > LONG_BYTES ? await Bun.zstdDecompress(rest) : Bun.zstdDecompressSync(rest)
      return clear.toString('utf8')
    }
    default:
      throw new Error(`a body is packed in a way that is not known here (${bytes[0]})`)
  }
}

const marked = (how: number, bytes: Uint8Array): Uint8Array => Buffer.concat([Buffer.of(how), bytes])
