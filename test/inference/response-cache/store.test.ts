import { expect, test } from 'bun:test'
import { createTicker } from '../../../src/inference/reply/ticker.ts'
import { createResponseCache } from '../../../src/inference/response-cache/store.ts'

/** Answers of 1,000 bytes each count as 1,512. */
const SIZE = 1_000 + 512

function cacheOf(maxBytes: number) {
  let now = 1_000_000
  const swept: (() => void)[] = []
  const cache = createResponseCache({
    maxBytes,
    now: () => now,
    ticker: {
      now: () => now,
      watch(callback) {
        const clock = { due: Number.POSITIVE_INFINITY, stop: () => void swept.splice(0) }
        swept.push(() => {
          if (clock.due > now) return
          clock.due = Number.POSITIVE_INFINITY
          callback()
        })
        return clock
      },
    },
  })
  return {
    cache,
    keep: (key: string, ttlSeconds = 300, size = 1_000) =>
      cache.keep(
        key,
        { sourceId: `gen-${key}`, traceId: '', account: 'lab', bytes: new Uint8Array(size), costNanoUsd: 0 },
        ttlSeconds,
      ),
    pass: (seconds: number) => {
      now += seconds * 1_000
    },
    sweep: () => {
      for (const each of [...swept]) each()
    },
    watches: () => swept.length,
  }
}

test('the least recently used reply is evicted first', () => {
  const { cache, keep } = cacheOf(3 * SIZE)
  for (const key of ['a', 'b', 'c']) keep(key)
  expect(cache.heldBytes()).toBe(3 * SIZE)
  cache.find('a')
  keep('d')
  expect(['a', 'b', 'c', 'd'].map((key) => cache.find(key)?.sourceId)).toEqual([
    'gen-a',
    undefined,
    'gen-c',
    'gen-d',
  ])
  expect(cache.heldBytes()).toBe(3 * SIZE)
})

test('a large reply evicts others, and a new one replaces the former', () => {
  const { cache, keep } = cacheOf(4 * SIZE)
  for (const key of ['a', 'b', 'c', 'd']) keep(key)
  keep('e', 300, 2 * SIZE)
  expect(['a', 'b', 'c', 'd', 'e'].map((key) => cache.find(key) !== undefined)).toEqual([
    false,
    false,
    false,
    true,
    true,
  ])
  keep('e', 300, 10)
  expect(cache.heldBytes()).toBe(SIZE + 10 + 512)
})

test('an answer lasts as long as it was to, to the millisecond', () => {
  const { cache, keep, pass } = cacheOf(9 * SIZE)
  keep('short', 1)
  keep('long', 86_400)
  pass(0.999)
  expect(cache.find('short')).toBeDefined()
  pass(0.001)
  expect(cache.find('short')).toBeUndefined()
  expect(cache.heldBytes()).toBe(SIZE)
  pass(86_398.999)
  expect(cache.find('long')).toBeDefined()
  pass(0.001)
  expect(cache.find('long')).toBeUndefined()
})

test('expired replies are evicted without being requested', () => {
  const { cache, keep, pass, sweep, watches } = cacheOf(9 * SIZE)
  keep('a', 1)
  keep('b', 10)
  pass(1)
  sweep()
  expect(cache.heldBytes()).toBe(SIZE)
  pass(9)
  sweep()
  expect([cache.heldBytes(), watches()]).toEqual([0, 0])
  keep('c', 1)
  expect(watches()).toBe(1)
})

test('the real ticker forgets too', async () => {
  let now = 0
  const ticker = createTicker(() => now)
  const cache = createResponseCache({ maxBytes: SIZE, now: () => now, ticker })
  cache.keep(
    'a',
    { sourceId: 'gen-a', traceId: '', account: 'lab', bytes: new Uint8Array(10), costNanoUsd: 0 },
    1,
  )
  now = 2_000
  const forgotten = Promise.withResolvers<void>()
  ticker.after(0, () => forgotten.resolve())
  await forgotten.promise
  expect(cache.heldBytes()).toBe(0)
  ticker.close()
})

test('an answer may take a sixteenth of all', () => {
  expect(cacheOf(64_000_000).cache.mostBytes).toBe(4_000_000 - 512)
})

test('an answer that the clock says is still to come is forgotten', () => {
  const { cache, keep, pass } = cacheOf(100_000)
  keep('a')
  pass(-3_600)
  expect(cache.find('a')).toBeUndefined()
  expect(cache.heldBytes()).toBe(0)
})
