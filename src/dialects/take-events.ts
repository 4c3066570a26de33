import type { FrameBatch, InferenceFrame } from '../core/events.ts'
import { createPieceCount, createSilentCount, type ReplyDecoder } from './reply-decoder.ts'
import type { SseEvent, StreamParser } from './sse.ts'

/** Passes events to a decoder, in order. A failing event throws after the frames before it. */
export interface EventTaker {
  /** The frames of all complete events, up to a long one. */
  take(parser: StreamParser): FrameBatch
  /** The frames of the last events, which the end of the body may have truncated. */
  takeTail(events: readonly SseEvent[]): FrameBatch
  /** An event of megabytes that the next `take` reads first: the caller may check it in a separate step. */
  readonly long: SseEvent | undefined
  /** Thrown after the frames before it were returned. */
  readonly failure: { readonly error: unknown } | undefined
}

/** The length of an event that takes milliseconds to read. */
export const LONG_TEXT_CHARACTERS = 256 * 1024

export function createEventTaker(decoder: ReplyDecoder): EventTaker {
  const { shortcut } = decoder
  const countPieces = createPieceCount()
  const countSilent = createSilentCount()
  let batch: InferenceFrame[] = []
  let long: SseEvent | undefined
  let failure: { readonly error: unknown } | undefined

  function takeOne({ name, data }: SseEvent, isTail: boolean): void {
    try {
      const frame = isTail ? decoder.takeTail(name, data) : decoder.takeEvent(name, data)
      countSilent(frame, data.length)
      if (frame !== undefined) {
        countPieces(frame)
        batch.push(frame)
      }
      const reported = decoder.failure()
      if (reported !== null) failure = { error: reported }
    } catch (error) {
      failure = { error }
    }
  }

  /** Reads events as text up to the next one that differs from the template. */
  function readRuns(text: string, from: number): number {
    let end = from
    for (let frame = shortcut?.readRun(text, end); frame; frame = shortcut?.readRun(text, end)) {
      countPieces(frame)
      batch.push(frame)
      end = shortcut?.end ?? end
    }
    return end
  }

  function following(parser: StreamParser): SseEvent | undefined {
    if (failure !== undefined || decoder.isTerminated()) return undefined
    try {
      if (shortcut?.isFramed) parser.skip?.(readRuns)
      return parser.next()
    } catch (error) {
      failure = { error }
      return undefined
    }
  }

  function taken(): FrameBatch {
    const frames = batch
    batch = []
    return frames
  }

  return {
    take(parser) {
      const prepared = long
      long = undefined
      for (let event = prepared ?? following(parser); event; event = following(parser)) {
        if (event.data.length > LONG_TEXT_CHARACTERS && event !== prepared) {
          long = event
          break
        }
        takeOne(event, false)
        if (shortcut?.isUnframed) shortcut.frame(parser.stood?.(), event.data)
      }
      return taken()
    },
    takeTail(events) {
      for (const event of events) {
        if (failure === undefined && !decoder.isTerminated()) takeOne(event, true)
      }
      return taken()
    },
    get long() {
      return long
    },
    get failure() {
      return failure
    },
  }
}
