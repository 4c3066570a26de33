import { UpstreamError } from '../core/errors.ts'
import { type FrameBatch, type InferenceFrame, isContent } from '../core/events.ts'
import type { UpstreamReply } from '../core/reply.ts'
import { turnOfLoop, turnsByLength } from '../core/turn.ts'
import { createPuller, GAVE_UP, type Pulled, restOfBody, sniff } from './pull.ts'
import { type Batches, END, MAX_BODY_BYTES, type Result, readBody } from './read-body.ts'
import { checkAhead, type ReplyDecoder } from './reply-decoder.ts'
import { splitLongText } from './split-text.ts'
import { createSseParser, type SseEvent, type StreamParser } from './sse.ts'
import { createEventTaker } from './take-events.ts'

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

/**
 * Reads a body that may be a stream of events. Written by hand, because it runs for every chunk of every stream: one
 * promise for each batch, where a generator has three.
 */
export function readStream(
  reply: Pick<UpstreamReply, 'status' | 'bytes' | 'awaitContent'>,
  decoder: ReplyDecoder,
  options: ReadOptions,
): AsyncIterator<FrameBatch, undefined> {
  const { status } = reply
  const advance = reply.awaitContent?.()
  const body = createPuller(reply.bytes, options.lingerMs ?? LINGER_MS)
  const parser = (options.createParser ?? createSseParser)()
  const taker = createEventTaker(decoder)
  const turnAfter = turnsByLength(TURN_BYTES)
  let stage: 'form' | 'events' | 'tail' | 'end' | 'told' | 'over' = 'form'
  /** The last read, and how much of it the parser has. */
  let input: Uint8Array = new Uint8Array()
  let fed = 0
  /** The batches of a body that is not a stream of events. */
  let batches: Batches | null = null
  let hasBodyEnded = false
  let isReading = false

  async function begin(): Promise<void> {
    const { form, head } = await sniff(body, MAX_BODY_BYTES)
    stage = 'events'
    if (form === 'events') {
      feed(head.length === 1 && head[0] ? head[0] : Buffer.concat(head))
      return
    }
    const text = await restOfBody(head, body, MAX_BODY_BYTES)
    hasBodyEnded = true
    batches = readBody(text, status, decoder)
  }

  /** Feeds the parser at most one batch. */
  function feed(bytes: Uint8Array): void {
    input = bytes
    fed = Math.min(BATCH_BYTES, bytes.length)
    parser.feed(fed === bytes.length ? bytes : bytes.subarray(0, fed))
  }

  function receive(pulled: Pulled): void {
    if (!pulled.done) feed(pulled.value)
    else if (pulled === GAVE_UP) stage = 'end'
    else {
      hasBodyEnded = true
      stage = 'tail'
    }
  }

  /** An event of megabytes is checked and read in steps of their own. */
  async function takeLong({ data }: SseEvent): Promise<FrameBatch> {
    await turnOfLoop()
    checkAhead(data, status)
    await turnOfLoop()
    const batch = splitLongText(taker.take(parser))
    await turnOfLoop()
    return batch
  }

  function handOn(batch: FrameBatch): Result {
    if (advance && batch.some(goesOn)) advance()
    return { done: false, value: batch }
  }

  function throwFailure(): void {
    if (taker.failure !== undefined) throw taker.failure.error
  }

  async function leave(): Promise<void> {
    stage = 'over'
    if (hasBodyEnded) return
    hasBodyEnded = true
    await body.leave()
  }

  async function next(): Promise<Result> {
    if (stage === 'over') return END
    isReading = true
    try {
      if (stage === 'form') await begin()
      if (batches !== null) return await batches.next()
      while (stage === 'events') {
        let batch = taker.take(parser)
        if (batch.length === 0 && taker.long !== undefined) batch = await takeLong(taker.long)
        if (batch.length > 0) return handOn(batch)
        throwFailure()
        if (decoder.isTerminated()) {
          hasBodyEnded = await body.drain(options.drainMs ?? DRAIN_MS)
          stage = 'end'
          break
        }
        const turn = turnAfter(fed)
        if (turn) await turn
        if (fed < input.length) feed(input.subarray(fed))
        else receive(await (decoder.isFinished() ? body.nextAfterFinish() : body.next()))
      }
      if (stage === 'tail') {
        stage = 'end'
        const batch = taker.takeTail(parser.end())
        if (batch.length > 0) return handOn(batch)
      }
      throwFailure()
      if (stage === 'end') {
        stage = 'told'
        return { done: false, value: [decoder.end()] }
      }
      await leave()
      return END
    } catch (error) {
      await leave()
      throw inMidAnswer(error, decoder)
    } finally {
      isReading = false
    }
  }

  return {
    next,
    async return() {
      // A pending read is not awaited: closing the connection ends it.
      if (isReading) leave().catch(() => undefined)
      else await leave()
      return END
    },
  }
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
