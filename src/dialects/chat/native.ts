import type { JsonObject } from '../../core/events.ts'

/**
 * The `data` of `native` events of the chat dialect: the fields of one chunk (or one unary body) that our reader
 * does not know, by the place where they stood. Our chat writer puts them back there.
 */
export interface ChatNative {
  /** Top level: `system_fingerprint` and whatever else. */
  chunk?: JsonObject
  choices?: { index: number; choice?: JsonObject; message?: JsonObject }[]
}
