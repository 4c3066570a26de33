import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createAllowances } from '../../src/core/allowance.ts'

const START = 1_000_000
function at(start = START) {
  const clock = { now: start }
  return { clock, allowances: createAllowances(() => clock.now) }
}

describe('amounts', () => {
  test('the wait is until the whole amount fits, to the millisecond', () => {
    const { clock, allowances } = at()
    allowances.take('a', 600, 600)
    expect(allowances.waitMs('a', 600, 50)).toBe(5_000)
    clock.now += 4_999
    expect(allowances.waitMs('a', 600, 50)).toBeCloseTo(1, 6)
    clock.now += 1
    expect(allowances.waitMs('a', 600, 50)).toBe(0)
    expect(allowances.used('a', 600)).toBeCloseTo(550, 6)
  })

  test('more than there is makes a debt, which is waited for; given back, it is gone', () => {
    const { clock, allowances } = at()
    allowances.take('a', 100, 250)
    expect(allowances.waitMs('a', 100, 1)).toBeCloseTo(90_600, 6)
    allowances.take('a', 100, -200)
    expect(allowances.waitMs('a', 100, 50)).toBe(0)
    // What has filled up already is not given back a second time.
    clock.now += 15_000
    allowances.take('a', 100, -200)
    expect(allowances.used('a', 100)).toBe(0)
    expect(allowances.waitMs('a', 100, 101)).toBeGreaterThan(0)
  })

  test('a changed limit counts what was used before', () => {
    const { allowances } = at()
    allowances.take('a', 10, 10)
    expect(allowances.waitMs('a', 10, 1)).toBeGreaterThan(0)
    expect(allowances.waitMs('a', 30, 20)).toBe(0)
    expect(allowances.waitMs('a', 30, 21)).toBeGreaterThan(0)
    expect(allowances.waitMs('a', 5, 1)).toBeCloseTo(72_000, 6)
  })

  test('names do not share', () => {
    const { allowances } = at()
    allowances.take('a', 10, 10)
    expect(allowances.waitMs('b', 10, 10)).toBe(0)
  })
})

test('whatever is used up: the request fits after the reported wait, and not a millisecond before', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 997 }),
      fc.integer({ min: 1, max: 3_000 }),
      fc.nat(60_000),
      (limit, used, passed) => {
        const { clock, allowances } = at()
        allowances.take('a', limit, used)
        clock.now += passed
        const waitMs = Math.ceil(allowances.waitMs('a', limit, 1))
        if (waitMs === 0) return
        clock.now += waitMs - 1
        expect(allowances.waitMs('a', limit, 1)).toBeGreaterThan(0)
        clock.now += 1
        expect(allowances.waitMs('a', limit, 1)).toBe(0)
      },
    ),
    { seed: 3 },
  )
})

test('what is whole again is forgotten', () => {
  const { clock, allowances } = at()
  for (let name = 0; name < 9_999; name++) allowances.take(String(name), 60, 1)
  expect(allowances.size()).toBe(9_999)
  clock.now += 1_000
  allowances.take('last', 60, 2)
  expect(allowances.size()).toBe(1)
  allowances.take('last', 60, -2)
  expect(allowances.size()).toBe(0)
})

test('whatever is taken, given back and changed, and whichever way the clock goes: never more than a burst and what filled up', () => {
  const step = fc.record({
    ms: fc.integer({ min: -30_000, max: 30_000 }),
    amount: fc.integer({ min: 1, max: 40 }),
    isGivenBack: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.array(step, { maxLength: 80 }), (limit, steps) => {
      const { clock, allowances } = at(10_000_000)
      let forward = 0
      let taken = 0
      for (const { ms, amount, isGivenBack } of steps) {
        clock.now += ms
        forward += Math.max(0, ms)
        if (allowances.waitMs('a', limit, amount) > 0) continue
        allowances.take('a', limit, amount)
        if (isGivenBack) allowances.take('a', limit, -amount)
        else taken += amount
        expect(taken).toBeLessThanOrEqual(limit + (forward * limit) / 60_000 + 1e-3)
      }
    }),
    { seed: 11 },
  )
})
