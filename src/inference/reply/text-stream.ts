import { cancel } from '../../core/cancellation.ts'
import type { FrameBatch } from '../../core/events.ts'
import { endOfPiece } from '../../core/pieces.ts'
import { turnOfLoop } from '../../core/turn.ts'
import type { StreamWriter } from '../../dialects/dialect.ts'
import type { Generation } from '../generation.ts'
import { end } from '../pipeline.ts'
import { settle } from '../settle.ts'
import { withSteps } from '../steps/family.ts'
import { type CallerDisconnected, onDisconnect } from '../upstream/abort.ts'
import { errorForCaller, inStream, isReported } from '../upstream/failure.ts'
import type { Dispatched } from '../upstream/first-content.ts'
import type { Ending, Meter } from './meter.ts'
import type { ResponseRecorder } from './recorder.ts'
import { createTextQueue, type TextQueue } from './text-queue.ts'

/** A streamed reply as text. The reader, which sends or stores it, pulls each piece, so that no text is buffered. */
export interface TextStream {
  readonly generation: Generation<Meter>
  /** Resolves once the first content has arrived. */
  readonly starting: Promise<unknown>
  /**
   * The next text; null at the end. The end is returned only after the settlement is committed; a truncated stream ends
   * with an error event of the dialect. Never rejects.
   */
  next(): Promise<string | null>
  /** The start of the reply, before any content; '' if the dialect has none. */
  begin(): string
  /** The reply is read completely; only the commit of the settlement is pending. */
  readonly isSettling: boolean
  /** Ends the reply: settles the delivered part and stops reading. */
  leave(reason: CallerDisconnected): void
}

export interface TextStreamInput {
  readonly generation: Generation<Meter>
  /** If it rejects, the stream ends with an error event. */
  readonly starting: Promise<Dispatched>
  open(started: Dispatched): StreamWriter
  /** A writer for the current attempt, before any reply. */
  unansweredWriter(): StreamWriter
  /** Present if the reply is stored. */
  readonly recorder?: ResponseRecorder | undefined
}

/** The most text that is written ahead of a caller that does not read. */
const BURST_CHARACTERS = 64 * 1024
const SILENT_FRAMES = 5_000
/** The size of a piece. The end of a Responses stream repeats the complete reply: up to 100 MB with logprobs. */
const PIECE_CHARACTERS = 256 * 1024

/** The state of one stream. */
interface Streaming extends TextStreamInput {
  writer: StreamWriter | null
  iterator: AsyncIterator<FrameBatch> | null
  /** The frames of the last network read, and how many of them have been written. */
  batch: FrameBatch
  written: number
  /** Frames since the last turn of the event loop. */
  silentFrames: number
  /** Encoded text that has not been returned yet. */
  unsent: string
  /** Long texts, which follow `unsent`. */
  readonly long: TextQueue
  hasBegun: boolean
  /** Everything has been encoded. */
  hasEnded: boolean
  hasShownBeginning: boolean
  isSettling: boolean
  isDisconnected: boolean
  isRecorded: boolean
}

export function createTextStream(input: TextStreamInput): TextStream {
  const { generation, starting } = input
  const streaming: Streaming = {
    ...input,
    writer: null,
    iterator: null,
    batch: [],
    written: 0,
    silentFrames: 0,
    unsent: '',
    long: createTextQueue(),
    hasBegun: false,
    hasEnded: false,
    hasShownBeginning: false,
    isSettling: false,
    isDisconnected: false,
    isRecorded: false,
  }
  // Awaited by the first `next`: a disconnect before that must not make this an unhandled rejection.
  starting.catch(() => undefined)
  return {
    generation,
    starting,
    begin() {
      const text = input.unansweredWriter().begin?.() ?? ''
      streaming.hasShownBeginning = text !== ''
      return text
    },
    get isSettling() {
      return streaming.isSettling
    },
    next: () => nextText(streaming),
    leave: (reason) => leave(streaming, reason),
  }
}

async function nextText(streaming: Streaming): Promise<string | null> {
  if (!streaming.hasBegun) {
    streaming.hasBegun = true
    onDisconnect(streaming.generation.cancellation, (reason) => leave(streaming, reason))
  }
  while (!streaming.isDisconnected) {
    writeBurst(streaming)
    if (hasText(streaming)) return takePiece(streaming)
    if (streaming.hasEnded) {
      end(streaming.generation)
      return null
    }
    try {
      await readOn(streaming)
    } catch (error) {
      if (!streaming.isDisconnected) await failed(streaming, error).catch(lostBy(streaming))
      streaming.hasEnded = true
    }
  }
  return null
}

/** Reads the next frames, or the end. */
async function readOn(streaming: Streaming): Promise<void> {
  // The written frames produced no text.
  if (streaming.written < streaming.batch.length) return turnOfLoop()
  const { value, done } = await (streaming.iterator ?? (await startReading(streaming))).next()
  if (!done) {
    streaming.batch = value
    streaming.written = 0
    streaming.silentFrames += value.length
    if (streaming.silentFrames <= SILENT_FRAMES) return
    streaming.silentFrames = 0
    return turnOfLoop()
  }
  streaming.isSettling = true
  const closing = withSteps(await settle(streaming.generation, 'complete'), streaming.generation)
  streaming.unsent += streaming.writer?.end(closing) ?? ''
  streaming.hasEnded = true
  if (!streaming.long.isEmpty || streaming.unsent.length > PIECE_CHARACTERS) await turnOfLoop()
  if (streaming.recorder) await record(streaming, 'complete', streaming.writer)
}

async function startReading(streaming: Streaming): Promise<AsyncIterator<FrameBatch>> {
  const { generation } = streaming
  const started = await streaming.starting
  generation.dropped = started.dropped
  const writer = streaming.open(started)
  streaming.writer = writer
  if (streaming.hasShownBeginning) writer.begin?.()
  for (const body of generation.sentBodies ?? []) streaming.unsent += writer.echo(body)
  writer.holdLong?.(streaming.long.push)
  streaming.iterator = started.frames[Symbol.asyncIterator]()
  return streaming.iterator
}

/** Encodes frames of the batch, up to one burst. */
function writeBurst(streaming: Streaming): void {
  const { batch, writer, long } = streaming
  const { meter, content, isCounted, loop } = streaming.generation
  const until = Math.min(batch.length, streaming.written + SILENT_FRAMES)
  while (streaming.written < until && streaming.unsent.length < BURST_CHARACTERS && long.isEmpty) {
    const frame = batch[streaming.written]!
    streaming.written += 1
    // A loop of server tools counts the frames of each step by itself.
    if (!isCounted && loop === null) meter.see(frame)
    content?.see(frame)
    streaming.unsent += writer?.write(frame) ?? ''
  }
  if (streaming.written < batch.length) return
  // Not held while the next read is awaited.
  streaming.batch = []
  streaming.written = 0
}

const hasText = ({ unsent, long }: Streaming): boolean => unsent.length > 0 || !long.isEmpty

function takePiece(streaming: Streaming): string {
  const { unsent, long } = streaming
  if (unsent.length === 0) return long.take(PIECE_CHARACTERS)
  const piece = unsent.slice(0, endOfPiece(unsent, 0, PIECE_CHARACTERS))
  streaming.unsent = unsent.slice(piece.length)
  return piece
}

const lostBy =
  ({ generation: { deps, id, opening } }: Streaming) =>
  (error: unknown): void =>
    deps.onLost(error, id, opening.incoming.trace)

async function failed(streaming: Streaming, error: unknown): Promise<void> {
  const { generation, unansweredWriter } = streaming
  const ending = streaming.iterator ? 'truncated' : 'failed'
  generation.content?.fail(errorForCaller(error, generation))
  // A stream whose settlement fails must also end with an error.
  await settle(generation, ending).catch(
    (unsettled: unknown) => isReported(unsettled, error) || lostBy(streaming)(unsettled),
  )
  streaming.unsent += await writtenFailure(streaming, error, ending, streaming.writer ?? unansweredWriter())
  streaming.hasEnded = true
}

async function writtenFailure(
  streaming: Streaming,
  error: unknown,
  ending: Ending,
  to: StreamWriter,
): Promise<string> {
  const text = to.fail(inStream(errorForCaller(error, streaming.generation)))
  if (streaming.recorder) await record(streaming, ending, to)
  return text
}

async function record(streaming: Streaming, ending: Ending, from: StreamWriter | null): Promise<void> {
  if (streaming.isRecorded) return
  streaming.isRecorded = true
  await streaming.recorder?.end(ending, from?.reply?.() ?? null)
}

/** Records what was written until the client disconnected. */
async function recordDisconnected(streaming: Streaming, reason: CallerDisconnected): Promise<void> {
  const { isRecorded, writer } = streaming
  if (isRecorded) return
  if (writer) await writtenFailure(streaming, reason, 'disconnected', writer)
  else await record(streaming, 'disconnected', null)
}

function leave(streaming: Streaming, reason: CallerDisconnected): void {
  if (streaming.isDisconnected) return
  streaming.isDisconnected = true
  const { generation, recorder } = streaming
  const lost = lostBy(streaming)
  const settled = settle(generation, 'disconnected').catch(lost)
  const recorded = recorder ? settled.then(() => recordDisconnected(streaming, reason)) : settled
  recorded.then(() => end(generation), lost)
  cancel(generation.cancellation, reason)
  streaming.iterator?.return?.().catch(() => undefined)
}
