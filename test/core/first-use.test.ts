import { expect, test } from 'bun:test'
import { onFirstUse } from '../../src/core/first-use.ts'

test('loads once, on the first call, for all who wait', async () => {
  let loads = 0
  const use = onFirstUse(async () => ++loads)
  expect(loads).toBe(0)
  expect(await Promise.all([use(), use(), use()])).toEqual([1, 1, 1])
  expect(await use()).toBe(1)
})

test('a failed load fails every call that waits, and the next call tries again', async () => {
  let loads = 0
  const use = onFirstUse(async () => {
    if (++loads === 1) throw new Error('no such file')
    return loads
  })
  const outcomes = await Promise.allSettled([use(), use()])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await use()).toBe(2)
})
