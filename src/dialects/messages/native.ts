import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'

/**
 * The `data` of `native` events of this dialect, for a writer of the same dialect.
 *
 * `event` is an event of a stream as it came, but for its `index`, which counts the blocks of this reply; starts and
 * stops of blocks that upstream left out are there. Plain text deltas of the block that was started last do not come:
 * their neutral event says all.
 *
 * `message` is the whole of a reply that was not streamed.
 */
export interface MessagesNative {
  event?: JsonObject
  message?: JsonObject
}

export const isMessagesNative = (data: unknown): data is MessagesNative =>
  isObject(data) &&
  (data.event === undefined || isObject(data.event)) &&
  (data.message === undefined || isObject(data.message))
