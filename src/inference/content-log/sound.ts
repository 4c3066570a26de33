import type { JsonObject } from '../../core/events.ts'
import { cutMark, MOST_CHARACTERS } from './limited.ts'

/** Speech on its way to a caller, noted without a copy of it. */
export interface Sound {
  through(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  bytes(): number
  logged(): JsonObject
}

/** Base64 has four characters for three bytes. */
const MOST_BYTES = (MOST_CHARACTERS / 4) * 3

export function createSound(mediaType: string): Sound {
  const noted: Uint8Array[] = []
  let size = 0
  let isCut = false

  function note(chunk: Uint8Array): void {
    if (isCut) return
    if (size + chunk.length > MOST_BYTES) {
      isCut = true
      return
    }
    noted.push(chunk)
    size += chunk.length
  }

  return {
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
      data: Buffer.concat(noted).toString('base64') + (isCut ? cutMark('the rest') : ''),
    }),
  }
}
