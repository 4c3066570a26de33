import { expect, test } from 'bun:test'
import { createWriter } from '../../src/ledger/writer.ts'
import { entryOf } from './fixture.ts'

const ROWS = 1000
const nothing = (): void => undefined

test('journal rows that are due wait for nothing but their turn, however many there are', async () => {
  const batches: number[] = []
  const all = Promise.withResolvers<void>()
  let written = 0
  const writer = createWriter({
    running: () => ROWS,
    onWritten: nothing,
    onLate: nothing,
    onGivenUp: nothing,
    commit({ journaled }) {
      batches.push(journaled.length)
      written += journaled.length
      if (written === ROWS) all.resolve()
    },
  })
  const startedAt = performance.now()
  for (let row = 0; row < ROWS; row++) writer.journal({ entry: entryOf(), charged: null, dueAt: 0 })
  await all.promise
  const tookMs = performance.now() - startedAt
  await writer.close()

  expect(Math.max(...batches)).toBe(64)
  // The first of them is due after 25 ms, and so are all others: at 25 ms for each batch it would be 400.
  expect(tookMs).toBeLessThan(250)
})
