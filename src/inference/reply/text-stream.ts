import { cancel, onCancel } from '../../core/cancellation.ts'
import type { FrameBatch } from '../../core/events.ts'
import { turnOfLoop } from '../../core/turn.ts'
import type { StreamWriter } from '../../dialects/dialect.ts'
import type { Generation } from '../generation.ts'
import { end } from '../pipeline.ts'
import { settle } from '../settle.ts'
import { CallerDisconnected } from '../upstream/abort.ts'
import { inStream, isTold, whatToTell } from '../upstream/failure.ts'
import type { Dispatched } from '../upstream/first-content.ts'
import type { Ending, Meter } from './meter.ts'
import type { ResponseRecorder } from './recorder.ts'

/** A streamed reply as text. Its reader, which sends or stores it, pulls each piece, so that nothing is buffered here. */
export interface TextStream {
  readonly generation: Generation<Meter>
  /** Resolves once the first content is there. */
  readonly starting: Promise<unknown>
  /**
   * The next text; null at the end. The end is returned only after the settlement is committed; a truncated stream ends
   * with an error event of the dialect. Never rejects.
   */
  next(): Promise<string | null>
  /** What shows the caller that the model has begun, before there is any content; '' where nothing can. */
  begin(): string
  /** Everything was read: only the commit of its settlement is waited for. */
  readonly isSettling: boolean
  /** The reply ends here: what was delivered is settled, and nothing more is read. */
  leave(reason: CallerDisconnected): void
}

export interface TextStreamInput {
  readonly generation: Generation<Meter>
  /** Under way; it may still fail, then the stream ends in an error event. */
  readonly starting: Promise<Dispatched>
  open(started: Dispatched): StreamWriter
  /** Before any provider has answered: of the attempt that is under way. */
  unansweredWriter(): StreamWriter
  /** Present where the reply is kept. */
  readonly recorder?: ResponseRecorder | undefined
}

/** The most that is written ahead of a caller that does not read. */
const BURST_CHARACTERS = 64 * 1024
const SILENT_FRAMES = 5_000
/** How much is encoded at once. The end of a Responses stream repeats the complete reply: 100 MB with its logprobs. */
const PIECE_CHARACTERS = 256 * 1024

export function createTextStream({
  generation,
  starting,
  open,
  unansweredWriter,
  recorder,
}: TextStreamInput): TextStream {
  const { deps, meter, content, cancellation, id } = generation
  let writer: StreamWriter | null = null
  let iterator: AsyncIterator<FrameBatch> | null = null
  /** The frames of the last network read, and how many of them have been written. */
  let batch: FrameBatch = []
  let written = 0
  /** Frames since the last turn of the event loop. */
  let silentFrames = 0
  /** Written and not taken yet. */
  let unsent = ''
  let hasBegun = false
  /** Everything is written. */
  let hasEnded = false
  let hasShownBeginning = false
  let isSettling = false
  let isDisconnected = false
  let isKept = false
  const lost = (error: unknown): void => deps.onLost(error, id)
  // Awaited by the first `next`: a caller that leaves before it must not make this an unhandled rejection.
  starting.catch(() => undefined)

  /** Reads on to frames that can be written, or to the end. */
  async function readOn(): Promise<void> {
    // Frames that wait for the first content may all write nothing.
    if (written < batch.length) return turnOfLoop()
    const { value, done } = await (iterator ?? (await begun())).next()
    if (!done) {
      batch = value
      written = 0
      silentFrames += value.length
      if (silentFrames <= SILENT_FRAMES) return
      silentFrames = 0
      return turnOfLoop()
    }
    isSettling = true
    const closing = await settle(generation, 'complete')
    unsent += writer?.end(closing) ?? ''
    hasEnded = true
    if (unsent.length > PIECE_CHARACTERS) await turnOfLoop()
    if (recorder) await keep('complete', writer)
  }

  async function begun(): Promise<AsyncIterator<FrameBatch>> {
    const started = await starting
    generation.dropped = started.dropped
    writer = open(started)
    if (hasShownBeginning) writer.begin?.()
    for (const body of generation.sentBodies ?? []) unsent += writer.echo(body)
    iterator = started.frames[Symbol.asyncIterator]()
    return iterator
  }

  /** Writes frames of the batch, a burst of them at most. */
  function writeBurst(): void {
    const end = Math.min(batch.length, written + SILENT_FRAMES)
    while (written < end && unsent.length < BURST_CHARACTERS) {
      const frame = batch[written]!
      written += 1
      meter.see(frame)
      content?.see(frame)
      unsent += writer?.write(frame) ?? ''
    }
  }

  function takePiece(): string {
    const piece = unsent.length <= PIECE_CHARACTERS ? unsent : unsent.slice(0, endOfPiece(unsent))
    unsent = piece.length === unsent.length ? '' : unsent.slice(piece.length)
    return piece
  }

  async function failed(error: unknown): Promise<void> {
    const ending = iterator ? 'truncated' : 'failed'
    content?.fail(whatToTell(error, generation))
    // Even an end that cannot be settled must not look clean.
    await settle(generation, ending).catch(
      (unsettled: unknown) => isTold(unsettled, error) || lost(unsettled),
    )
    unsent += await writtenFailure(error, ending, writer ?? unansweredWriter())
    hasEnded = true
  }

  async function writtenFailure(error: unknown, ending: Ending, to: StreamWriter): Promise<string> {
    const text = to.fail(inStream(whatToTell(error, generation)))
    if (recorder) await keep(ending, to)
    return text
  }

  async function keep(ending: Ending, from: StreamWriter | null): Promise<void> {
    if (isKept) return
    isKept = true
    await recorder?.end(ending, from?.reply?.() ?? null)
  }

  /** Records what was written until the client disconnected. */
  async function recordDisconnected(reason: CallerDisconnected): Promise<void> {
    if (isKept) return
    if (writer) await writtenFailure(reason, 'disconnected', writer)
    else await keep('disconnected', null)
  }

  function leave(reason: CallerDisconnected): void {
    if (isDisconnected) return
    isDisconnected = true
    const settled = settle(generation, 'disconnected').catch(lost)
    const kept = recorder ? settled.then(() => recordDisconnected(reason)) : settled
    kept.then(() => end(generation), lost)
    cancel(cancellation, reason)
    iterator?.return?.().catch(() => undefined)
  }

  function watchCaller(): void {
    hasBegun = true
    const { reason } = cancellation
    if (reason instanceof CallerDisconnected) leave(reason)
    else onCancel(cancellation, (why) => why instanceof CallerDisconnected && leave(why))
  }

  return {
    generation,
    starting,
    begin() {
      const text = unansweredWriter().begin?.() ?? ''
      hasShownBeginning = text !== ''
      return text
    },
    get isSettling() {
      return isSettling
    },
    async next() {
      if (!hasBegun) watchCaller()
      while (!isDisconnected) {
        writeBurst()
        if (unsent.length > 0) return takePiece()
        if (hasEnded) {
          end(generation)
          return null
        }
        try {
          await readOn()
        } catch (error) {
          if (!isDisconnected) await failed(error).catch(lost)
          hasEnded = true
        }
      }
      return null
    },
    leave,
  }
}

/** A character of two units is not cut. */
function endOfPiece(text: string): number {
  const last = text.charCodeAt(PIECE_CHARACTERS - 1)
  return last >= 0xd800 && last < 0xdc00 ? PIECE_CHARACTERS - 1 : PIECE_CHARACTERS
}
