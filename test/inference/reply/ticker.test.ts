import { expect, test } from 'bun:test'
import { createTicker } from '../../../src/inference/reply/ticker.ts'

test('a clock that is set back makes no wait longer', async () => {
  let back = 0
  const ticker = createTicker(() => Date.now() - back)
  const rung = Promise.withResolvers<void>()
  ticker.after(300, rung.resolve)
  // It is seen that the time was later.
  ticker.now()
  back = 3_600_000
  await Promise.race([
    rung.promise,
    Bun.sleep(1_500).then(() => Promise.reject(new Error('it waits an hour'))),
  ])
  ticker.close()
  expect(ticker.now()).toBeGreaterThan(Date.now() - 1_000)
})
