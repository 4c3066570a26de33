import type { Caller } from '../../src/core/caller.ts'
import type { Settlement } from '../../src/core/generation.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { createScrape } from '../../src/metrics/scrape.ts'
import { createMetrics } from '../../src/metrics/store.ts'
import { key, workspace } from '../../test/inference/fixture.ts'
import { settlementOf } from '../../test/ledger/fixture.ts'
import { median } from '../statistics.ts'

/** The parts of metrics alone, in this process. */

const ROUNDS = 9
const OBSERVED = 200_000
const MODELS = 20
const SERIES = 20_000
const LONGEST_MS = 30

/** What one settled generation costs. */
export function measureObserving(): string[][] {
  const store = createMetrics({ mostSeries: 5_000, ofKeys: false, now: Date.now })
  const usage = { ...NO_USAGE, inputTokens: 100, outputTokens: 50 }
  const settled: readonly Settlement[] = Array.from({ length: MODELS }, (_, index) =>
    settlementOf({ modelId: `author/model-${index}`, usage, costNanoUsd: 12_345 }),
  )
  const from: Caller = { key: key(), workspace: workspace() }
  const facts = { overhead: { beforeMs: 1, afterMs: 1 }, savedNanoUsd: 0, traceId: 'ab'.repeat(16) }
  const micros: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const startedAt = threadMs()
    for (let index = 0; index < OBSERVED; index++) {
      const one = settled[index % MODELS]
      if (one) store.observe.settled(one, from, facts)
    }
    if (round > 0) micros.push(((threadMs() - startedAt) * 1000) / OBSERVED)
  }
  return [['a settled generation: 12 metrics', `${median(micros).toFixed(2)} µs`, '']]
}

/** How long a scrape holds the thread. */
export async function measureScrape(): Promise<string[][]> {
  const store = createMetrics({ mostSeries: 100_000, ofKeys: false, now: Date.now })
  const requests = store.series('sluice_requests_total')
  for (let index = 0; index < SERIES; index++)
    requests.add(requests.place(['default', `author/model-${index}`, 'provider', 'ok']), index)
  const scrape = createScrape({ store, collect: async () => undefined })
  const totals: number[] = []
  const longest: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const watch = watchTurns()
    const startedAt = performance.now()
    const text = await scrape('openmetrics')
    totals.push(performance.now() - startedAt)
    longest.push(watch.stop())
    if (text.split('\n').length < SERIES) throw new Error('the scrape lacks series')
  }
  const worst = Math.max(...longest)
  return [
    [`a scrape of ${SERIES.toLocaleString('en')} series`, `${median(totals).toFixed(1)} ms`, ''],
    [
      'the longest stop of the thread in it',
      `${worst.toFixed(1)} ms`,
      `≤ ${LONGEST_MS} ms: ${worst <= LONGEST_MS ? 'yes' : 'NO'}`,
    ],
  ]
}

/** The longest step between two turns of the event loop, in processor time of the thread: the machine may be busy. */
function watchTurns(): { stop(): number } {
  let last = threadMs()
  let longest = 0
  let isRunning = true
  const turn = (): void => {
    const now = threadMs()
    longest = Math.max(longest, now - last)
    last = now
    if (isRunning) setImmediate(turn)
  }
  setImmediate(turn)
  return {
    stop() {
      isRunning = false
      return Math.max(longest, threadMs() - last)
    },
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
