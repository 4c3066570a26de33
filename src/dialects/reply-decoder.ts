import type { UpstreamError } from '../core/errors.ts'
import type { InferenceFrame } from '../core/events.ts'
import type { Shortcut } from './shortcut.ts'

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
  failure(): UpstreamError | null
  /** The terminal marker came: nothing after it counts. */
  isTerminated(): boolean
  /** Every choice has its finish reason; only usage may follow. */
  isFinished(): boolean
  hasContent(): boolean
  /** Reads events that are like one that was read before as text, without `takeEvent`; absent: none. */
  readonly shortcut?: Shortcut | undefined
}
