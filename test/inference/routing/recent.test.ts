import { describe, expect, test } from 'bun:test'
import { createRecent } from '../../../src/inference/routing/recent.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

describe('the median of latencies and speeds', () => {
  const medianOf = (samples: [at: number, value: number][]) => {
    const { latencyMs } = createRecent()
    for (const [at, value] of samples) latencyMs.add(at, value)
    return latencyMs.value()
  }

  test('is unknown before the first value', () => expect(medianOf([])).toBeNull())

  test('of values of one time is the middle one', () => {
    expect(medianOf([90, 10, 50, 20, 70].map((value) => [0, value]))).toBe(50)
    expect(medianOf([[0, 7]])).toBe(7)
  })

  test('a value weighs half as much as one that is 15 seconds younger', () => {
    const old: [number, number][] = [1, 2, 3].map(() => [0, 10])
    // Three halves against one, then against two.
    expect(medianOf([...old, [15 * SECOND, 90]])).toBe(10)
    expect(medianOf([...old, [15 * SECOND, 90], [15 * SECOND, 90]])).toBe(90)
  })

  test('one value outweighs all that are much older', () => {
    const old = Array.from({ length: 31 }, (_, index): [number, number] => [index, 10])
    expect(medianOf([...old, [120 * SECOND, 90]])).toBe(90)
  })

  test('only the last 32 values are kept', () => {
    const values = Array.from({ length: 64 }, (_, index): [number, number] => [0, index < 32 ? 10 : 90])
    expect(medianOf(values)).toBe(90)
  })
})

describe('the share of valid tool calls', () => {
  test('starts at the benchmark, which counts as much as 20 calls', () => {
    const { toolCalls } = createRecent()
    expect(toolCalls.value(0, 0.9)).toBe(0.9)
    toolCalls.add(0, 0, 20)
    expect(toolCalls.value(0, 0.9)).toBeCloseTo(0.45, 10)
  })

  test('a call counts half after an hour', () => {
    const { toolCalls } = createRecent()
    toolCalls.add(0, 0, 40)
    expect(toolCalls.value(HOUR, 1)).toBeCloseTo(0.5, 10)
    toolCalls.add(HOUR, 20, 20)
    expect(toolCalls.value(HOUR, 1)).toBeCloseTo(40 / 60, 10)
  })
})
