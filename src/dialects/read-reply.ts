import type { FrameBatch, InferenceFrames } from '../core/events.ts'
import { endOfPiece } from '../core/pieces.ts'
import type { UpstreamReply } from '../core/reply.ts'
import { turnOfLoop } from '../core/turn.ts'
import { formOfText } from './pull.ts'
import { type Batches, END, MAX_BODY_BYTES, type Result, readBody } from './read-body.ts'
import { type ReadOptions, readStream } from './read-stream.ts'
import type { ReplyDecoder } from './reply-decoder.ts'

export type { ReadOptions } from './read-stream.ts'

/**
 * Reads a 2xx reply, a stream of events or one JSON document, as one stream of frames. The body decides how it is
 * read, not the request: providers answer with JSON if a stream was requested, and with a stream if JSON was.
 *
 * `response-end` is the last frame (of a stream, alone in its batch). It comes only after a complete reply: a finish
 * reason and then a clean end of the body (or a reset, or 10 s), or the terminal marker. Otherwise throws `UpstreamError`: `malformed`,
 * `truncated`, or the error that the reply reports; and any error that the body throws.
 */
export const readReply = (
  reply: UpstreamReply,
  streamed: boolean,
  decoder: ReplyDecoder,
  options: ReadOptions = {},
): InferenceFrames => ({
  [Symbol.asyncIterator]: () =>
    streamed ? readStream(reply, decoder, options) : readComplete(reply, decoder),
})

/** Written by hand, because every answer that is not streamed passes here and a generator makes more promises. */
function readComplete(reply: UpstreamReply, decoder: ReplyDecoder): AsyncIterator<FrameBatch, undefined> {
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
  // A stream that was not requested.
  return readStream({ status, bytes: piecesOf(text) }, decoder, {})
}

/** Pieces as from a network, with a turn of the event loop between two. Megabytes are not encoded in one step. */
const PIECE_CHARACTERS = 256 * 1024

const piecesOf = (text: string): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]() {
    let at = 0
    return {
      async next() {
        if (at >= text.length) return END
        if (at > 0) await turnOfLoop()
        const end = endOfPiece(text, at, PIECE_CHARACTERS)
        const value = Buffer.from(text.slice(at, end))
        at = end
        return { done: false, value }
      },
    }
  },
})
