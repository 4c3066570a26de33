import type { FrameBatch, InferenceFrames } from '../core/events.ts'
import type { UpstreamReply } from '../core/reply.ts'
import { turnOfLoop } from '../core/turn.ts'
import { formOfText } from './pull.ts'
import { type Batches, END, MAX_BODY_BYTES, type Result, readBody } from './read-body.ts'
import { type ReadOptions, readStream } from './read-stream.ts'
import type { ReplyDecoder } from './reply-decoder.ts'

export type { ReadOptions } from './read-stream.ts'

/**
 * Reads a 2xx reply, a stream of events or one JSON document, as one stream of frames. What came decides how it is
 * read, not what was asked for: JSON where a stream was asked for, and a stream where JSON was.
 *
 * `response-end` is the last frame (of a stream, alone in its batch) and comes only after a complete reply: a finish reason and then a clean
 * end of the body (or a reset, or 10 s), or the terminal marker. Otherwise throws `UpstreamError`: `malformed`,
 * `truncated`, or the error that the reply reports; and whatever the body throws.
 */
export const readReply = (
  reply: UpstreamReply,
  streamed: boolean,
  decoder: ReplyDecoder,
  options: ReadOptions = {},
): InferenceFrames => ({
  [Symbol.asyncIterator]: () => (streamed ? readStream(reply, decoder, options) : readWhole(reply, decoder)),
})

/** Written by hand, because every answer that is not streamed passes here: a generator has promises of its own. */
function readWhole(reply: UpstreamReply, decoder: ReplyDecoder): AsyncIterator<FrameBatch, undefined> {
  let batches: Batches | null = null
  return {
    async next(): Promise<Result> {
      batches ??= batchesOf(await reply.text(MAX_BODY_BYTES), reply, decoder)
      return batches.next()
    },
    return: async () => END,
  }
}

function batchesOf(text: string, { status }: UpstreamReply, decoder: ReplyDecoder): Batches {
  if (formOfText(text) !== 'events') return readBody(text, status, decoder)
  // A stream that was not asked for.
  return readStream({ status, bytes: piecesOf(Buffer.from(text)) }, decoder, {})
}

/** As the network would give them: the event loop has a turn between two. */
const PIECE_BYTES = 256 * 1024

const piecesOf = (bytes: Uint8Array): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]() {
    let at = 0
    return {
      async next() {
        if (at >= bytes.length) return END
        if (at > 0) await turnOfLoop()
        const value = bytes.subarray(at, at + PIECE_BYTES)
        at += PIECE_BYTES
        return { done: false, value }
      },
    }
  },
})
