import { expect, test } from 'bun:test'
import { createPriceRecorder } from '../../src/catalog/history.ts'

test('runs do not overlap, and changes during a run make one more', async () => {
  const runs: PromiseWithResolvers<void>[] = []
  const keep = createPriceRecorder(
    () => {
      const run = Promise.withResolvers<void>()
      runs.push(run)
      return run.promise
    },
    () => undefined,
  )
  const kept = [keep(), keep(), keep()]
  expect(runs).toHaveLength(1)
  runs[0]?.resolve()
  await Bun.sleep(0)
  expect(runs).toHaveLength(2)
  runs[1]?.resolve()
  await Promise.all(kept)
  expect(runs).toHaveLength(2)
})

test('a failure is reported, and the next change is still recorded', async () => {
  const failures: unknown[] = []
  let runs = 0
  const keep = createPriceRecorder(
    async () => {
      if (++runs === 1) throw new Error('disk full')
    },
    (error) => failures.push(error),
  )
  await keep()
  await keep()
  expect([runs, failures.length]).toEqual([2, 1])
})
