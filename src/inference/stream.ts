import type { FrameBatch, JsonObject } from '../core/events.ts'
import { turnOfLoop } from '../core/turn.ts'
import type { StreamWriter } from '../dialects/dialect.ts'
import { CallerLeft } from './abort.ts'
import type { Dispatched } from './dispatch.ts'
import type { Exchange } from './exchange.ts'
import { inStream, isTold, whatToTell } from './failure.ts'
import type { Keeper } from './keeper.ts'
import type { Ending } from './meter.ts'
import type { Ticker } from './ticker.ts'

export interface StreamInput {
  /** Under way; it may still fail, then the stream ends in an error event. */
  starting: Promise<Dispatched>
  /** The silence has lasted long enough for the first comment already. */
  isLate: boolean
  exchange: Exchange
  ticker: Ticker
  upstreamAbort: AbortController
  /** Aborts when the caller's connection goes away. */
  callerSignal: AbortSignal
  open(started: Dispatched): { writer: StreamWriter; echoed: readonly JsonObject[] }
  /** For a failure before anybody answered. */
  failureWriter(): StreamWriter
  /** Sent in silence: what the caller's clients skip; absent: a comment. */
  keepAlive?: string
  /** Present where the reply is kept. */
  keeper: Keeper | undefined
  /** Called once, when nothing of this exchange runs any more. */
  ended(): void
  onLost(error: unknown): void
}

/** A comment that clients skip; it keeps proxies and the caller's own clock quiet. */
const KEEP_ALIVE = ': SLUICE PROCESSING\n\n'
const KEEP_ALIVE_MS = 5_000
const SLOW_READER_MS = 60_000
/**
 * After so much text the event loop gets a turn, so that one stream of large frames does not hold up the others. It is
 * also the most that is written ahead of a caller who reads nothing.
 */
const BURST_CHARACTERS = 64 * 1024
const SILENT_FRAMES = 5_000
/** What is encoded at once. The end of a Responses stream repeats the whole answer: 100 MB with its logprobs. */
const PIECE_CHARACTERS = 256 * 1024

/**
 * The relay. Pulled by the caller's connection, so a slow caller slows the provider and nothing piles up here.
 * The end is written only after the settlement is committed; an end that is not whole is an error event.
 */
export function streamReply(input: StreamInput): ReadableStream<Uint8Array> {
  const { exchange, ticker, upstreamAbort, callerSignal } = input
  const encoder = new TextEncoder()
  const keepAlive = encoder.encode(input.keepAlive ?? KEEP_ALIVE)
  let writer: StreamWriter | null = null
  let iterator: AsyncIterator<FrameBatch> | null = null
  let isWaitingForProvider = true
  /** Written and not handed to the connection yet. */
  let unsent = ''
  let burst = 0
  let isKept = false
  /** The end has been written, and may not have been sent. */
  let hasEnded = false
  /** What the last network read said, and how much of it has been written. */
  let batch: FrameBatch = []
  let written = 0
  /** Frames since the last turn of the event loop: those that wait for the first content may all write nothing. */
  let silent = 0
  let connection: ReadableStreamDefaultController<Uint8Array> | null = null
  // Awaited by the first pull; a caller that leaves before it must not make this an unhandled rejection.
  input.starting.catch(() => undefined)

  async function start(): Promise<IteratorResult<FrameBatch>> {
    const started = await input.starting
    exchange.dropped = started.dropped
    iterator = started.frames[Symbol.asyncIterator]()
    const opened = input.open(started)
    writer = opened.writer
    for (const body of opened.echoed) unsent += opened.writer.echo(body)
    return iterator.next()
  }

  /** The next text to send: what one batch says, or as much of it as goes in one burst. */
  async function nextText(): Promise<{ text: string; isEnd: boolean }> {
    for (;;) {
      writeBurst()
      if (unsent.length > 0 || hasEnded) {
        const text = takePiece()
        return { text, isEnd: hasEnded && unsent.length === 0 }
      }
      const result = await (iterator ? iterator.next() : start())
      if (result.done) {
        const closing = await exchange.settle('whole')
        unsent += writer?.end(closing) ?? ''
        hasEnded = true
        if (unsent.length > PIECE_CHARACTERS) await turnOfLoop()
        if (input.keeper) await keep('whole', writer)
        continue
      }
      batch = result.value
      written = 0
      silent += batch.length
      if (silent > SILENT_FRAMES) {
        silent = 0
        await turnOfLoop()
      }
    }
  }

  /** Writes frames of the batch, a burst of them at most: a caller that reads nothing holds back one burst. */
  function writeBurst(): void {
    for (let frame = batch[written]; frame && unsent.length < BURST_CHARACTERS; frame = batch[written]) {
      written += 1
      exchange.meter.see(frame)
      exchange.content?.see(frame)
      unsent += writer?.write(frame) ?? ''
    }
  }

  function takePiece(): string {
    if (unsent.length <= PIECE_CHARACTERS) return taken()
    const last = unsent.charCodeAt(PIECE_CHARACTERS - 1)
    // A character of two units is not cut.
    const end = last >= 0xd800 && last < 0xdc00 ? PIECE_CHARACTERS - 1 : PIECE_CHARACTERS
    const text = unsent.slice(0, end)
    unsent = unsent.slice(end)
    return text
  }

  function taken(): string {
    const text = unsent
    unsent = ''
    return text
  }

  async function failureText(error: unknown): Promise<string> {
    const ending = iterator ? 'cut' : 'failed'
    exchange.content?.fail(whatToTell(error, upstreamAbort.signal, exchange.log))
    // Even an end that cannot be settled must not look clean.
    await exchange.settle(ending).catch((lost: unknown) => isTold(lost, error) || input.onLost(lost))
    return taken() + (await writtenFailure(error, ending, writer ?? input.failureWriter()))
  }

  async function writtenFailure(error: unknown, ending: Ending, to: StreamWriter): Promise<string> {
    const text = to.fail(inStream(whatToTell(error, upstreamAbort.signal, exchange.log)))
    if (input.keeper) await keep(ending, to)
    return text
  }

  async function keep(ending: Ending, from: StreamWriter | null): Promise<void> {
    if (isKept) return
    isKept = true
    await input.keeper?.end(ending, from?.reply?.() ?? null)
  }

  /** What was written until the caller left; nobody reads its end. */
  async function keepLeft(reason: CallerLeft): Promise<void> {
    if (isKept) return
    if (writer) await writtenFailure(reason, 'left', writer)
    else await keep('left', null)
  }

  /** Nothing came for a while, from whoever has the turn. */
  const clock = ticker.watch(() => {
    if (!isWaitingForProvider) return leave(new CallerLeft('the caller reads nothing'))
    connection?.enqueue(keepAlive)
    clock.due = ticker.now() + KEEP_ALIVE_MS
  })

  function finish(): void {
    clock.stop()
    callerSignal.removeEventListener('abort', onCallerAbort)
    input.ended()
  }

  function leave(reason: CallerLeft): void {
    const settled = exchange.settle('left').catch(input.onLost)
    const kept = input.keeper ? settled.then(() => keepLeft(reason)) : settled
    kept.then(finish, input.onLost)
    upstreamAbort.abort(reason)
    iterator?.return?.().catch(() => undefined)
    clock.stop()
    connection?.error(reason)
  }
  const onCallerAbort = () => leave(new CallerLeft())
  callerSignal.addEventListener('abort', onCallerAbort, { once: true })

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    isWaitingForProvider = true
    clock.due = ticker.now() + KEEP_ALIVE_MS
    try {
      if (burst > BURST_CHARACTERS) {
        burst = 0
        await turnOfLoop()
      }
      const { text, isEnd } = await nextText()
      burst += text.length
      if (text !== '') controller.enqueue(encoder.encode(text))
      if (!isEnd) {
        isWaitingForProvider = false
        clock.due = ticker.now() + SLOW_READER_MS
        return
      }
    } catch (error) {
      if (upstreamAbort.signal.reason instanceof CallerLeft) return
      await failureText(error).then((text) => controller.enqueue(encoder.encode(text)), input.onLost)
    }
    finish()
    controller.close()
  }

  const begin = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    connection = controller
    if (input.isLate) controller.enqueue(keepAlive)
  }
  return new ReadableStream<Uint8Array>({ start: begin, pull, cancel: onCallerAbort }, { highWaterMark: 0 })
}
