import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../values.ts'

/** Names, once, what cannot be carried. */
export type Drop = (name: string) => void

/**
 * A caching mark is a block of its own behind what it marks. Five minutes are the usual time. Where the model has no
 * such points the mark is named.
 */
export function cachePointFor(extra: JsonObject | undefined, isTaken: boolean, drop: Drop): JsonObject[] {
  const mark = extra?.['cache_control']
  if (!isObject(mark)) return []
  if (!isTaken) {
    drop('cache_control')
    return []
  }
  return [{ cachePoint: { type: 'default', ...(mark['ttl'] === '1h' ? { ttl: '1h' } : {}) } }]
}
