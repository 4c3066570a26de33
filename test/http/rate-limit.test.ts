import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/core/errors.ts'
import { createRateLimit } from '../../src/http/rate-limit.ts'

const call = () => ({ isCounted: false })
function limitAt(perMinute: number, start = 1_000_000) {
  const clock = { now: start }
  const limit = createRateLimit({ perMinute, now: () => clock.now })
  const isTaken = (key = 'k', request = call()): boolean => {
    try {
      limit.take(request, key)
      return true
    } catch (error) {
      if (error instanceof GatewayError && error.status === 429) return false
      throw error
    }
  }
  return { clock, limit, isTaken }
}
const taken = (isTaken: () => boolean, times: number): number =>
  Array.from({ length: times }, () => isTaken()).filter(Boolean).length

test('the whole allowance may come at once, and then fills up evenly', () => {
  const { clock, isTaken } = limitAt(60)
  expect(taken(isTaken, 100)).toBe(60)
  clock.now += 999
  expect(isTaken()).toBe(false)
  clock.now += 1
  expect(taken(isTaken, 5)).toBe(1)
  clock.now += 10_000
  expect(taken(isTaken, 100)).toBe(10)
  clock.now += 3_600_000
  expect(taken(isTaken, 100)).toBe(60)
})

test('each key has its own', () => {
  const { isTaken } = limitAt(2)
  expect(taken(() => isTaken('a'), 5)).toBe(2)
  expect(taken(() => isTaken('b'), 5)).toBe(2)
})

test('one request counts once, however often it is looked at', () => {
  const { isTaken } = limitAt(1)
  const request = call()
  expect(taken(() => isTaken('k', request), 5)).toBe(5)
  expect(isTaken()).toBe(false)
})

test('0 is no limit', () => {
  expect(taken(limitAt(0).isTaken, 1000)).toBe(1000)
})

test('a refusal says how long to wait, in every header that clients read', () => {
  const { clock, limit, isTaken } = limitAt(30)
  expect(taken(isTaken, 30)).toBe(30)
  clock.now += 500
  const refused = (): unknown => {
    try {
      limit.take(call(), 'k')
    } catch (error) {
      return error
    }
    return null
  }
  expect(refused()).toMatchObject({
    status: 429,
    message: expect.stringContaining('30 requests of administration a minute; the next one is taken in 2 s'),
    headers: {
      'retry-after': '2',
      'ratelimit-policy': '"administration";q=30;w=60',
      ratelimit: '"administration";r=0;t=2',
      'x-ratelimit-limit': '30',
      'x-ratelimit-remaining': '0',
    },
  })
})

test('a clock that was set back locks a caller out for a minute at most', () => {
  const { clock, isTaken } = limitAt(10)
  expect(taken(isTaken, 10)).toBe(10)
  clock.now -= 3_600_000
  expect(isTaken()).toBe(false)
  clock.now += 60_000
  expect(isTaken()).toBe(true)
})

test('a clock that was set back takes nothing of the allowance away, and adds nothing', () => {
  const { clock, isTaken } = limitAt(10, 7_200_000)
  expect(taken(isTaken, 4)).toBe(4)
  clock.now -= 3_600_000
  expect(taken(isTaken, 10)).toBe(6)
  clock.now += 6_000
  expect(taken(isTaken, 10)).toBe(1)
})

test('never more than the allowance and its refill, whatever the times', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 }),
      (perMinute, pauses) => {
        const { clock, isTaken } = limitAt(perMinute)
        const start = clock.now
        let count = 0
        for (const pause of pauses) {
          clock.now += pause
          if (isTaken()) count += 1
          expect(count).toBeLessThanOrEqual(
            perMinute + Math.floor(((clock.now - start) * perMinute) / 60_000) + 1,
          )
        }
      },
    ),
  )
})
