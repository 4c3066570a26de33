import type { JsonObject } from '../../core/events.ts'
import { MOST_CHARACTERS, truncationMark } from './limited.ts'

/** Records speech while it is sent to the caller, without copying it. */
export interface AudioTap {
  readonly mediaType: string
  through(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  bytes(): number
  logged(): JsonObject
}

/** Base64 has four characters for three bytes. */
const MOST_BYTES = (MOST_CHARACTERS / 4) * 3

export function createAudioTap(mediaType: string): AudioTap {
  const chunksKept: Uint8Array[] = []
  let size = 0
  let isTruncated = false

  function note(chunk: Uint8Array): void {
    if (isTruncated) return
    if (size + chunk.length > MOST_BYTES) {
      isTruncated = true
      return
    }
    chunksKept.push(chunk)
    size += chunk.length
  }

  return {
    mediaType,
    through: (chunks) => ({
      [Symbol.asyncIterator]() {
        const iterator = chunks[Symbol.asyncIterator]()
        return {
          async next() {
            const result = await iterator.next()
            if (!result.done) note(result.value)
            return result
          },
          return: async () => (await iterator.return?.()) ?? { value: undefined, done: true },
        }
      },
    }),
    bytes: () => size,
    logged: () => ({
      media_type: mediaType,
      data: Buffer.concat(chunksKept).toString('base64') + (isTruncated ? truncationMark('the rest') : ''),
    }),
  }
}
