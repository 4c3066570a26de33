import type { JsonObject } from '../../core/events.ts'
import type { ReplyContext } from '../../core/result.ts'
import type { Ending } from './meter.ts'

/** Stores a reply. */
export interface ResponseRecorder {
  /** Awaited after the reservation and before the first call to a provider. An error rejects the request. */
  begin(context: ReplyContext): Promise<void>
  /**
   * Awaited after the settlement and before the end of the reply is sent. Never rejects. `reply` is the part that was
   * written; null if none was. Not called if the caller got an error in place of a reply.
   */
  end(ending: Ending, reply: JsonObject | null): Promise<void>
}
