import { join } from 'node:path'
import { type AnswerKind, MODELS } from '../answers.ts'
import { measure } from '../measure.ts'
import { aligned, markdown } from '../print.ts'
import type { Settings } from '../settings.ts'
import { MANAGEMENT_KEY, startSluice } from '../sluice.ts'
import { median } from '../statistics.ts'
import type { Target } from '../target.ts'
import { startMock } from '../targets.ts'
import { measureObserving, measureScrape } from './metrics-parts.ts'

/** Processor time of a request with metrics that are scraped each second, against metrics that are off. */

const KINDS: readonly { readonly kind: AnswerKind; readonly model: string; readonly title: string }[] = [
  { kind: 'unary', model: MODELS.burst, title: 'unary' },
  { kind: 'stream', model: MODELS.steps, title: 'stream of 50 chunks' },
]
const GOAL = 1.01
const WARMUP_MS = 300
const SCRAPE_MS = 1_000

export async function benchMetrics(settings: Settings, folder: string): Promise<boolean> {
  const mock = await startMock()
  const start = (name: string, env: Record<string, string>): Promise<Target> =>
    startSluice({
      upstreamPort: mock.port,
      folder: join(folder, name),
      fromSource: settings.fromSource,
      bunFlags: [],
      env,
    })
  const off = await start('off', { SLUICE_METRICS_SERIES: '0' })
  const on = await start('on', { SLUICE_METRICS_KEYS: 'on' })
  const rows: string[][] = [['', 'off µs', 'on µs', 'median ratio', 'goal', 'reached']]
  let isGood = true
  for (const { kind, model, title } of KINDS) {
    const scenario = { title, kind, model, concurrency: 64 }
    const microsOf = async (target: Target): Promise<number> => {
      const stop = target === on ? scrapeOften(on) : () => undefined
      try {
        const pace = { warmupMs: WARMUP_MS, durationMs: settings.turnMs }
        const { cpuMicros, errors } = await measure(target, scenario, pace)
        if (errors > 0) isGood = false
        return cpuMicros ?? Number.NaN
      } finally {
        stop()
      }
    }
    const pairs = await pairsOf(
      settings.rounds,
      () => microsOf(off),
      () => microsOf(on),
    )
    const ratio = median(pairs.map(([without, withThem]) => withThem / without))
    const isReached = ratio <= GOAL
    isGood &&= isReached || settings.isSmoke
    const [without, withThem] = [0, 1].map((side) => median(pairs.map((pair) => pair[side] ?? Number.NaN)))
    rows.push([
      title,
      fixed(without, 1),
      fixed(withThem, 1),
      fixed(ratio, 3),
      `≤ ${GOAL}`,
      isReached ? 'yes' : 'NO',
    ])
  }
  await Promise.all([off.stop(), on.stop()])
  await mock.child.stop()
  const print = settings.isMarkdown ? markdown : aligned
  console.log(
    `Processor time of a request, metrics on and scraped each second, against off: ${settings.rounds} pairs.\n`,
  )
  console.log(`${print(rows)}\n`)
  console.log(`${print([['', 'measured', 'goal'], ...measureObserving(), ...(await measureScrape())])}\n`)
  return isGood
}

const fixed = (value: number | undefined, digits: number): string => (value ?? Number.NaN).toFixed(digits)

/** Pairs in alternating order, after one that is not counted. */
async function pairsOf(
  rounds: number,
  first: () => Promise<number>,
  second: () => Promise<number>,
): Promise<(readonly [number, number])[]> {
  const pairs: (readonly [number, number])[] = []
  for (let round = 0; round <= rounds; round++) {
    process.stderr.write(round === 0 ? 'for the compiler\n' : `pair ${round} of ${rounds}\n`)
    const isSwapped = round % 2 === 1
    const before = isSwapped ? await second() : await first()
    const after = isSwapped ? await first() : await second()
    if (round > 0) pairs.push(isSwapped ? [after, before] : [before, after])
  }
  return pairs
}

/** Scrapes as Prometheus does. Returns a function that ends it. */
function scrapeOften({ port }: Target): () => void {
  const headers = {
    authorization: `Bearer ${MANAGEMENT_KEY}`,
    accept: 'application/openmetrics-text;version=1.0.0',
  }
  const scrape = (): void => {
    fetch(`http://127.0.0.1:${port}/metrics`, { headers }).then(
      (reply) => reply.text(),
      () => undefined,
    )
  }
  scrape()
  const timer = setInterval(scrape, SCRAPE_MS)
  return () => clearInterval(timer)
}
