import { expect, test } from 'bun:test'
import { isSampled } from '../../src/core/generation-content.ts'
import { newGenerationId } from '../../src/core/ids.ts'

/** The last 13 hex digits as a fraction. */
const rows: [digits: string, rate: number, isLogged: boolean][] = [
  ['0000000000000', 0.0001, true],
  ['fffffffffffff', 1, true],
  ['fffffffffffff', 0.9999, false],
  ['7ffffffffffff', 0.5, true],
  ['8000000000000', 0.5, false],
  ['0000000000001', 0.0001, true],
]
test.each(rows)('…%s at %d: %p', (digits, rate, isLogged) => {
  const id = `gen-0190a00000007000800${digits}`
  expect(isSampled(id, rate)).toBe(isLogged)
  expect(isSampled(id, rate)).toBe(isLogged)
})

test.each([0.1, 0.5, 0.9])('of new generations, about %d are logged', (rate) => {
  const logged = Array.from({ length: 20_000 }, newGenerationId).filter((id) => isSampled(id, rate))
  // Five standard deviations: 20,000 fair draws miss it once in 1.7 million runs.
  expect(Math.abs(logged.length - 20_000 * rate)).toBeLessThan(5 * Math.sqrt(20_000 * rate * (1 - rate)))
})
