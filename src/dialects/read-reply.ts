import { UpstreamError } from '../core/errors.ts'
import { type FrameBatch, type InferenceFrame, type InferenceFrames, isContent } from '../core/events.ts'
import { parsed } from '../core/json.ts'
import type { UpstreamReply } from '../core/reply.ts'
import { turnOfLoop, turnsByLength } from '../core/turn.ts'
import { createPuller, formOfText, GAVE_UP, type Pulled, restOfBody, sniff } from './pull.ts'
import { createPieceCount, type PieceCount } from './reply-bounds.ts'
import { checkAhead, checkReply, parseReply } from './reply-json.ts'
import { createSseParser, type SseEvent, type StreamParser } from './sse.ts'

/** Reads the parts of one reply in one dialect, in order: the `data` of its events, or its whole body. */
export interface ReplyDecoder {
  /**
   * One event of a stream; undefined where it says nothing. Throws `malformed` for what is not JSON. After
   * `failure` or `isTerminated` no other may be given.
   */
  takeEvent(name: string, data: string): InferenceFrame | undefined
  /** An event that the end of the body cut: not JSON means `truncated`. */
  takeTail(name: string, data: string): InferenceFrame | undefined
  /** A body that is one JSON document. */
  takeBody(body: unknown): InferenceFrame | undefined
  /** The last frame. Throws `truncated` or `malformed` where the reply is not whole. */
  end(): InferenceFrame
  /** What an error in the reply says: to be thrown once the frame that came with it was given. */
  readonly failure: UpstreamError | null
  /** The terminal marker came: nothing after it counts. */
  readonly isTerminated: boolean
  /** Every choice has its finish reason; only usage may follow. */
  readonly isFinished: boolean
  readonly hasContent: boolean
}

export interface ReadOptions {
  /** How long the rest is waited for after the finish reason. */
  lingerMs?: number
  /** How long the end of the body is waited for after the terminal marker, so that the connection is kept. */
  drainMs?: number
  /** How a stream is cut into events; absent: server-sent events. */
  createParser?: () => StreamParser
}

const LINGER_MS = 10_000
const DRAIN_MS = 50
const MAX_BODY_BYTES = 32 * 1024 * 1024
/**
 * A read of more (Bun gives up to 1 MB at once) becomes several batches, so that others may have a turn in between
 * and no more than this is text and events at a time: with 100 streams of 4 MB the peak is 610 MB, else 850 MB.
 */
const BATCH_BYTES = 64 * 1024
/** Of a body that takes milliseconds to parse: others have a turn before it is, and before its answer is gathered. */
const LONG_TEXT_CHARACTERS = 256 * 1024
/** Others have a turn after this much, also where it says nothing: 64 kB of the smallest events take some 15 ms. */
const TURN_BYTES = BATCH_BYTES

/**
 * Reads a 2xx reply, a stream of events or one JSON document, as one stream of frames. What came decides how it is
 * read, not what was asked for: JSON where a stream was asked for, and a stream where JSON was.
 *
 * `response-end` is alone in the last batch and comes only after a whole reply: a finish reason and then a clean
 * end of the body (or a reset, or 10 s), or the terminal marker. Otherwise throws `UpstreamError`: `malformed`,
 * `truncated`, or what an error object in the reply says; and whatever the body throws.
 */
export const readReply = (
  reply: UpstreamReply,
  streamed: boolean,
  decoder: ReplyDecoder,
  options: ReadOptions = {},
): InferenceFrames => (streamed ? readStream(reply, decoder, options) : readWhole(reply, decoder))

/** Written by hand, because every answer that is not streamed passes here: a generator has promises of its own. */
function readWhole(reply: UpstreamReply, decoder: ReplyDecoder): InferenceFrames {
  let batches: Iterator<FrameBatch, undefined> | AsyncIterator<FrameBatch, undefined> | null = null
  let isLong = false
  const next = async (): Promise<IteratorResult<FrameBatch, undefined>> => {
    if (batches === null) {
      const text = await reply.text(MAX_BODY_BYTES)
      isLong = text.length > LONG_TEXT_CHARACTERS
      batches = batchesOf(text, reply.status, decoder)
    }
    if (isLong) await turnOfLoop()
    return batches.next()
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: async () => END }) }
}
const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

async function* readStream(
  reply: UpstreamReply,
  decoder: ReplyDecoder,
  options: ReadOptions,
): InferenceFrames {
  const { status } = reply
  const advance = reply.awaitContent?.()
  const body = createPuller(reply.bytes, options.lingerMs ?? LINGER_MS)
  try {
    const { form, head } = await sniff(body, MAX_BODY_BYTES)
    if (form !== 'events') {
      const text = await restOfBody(head, body, MAX_BODY_BYTES)
      yield* text.length > LONG_TEXT_CHARACTERS
        ? readLongBody(text, status, decoder)
        : readBody(text, status, decoder)
      return
    }
    const parser = (options.createParser ?? createSseParser)()
    const countPieces = createPieceCount()
    const turnAfter = turnsByLength(TURN_BYTES)
    let pulled: Pulled = { done: false, value: head.length === 1 && head[0] ? head[0] : Buffer.concat(head) }
    while (!pulled.done && !decoder.isTerminated) {
      for (let at = 0; at < pulled.value.length && !decoder.isTerminated; at += BATCH_BYTES) {
        const events = parser.push(pulled.value.subarray(at, at + BATCH_BYTES))
        const isLong = isLongFirst(events) && (await prepareLong(events, status))
        for (const batch of takeAll(events, decoder.takeEvent, decoder, countPieces)) {
          if (isLong) await turnOfLoop()
          if (batch.some(goesOn)) advance?.()
          yield batch
        }
        const turn = turnAfter(Math.min(BATCH_BYTES, pulled.value.length - at))
        if (turn) await turn
      }
      if (!decoder.isTerminated) pulled = await (decoder.isFinished ? body.nextAfterFinish() : body.next())
    }
    if (decoder.isTerminated) await body.drain(options.drainMs ?? DRAIN_MS)
    else if (pulled !== GAVE_UP) yield* takeAll(parser.end(), decoder.takeTail, decoder, countPieces)
    yield [decoder.end()]
  } catch (error) {
    throw inMidAnswer(error, decoder)
  } finally {
    await body.leave()
  }
}

/** An event of megabytes is checked in a step of its own. It began in earlier reads, so it is the first of this one. */
async function prepareLong(events: readonly SseEvent[], status: number): Promise<boolean> {
  const [first] = events
  if (first === undefined || !isLongFirst(events)) return false
  await turnOfLoop()
  checkAhead(first.data, status)
  await turnOfLoop()
  return true
}

const isLongFirst = ([first]: readonly SseEvent[]): boolean =>
  first !== undefined && first.data.length > LONG_TEXT_CHARACTERS

/** What a ping, the beginning of a message without content, and repeated accounts do not say. */
const goesOn = ({ events, plainText }: InferenceFrame): boolean =>
  plainText !== undefined ||
  events.some((event) => {
    // Items of built-in tools come before the first text; a chunk of chat that says nothing may have fields of its own.
    if (event.type === 'native') return event.dialect !== 'chat'
    return isContent(event) || event.type === 'response-end'
  })

/** A reset in the middle of an answer is one more way to cut it short; before it, nothing was answered. */
function inMidAnswer(error: unknown, { hasContent }: ReplyDecoder): unknown {
  if (!hasContent || !(error instanceof UpstreamError) || error.kind !== 'connect') return error
  return new UpstreamError('truncated', error.reason, { code: error.code, cause: error })
}

function batchesOf(text: string, status: number, decoder: ReplyDecoder) {
  if (formOfText(text) === 'events') return readEvents(text, status, decoder)
  return text.length > LONG_TEXT_CHARACTERS
    ? readLongBody(text, status, decoder)
    : readBody(text, status, decoder)
}

/** Each step of a body of megabytes takes long by itself: others have a turn in between. */
async function* readLongBody(
  text: string,
  status: number,
  decoder: ReplyDecoder,
): AsyncGenerator<FrameBatch, undefined> {
  checkForm(text, status)
  await turnOfLoop()
  checkReply(text, status)
  await turnOfLoop()
  const body = orMalformed(parsed(text), status)
  await turnOfLoop()
  yield* takeWhole(body, decoder)
  return undefined
}

/** Frames of a stream that was not asked for, in pieces: others have a turn in between. */
async function* readEvents(
  text: string,
  status: number,
  decoder: ReplyDecoder,
): AsyncGenerator<FrameBatch, undefined> {
  const sse = createSseParser()
  const countPieces = createPieceCount()
  const turnAfter = turnsByLength(TURN_BYTES)
  for (let at = 0; at < text.length && !decoder.isTerminated; at += BATCH_BYTES) {
    const events = sse.pushText(text.slice(at, at + BATCH_BYTES))
    const isLong = await prepareLong(events, status)
    for (const batch of takeAll(events, decoder.takeEvent, decoder, countPieces)) {
      if (isLong) await turnOfLoop()
      yield batch
    }
    await turnAfter(BATCH_BYTES)
  }
  if (!decoder.isTerminated) yield* takeAll(sse.end(), decoder.takeTail, decoder, countPieces)
  yield [decoder.end()]
  return undefined
}

function* readBody(text: string, status: number, decoder: ReplyDecoder): Generator<FrameBatch, undefined> {
  checkForm(text, status)
  yield* takeWhole(orMalformed(parseReply(text, status), status), decoder)
  return undefined
}

function* takeWhole(body: unknown, decoder: ReplyDecoder): Generator<FrameBatch, undefined> {
  const frame = decoder.takeBody(body)
  if (frame) {
    createPieceCount()(frame)
    yield [frame]
  }
  if (decoder.failure !== null) throw decoder.failure
  yield [decoder.end()]
  return undefined
}

function checkForm(text: string, status: number): void {
  if (formOfText(text) === 'page')
    throw new UpstreamError('malformed', 'the reply is a page of HTML', { status })
}

/** What events that came together say: one batch. What fails among them is thrown after the frames before it. */
function* takeAll(
  events: readonly SseEvent[],
  take: ReplyDecoder['takeEvent'],
  decoder: ReplyDecoder,
  countPieces: PieceCount,
): Iterable<FrameBatch> {
  const batch: InferenceFrame[] = []
  let failure: unknown = null
  for (const { name, data } of events) {
    try {
      const frame = take(name, data)
      if (frame !== undefined) {
        if (frame.plainText === undefined) countPieces(frame)
        batch.push(frame)
      }
      failure = decoder.failure
    } catch (error) {
      failure = error
    }
    if (failure !== null || decoder.isTerminated) break
  }
  if (batch.length > 0) yield batch
  if (failure !== null) throw failure
}

function orMalformed(value: unknown, status: number): unknown {
  if (value === undefined) throw new UpstreamError('malformed', 'the reply is not JSON', { status })
  return value
}
