import { expect, spyOn, test } from 'bun:test'
import { newGenerationId, newRequestId } from '../../src/core/ids.ts'

const MADE = /^gen-([0-9a-f]{12})7([0-9a-f]{3})[89ab][0-9a-f]{15}$/

test('an id is a UUIDv7 without hyphens, of this millisecond', () => {
  const before = Date.now()
  const [, time = ''] = MADE.exec(newGenerationId()) ?? []
  expect(Number.parseInt(time, 16)).toBeGreaterThanOrEqual(before)
  expect(Number.parseInt(time, 16)).toBeLessThanOrEqual(Date.now())
  expect(newRequestId()).toMatch(/^req-[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
})

test('each of many ids is new, and sorts after the one before it', () => {
  const ids = Array.from({ length: 20_000 }, newGenerationId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.toSorted()).toEqual(ids)
})

test('more ids in a millisecond than the counter holds, and a clock that goes back, keep the order', () => {
  const clock = spyOn(Date, 'now')
  try {
    const start = Date.now() + 10_000
    clock.mockReturnValue(start)
    const ids = Array.from({ length: 10_000 }, newGenerationId)
    clock.mockReturnValue(start - 5_000)
    ids.push(newGenerationId(), newGenerationId())
    clock.mockReturnValue(start + 1_000)
    ids.push(newGenerationId())
    expect(ids.toSorted()).toEqual(ids)
    expect(ids.every((id) => MADE.test(id))).toBe(true)
    const [, time = '', counter] = MADE.exec(ids.at(-1) ?? '') ?? []
    expect([Number.parseInt(time, 16), counter]).toEqual([start + 1_000, '000'])
  } finally {
    clock.mockRestore()
  }
})

test('62 bits of an id are random: each of them is as often 0 as 1', () => {
  const counts = new Array<number>(62).fill(0)
  const total = 4_000
  for (let made = 0; made < total; made++) {
    const tail = BigInt(`0x${newGenerationId().slice(-16)}`)
    for (let bit = 0; bit < 62; bit++) counts[bit] = (counts[bit] ?? 0) + Number((tail >> BigInt(bit)) & 1n)
  }
  // Ten standard deviations: no run ever comes here by chance.
  for (const count of counts) expect(Math.abs(count - total / 2)).toBeLessThan(5 * Math.sqrt(total))
})
