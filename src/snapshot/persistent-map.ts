import type { Lookup } from '../core/snapshot.ts'

/**
 * A map that never changes. `with` answers its successor, which shares with it all but the few buckets that differ: a
 * change costs the same at a hundred entries and at a hundred thousand, and who holds the old one still reads it.
 */
export interface PersistentMap<Value> extends Lookup<Value> {
  readonly size: number
  entries(): Iterable<[string, Value]>
  /** Undefined removes an entry. */
  with(changes: ReadonlyMap<string, Value | undefined>): PersistentMap<Value>
}

type Bucket<Value> = ReadonlyMap<string, Value>

const BUCKETS = 1024
/** Ids differ at their end: a UUID of version 7 begins with the time. */
const TAIL = 8

function bucketOf(key: string): number {
  let hash = 0
  for (let at = Math.max(0, key.length - TAIL); at < key.length; at++) {
    hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0
  }
  return (hash ^ (hash >>> 10)) & (BUCKETS - 1)
}

export function persistentMap<Value>(entries: Iterable<readonly [string, Value]>): PersistentMap<Value> {
  const empty: Bucket<Value> = new Map()
  return over(new Array<Bucket<Value>>(BUCKETS).fill(empty), 0).with(new Map(entries))
}

function over<Value>(buckets: readonly Bucket<Value>[], size: number): PersistentMap<Value> {
  return {
    size,
    get: (key) => buckets[bucketOf(key)]?.get(key),
    has: (key) => buckets[bucketOf(key)]?.has(key) === true,
    *values() {
      for (const bucket of buckets) yield* bucket.values()
    },
    *entries() {
      for (const bucket of buckets) yield* bucket
    },
    with(changes) {
      const next = [...buckets]
      const own = new Map<number, Map<string, Value>>()
      let count = size
      for (const [key, value] of changes) {
        const index = bucketOf(key)
        const bucket = own.get(index) ?? new Map(buckets[index])
        own.set(index, bucket)
        next[index] = bucket
        count -= bucket.size
        if (value === undefined) bucket.delete(key)
        else bucket.set(key, value)
        count += bucket.size
      }
      return over(next, count)
    },
  }
}
