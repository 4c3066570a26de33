import { expect, test } from 'bun:test'
import { createRetryBudget } from '../../../src/inference/upstream/retry-budget.ts'

let now = 1_000_000
const budget = () => createRetryBudget(() => now)
const taken = (from: ReturnType<typeof budget>): number => {
  let count = 0
  while (from.take()) count += 1
  return count
}

test.each([
  [0, 3],
  [1, 3],
  [4, 3],
  [5, 4],
  [60, 15],
  [1_000, 203],
])('%d requests may have %d retries', (requests, retries) => {
  const retryBudget = budget()
  for (let i = 0; i < requests; i++) retryBudget.countRequest()
  expect(retryBudget.hasLeft()).toBe(true)
  expect(taken(retryBudget)).toBe(retries)
  expect(retryBudget.hasLeft()).toBe(false)
})

test('requests and retries count for 10 seconds', () => {
  const retryBudget = budget()
  for (let i = 0; i < 100; i++) retryBudget.countRequest()
  now += 5_000
  expect(taken(retryBudget)).toBe(23)
  now += 4_999
  expect(retryBudget.hasLeft()).toBe(false)
  now += 1
  // The requests are forgotten, the retries are not.
  expect(retryBudget.hasLeft()).toBe(false)
  now += 5_000
  expect(taken(retryBudget)).toBe(3)
  now += 3_600_000
  expect(taken(retryBudget)).toBe(3)
})

test('a clock that is set back forgets nothing and allows nothing more', () => {
  const retryBudget = budget()
  expect(taken(retryBudget)).toBe(3)
  now -= 3_600_000
  expect(retryBudget.hasLeft()).toBe(false)
})
