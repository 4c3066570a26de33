import type { JsonObject } from '../../core/events.ts'
import type { ReplyContext } from '../../core/result.ts'
import type { Ending } from './meter.ts'

/** Keeps a reply beyond its connection. */
export interface ResponseRecorder {
  /** The run has no caller's connection: nothing is waited for, and every failure is an event of the stream. */
  readonly isDetached: boolean
  /** Awaited when everything is reserved and nothing was sent. What it throws refuses the request. */
  begin(context: ReplyContext): Promise<void>
  /**
   * Awaited after the settlement and before the end leaves. Never rejects. `reply` is what was written of the reply;
   * null where nothing was. Not called where the caller was answered with an error in place of a reply.
   */
  end(ending: Ending, reply: JsonObject | null): Promise<void>
}
