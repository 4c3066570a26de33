import { UpstreamError } from '../core/errors.ts'
import type { FrameBatch } from '../core/events.ts'
import { parseUnchecked } from '../core/json.ts'
import { turnOfLoop } from '../core/turn.ts'
import { formOfText } from './pull.ts'
import { checkReply, createPieceCount, orMalformed, parseReply, type ReplyDecoder } from './reply-decoder.ts'
import { LONG_TEXT_CHARACTERS } from './take-events.ts'

export const MAX_BODY_BYTES = 32 * 1024 * 1024

export type Result = IteratorResult<FrameBatch, undefined>

export const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

export interface Batches {
  next(): Result | Promise<Result>
}

/**
 * The frames of a body that is one JSON document, in one batch. Each step of a body of megabytes
 * is slow, so other requests get a turn between them.
 */
export const readBody = (text: string, status: number, decoder: ReplyDecoder): Batches =>
  text.length > LONG_TEXT_CHARACTERS
    ? readLongBody(text, status, decoder)
    : takeBody(() => {
        checkForm(text, status)
        return orMalformed(parseReply(text, status), status)
      }, decoder)

async function* readLongBody(
  text: string,
  status: number,
  decoder: ReplyDecoder,
): AsyncGenerator<FrameBatch, undefined> {
  await turnOfLoop()
  checkForm(text, status)
  await turnOfLoop()
  checkReply(text, status)
  await turnOfLoop()
  const body = orMalformed(parseUnchecked(text), status)
  await turnOfLoop()
  const batches = takeBody(() => body, decoder)
  for (let batch = batches.next(); !batch.done; batch = batches.next()) {
    yield batch.value
    await turnOfLoop()
  }
  return undefined
}

/** One batch. An error in the body is thrown after the frame that came with it. */
function takeBody(read: () => unknown, decoder: ReplyDecoder): { next(): Result } {
  let hasBegun = false
  let failure: { readonly error: unknown } | undefined
  return {
    next() {
      if (failure) throw failure.error
      if (hasBegun) return END
      hasBegun = true
      const frame = decoder.takeBody(read())
      if (frame) createPieceCount()(frame)
      try {
        const reported = decoder.failure()
        if (reported !== null) throw reported
        const last = decoder.end()
        return { done: false, value: frame ? [frame, last] : [last] }
      } catch (error) {
        if (!frame) throw error
        failure = { error }
        return { done: false, value: [frame] }
      }
    },
  }
}

function checkForm(text: string, status: number): void {
  if (formOfText(text) === 'page')
    throw new UpstreamError('malformed', 'the reply is a page of HTML', { status })
}
