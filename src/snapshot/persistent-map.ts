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

export const persistentMap = <Value>(entries: Iterable<readonly [string, Value]>): PersistentMap<Value> =>
  over(new Array<Bucket<Value>>(BUCKETS).fill(new Map()), 0, entries)

/** `former` with the changes made: only the buckets that differ are new. */
function over<Value>(
  former: readonly Bucket<Value>[],
  formerSize: number,
  changes: Iterable<readonly [string, Value | undefined]>,
): PersistentMap<Value> {
  const buckets = [...former]
  const own = new Map<number, Map<string, Value>>()
  let size = formerSize
  for (const [key, value] of changes) {
    const index = bucketOf(key)
    let bucket = own.get(index)
    if (bucket === undefined) {
      bucket = new Map(former[index])
      own.set(index, bucket)
      buckets[index] = bucket
    }
    size -= bucket.size
    if (value === undefined) bucket.delete(key)
    else bucket.set(key, value)
    size += bucket.size
  }
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
    with: (changes) => over(buckets, size, changes),
  }
}
