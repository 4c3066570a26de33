import { UpstreamError } from '../core/errors.ts'
import { type FrameBatch, type InferenceFrame, isContent } from '../core/events.ts'
import { parseUnchecked } from '../core/json.ts'
import type { UpstreamReply } from '../core/reply.ts'
import { turnOfLoop, turnsByLength } from '../core/turn.ts'
import { createPuller, GAVE_UP, type Pulled, type Puller, restOfBody, sniff } from './pull.ts'
import { type Batches, END, MAX_BODY_BYTES, type Result, readBody } from './read-body.ts'
import { checkReply, type ReplyDecoder, withParsed } from './reply-decoder.ts'
import { splitLongText } from './split-text.ts'
import { createSseParser, type SseEvent, type StreamParser } from './sse.ts'
import { createEventTaker, type EventTaker } from './take-events.ts'

export interface ReadOptions {
  /** How long to wait for the rest after the finish reason. */
  lingerMs?: number
  /** How long to wait for the end of the body after the terminal marker, so that the connection can be reused. */
  drainMs?: number
  /** Splits a stream into events; absent: server-sent events. */
  createParser?: () => StreamParser
}

const LINGER_MS = 10_000
const DRAIN_MS = 50
/**
 * A longer read (Bun returns up to 1 MB at once) is split into several batches. Other requests run between them, and
 * only one batch is held as text and events at a time: 100 streams of 4 MB peak at 610 MB instead of 850 MB.
 */
const BATCH_BYTES = 64 * 1024
/** The event loop gets a turn after this much, even without content: 64 kB of the smallest events take some 15 ms. */
const TURN_BYTES = BATCH_BYTES

/** The reading of one body. */
interface Reading {
  readonly status: number
  readonly decoder: ReplyDecoder
  readonly body: Puller
  readonly parser: StreamParser
  readonly taker: EventTaker
  readonly drainMs: number
  /** Reports content to the clocks of the call. */
  readonly advance: (() => void) | undefined
  readonly turnAfter: (length: number) => Promise<void> | undefined
  stage: 'form' | 'events' | 'tail' | 'end' | 'ended' | 'over'
  /** The last read, and how much of it the parser has. */
  input: Uint8Array
  fed: number
  /** The batches of a body that is not a stream of events. */
  batches: Batches | null
  hasBodyEnded: boolean
  isPending: boolean
}

/**
 * Reads a body that may be a stream of events. Written by hand, because it runs for every chunk of every stream: one
 * promise for each batch, where a generator has three.
 */
export function readStream(
  reply: Pick<UpstreamReply, 'status' | 'bytes' | 'awaitContent'>,
  decoder: ReplyDecoder,
  options: ReadOptions,
): AsyncIterator<FrameBatch, undefined> {
  const reading: Reading = {
    status: reply.status,
    decoder,
    advance: reply.awaitContent?.(),
    body: createPuller(reply.bytes, options.lingerMs ?? LINGER_MS),
    parser: (options.createParser ?? createSseParser)(),
    taker: createEventTaker(decoder),
    drainMs: options.drainMs ?? DRAIN_MS,
    turnAfter: turnsByLength(TURN_BYTES),
    stage: 'form',
    input: new Uint8Array(),
    fed: 0,
    batches: null,
    hasBodyEnded: false,
    isPending: false,
  }
  return {
    next: () => next(reading),
    async return() {
      // A pending read is not awaited: closing the connection ends it.
      if (reading.isPending) leave(reading).catch(() => undefined)
      else await leave(reading)
      return END
    },
  }
}

async function next(reading: Reading): Promise<Result> {
  const { decoder, body, parser, taker } = reading
  if (reading.stage === 'over') return END
  reading.isPending = true
  try {
    if (reading.stage === 'form') await begin(reading)
    if (reading.batches !== null) return await reading.batches.next()
    while (reading.stage === 'events') {
      let batch = taker.take(parser)
      if (batch.length === 0 && taker.long !== undefined) batch = await takeLong(taker.long, reading)
      if (batch.length > 0) return handOn(batch, reading)
      throwFailure(taker)
      if (decoder.isTerminated()) {
        reading.hasBodyEnded = await body.drain(reading.drainMs)
        reading.stage = 'end'
        break
      }
      const turn = reading.turnAfter(reading.fed)
      if (turn) await turn
      if (reading.fed < reading.input.length) feed(reading.input.subarray(reading.fed), reading)
      else receive(await (decoder.isFinished() ? body.nextAfterFinish() : body.next()), reading)
    }
    if (reading.stage === 'tail') {
      reading.stage = 'end'
      const batch = taker.takeTail(parser.end())
      if (batch.length > 0) return handOn(batch, reading)
    }
    throwFailure(taker)
    if (reading.stage === 'end') {
      reading.stage = 'ended'
      return { done: false, value: [decoder.end()] }
    }
    await leave(reading)
    return END
  } catch (error) {
    await leave(reading)
    throw inMidAnswer(error, decoder)
  } finally {
    reading.isPending = false
  }
}

async function begin(reading: Reading): Promise<void> {
  const { body, status, decoder } = reading
  const { form, head } = await sniff(body, MAX_BODY_BYTES)
  reading.stage = 'events'
  if (form === 'events') {
    feed(head.length === 1 && head[0] ? head[0] : Buffer.concat(head), reading)
    return
  }
  const text = await restOfBody(head, body, MAX_BODY_BYTES)
  reading.hasBodyEnded = true
  reading.batches = readBody(text, status, decoder)
}

/** Feeds the parser at most one batch. */
function feed(bytes: Uint8Array, reading: Reading): void {
  reading.input = bytes
  reading.fed = Math.min(BATCH_BYTES, bytes.length)
  reading.parser.feed(reading.fed === bytes.length ? bytes : bytes.subarray(0, reading.fed))
}

function receive(pulled: Pulled, reading: Reading): void {
  if (!pulled.done) feed(pulled.value, reading)
  else if (pulled === GAVE_UP) reading.stage = 'end'
  else {
    reading.hasBodyEnded = true
    reading.stage = 'tail'
  }
}

/** An event of megabytes is checked, parsed and read in separate steps. */
async function takeLong({ data }: SseEvent, { status, taker, parser }: Reading): Promise<FrameBatch> {
  await turnOfLoop()
  checkReply(data, status)
  await turnOfLoop()
  const value = parseUnchecked(data)
  await turnOfLoop()
  const batch = splitLongText(withParsed(data, value, () => taker.take(parser)))
  await turnOfLoop()
  return batch
}

function handOn(batch: FrameBatch, { advance }: Reading): Result {
  if (advance && batch.some(goesOn)) advance()
  return { done: false, value: batch }
}

function throwFailure({ failure }: EventTaker): void {
  if (failure !== undefined) throw failure.error
}

async function leave(reading: Reading): Promise<void> {
  reading.stage = 'over'
  if (reading.hasBodyEnded) return
  reading.hasBodyEnded = true
  await reading.body.leave()
}

/** False for a ping, a message start without content, and repeated usage. */
const goesOn = ({ events, plainText }: InferenceFrame): boolean =>
  plainText !== undefined ||
  events.some((event) => {
    // Items of built-in tools come before the first text; an empty chunk of chat may have unknown fields.
    if (event.type === 'native') return event.dialect !== 'chat'
    return isContent(event) || event.type === 'response-end'
  })

/** A reset in the middle of an answer truncates it; before any content it is a failed connection. */
function inMidAnswer(error: unknown, decoder: ReplyDecoder): unknown {
  if (!decoder.hasContent() || !(error instanceof UpstreamError) || error.kind !== 'connect') return error
  return new UpstreamError('truncated', error.reason, { code: error.code, cause: error })
}
