import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'

/** Names, once, what cannot be carried. */
export type Drop = (name: string) => void

/** What caching points a model has. */
export interface Caching {
  readonly caches: boolean
  /** A point may hold for an hour. */
  readonly cachesAnHour: boolean
}

/**
 * A caching mark is a block of its own behind what it marks. Five minutes are the usual time. Where the model has no
 * such points, or none of this time, the mark or its time is named.
 */
export function cachePointFor(
  extra: JsonObject | undefined,
  { caches, cachesAnHour }: Caching,
  drop: Drop,
): JsonObject[] {
  const mark = extra?.['cache_control']
  if (!isObject(mark)) return []
  if (!caches) {
    drop('cache_control')
    return []
  }
  const isLong = mark['ttl'] === '1h'
  if (isLong && !cachesAnHour) drop('cache_control.ttl')
  return [{ cachePoint: { type: 'default', ...(isLong && cachesAnHour ? { ttl: '1h' } : {}) } }]
}
