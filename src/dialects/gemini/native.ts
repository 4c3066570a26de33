import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'

/**
 * The `data` of `native` events of this dialect, for a writer of the same dialect: a chunk of a stream, or the whole
 * body of a reply, as it came. The neutral events of its frame say the same once more.
 *
 * `isRest`: filters have taken out of it what neutral events tell, so that both are to be written.
 */
export interface GeminiNative {
  chunk: JsonObject
  isRest?: boolean
}

export const isGeminiNative = (data: unknown): data is { chunk: JsonObject; isRest?: unknown } =>
  isObject(data) && isObject(data.chunk)
