import { expect, test } from 'bun:test'
import { createClocks, type Expiry, type Watched } from '../../src/net/clocks.ts'

const NEVER = Number.POSITIVE_INFINITY

/** A call that notes why it expired. */
function watchedCall(clocks: ReturnType<typeof createClocks>, waitUntil: number, endAt: number) {
  const expired = Promise.withResolvers<Expiry>()
  const expiries: Expiry[] = []
  const call: Watched = {
    waitUntil,
    endAt,
    finestMs: 10,
    expire(why) {
      expiries.push(why)
      clocks.unwatch(call)
      expired.resolve(why)
    },
  }
  clocks.watch(call)
  return { call, expired: expired.promise, expiries }
}

test('a limit fires when its time has come, not a millisecond before', async () => {
  let time = 0
  const clocks = createClocks(() => time)
  const early = watchedCall(clocks, 999, NEVER)
  const exact = watchedCall(clocks, 1000, NEVER)
  const late = watchedCall(clocks, 1001, NEVER)
  time = 1000
  await Promise.all([early.expired, exact.expired])
  expect([early.expiries, exact.expiries, late.expiries]).toEqual([['wait'], ['wait'], []])
  clocks.close()
})

test('the total limit holds while the consumer has the turn', async () => {
  let time = 0
  const clocks = createClocks(() => time)
  const { expired } = watchedCall(clocks, NEVER, 500)
  time = 500
  expect(await expired).toBe('total')
  clocks.close()
})

test('a deadline that moved on does not fire', async () => {
  let time = 0
  const clocks = createClocks(() => time)
  const moved = watchedCall(clocks, 100, NEVER)
  const sentinel = watchedCall(clocks, 150, NEVER)
  moved.call.waitUntil = 300
  time = 200
  await sentinel.expired
  expect(moved.expiries).toEqual([])
  clocks.close()
})

test('the timer starts again after it had nothing to watch', async () => {
  let time = 0
  const clocks = createClocks(() => time)
  for (let round = 1; round <= 3; round += 1) {
    const { expired } = watchedCall(clocks, time + 10, NEVER)
    time += 10
    expect(await expired).toBe('wait')
  }
  clocks.close()
})

test('close expires every call', () => {
  const clocks = createClocks(() => 0)
  const calls = [watchedCall(clocks, NEVER, NEVER), watchedCall(clocks, NEVER, NEVER)]
  clocks.close()
  expect(calls.map(({ expiries }) => expiries)).toEqual([['close'], ['close']])
})
