import { join } from 'node:path'
import { MODELS } from '../answers.ts'
import { measure, type Scenario } from '../measure.ts'
import { aligned, markdown } from '../print.ts'
import { residentBytes } from '../proc.ts'
import type { Settings } from '../settings.ts'
import { MANAGEMENT_KEY, startSluice } from '../sluice.ts'
import { median } from '../statistics.ts'
import type { Target } from '../target.ts'
import { startMock } from '../targets.ts'
import { fillOutbox, quantileMs } from './backlog.ts'

/** Processor time of a request while 5 destinations answer, hang or have a backlog, against none; and the rate of delivery. */

const DESTINATIONS = 5
const WARMUP_MS = 300
const GOALS = { main: 1.05, rate: 2_000 }
const SCENARIOS: readonly Scenario[] = [
  { title: 'unary', kind: 'unary', model: MODELS.burst, concurrency: 64 },
  { title: 'stream of 50 chunks', kind: 'stream', model: MODELS.steps, concurrency: 64 },
]

/** A destination: answers with a status, or never. */
function startReceiver(status: number | null) {
  const receiver = { status, requests: 0 }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      await request.arrayBuffer()
      receiver.requests += 1
      if (receiver.status === null) await new Promise(() => undefined)
      return new Response(null, { status: receiver.status ?? 200 })
    },
  })
  return { receiver, url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

async function manage(target: Target, method: string, path: string, body?: object): Promise<unknown> {
  const reply = await fetch(`http://127.0.0.1:${target.port}/api/v1/observability/destinations${path}`, {
    method,
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { data } = await reply.json()
  if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}`)
  return data
}

async function makeDestinations(target: Target, url: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let made = 0; made < count; made++) {
    const config = { endpoint: `${url}/${made}` }
    const body = { name: `d${made}`, type: 'otel-collector', config, privacy_mode: true }
    const destination = await manage(target, 'POST', '', body)
    ids.push(String(Reflect.get(Object(destination), 'id')))
  }
  return ids
}

/** Microseconds a request: of the main thread, which all requests share, and of all threads. */
interface Cost {
  readonly main: number
  readonly all: number
}

async function costOf(target: Target, scenario: Scenario, durationMs: number): Promise<Cost> {
  const { threadMicros, cpuMicros } = await measure(target, scenario, { warmupMs: WARMUP_MS, durationMs })
  return { main: threadMicros?.main ?? Number.NaN, all: cpuMicros ?? Number.NaN }
}

export async function benchDelivery(settings: Settings, folder: string): Promise<boolean> {
  const mock = await startMock()
  const start = (name: string, env: Record<string, string> = {}): Promise<Target> =>
    startSluice({
      upstreamPort: mock.port,
      folder: join(folder, name),
      fromSource: settings.fromSource,
      bunFlags: [],
      env: { SLUICE_OUTBOUND_ALLOW: '127.0.0.1', ...env },
    })
  const none = await start('none')
  const print = settings.isMarkdown ? markdown : aligned
  const rows: string[][] = [COLUMNS]
  let isGood = true
  for (const [name, status, backlogBytes] of SITUATIONS) {
    const { url, stop } = startReceiver(status)
    const target = await startWith(
      start,
      folder,
      name,
      url,
      settings.isSmoke ? backlogBytes / 100 : backlogBytes,
    )
    for (const scenario of SCENARIOS) {
      const pairs = await pairsOf(none, target, scenario, settings)
      const ratio = (part: keyof Cost): number => median(pairs.map(([a, b]) => b[part] / a[part]))
      const isReached = ratio('main') <= GOALS.main
      isGood &&= isReached || settings.isSmoke
      const micros = (side: 0 | 1): string => median(pairs.map((pair) => pair[side].main)).toFixed(1)
      const megabytes = [none, target].map(({ pid }) => ((residentBytes(pid ?? 0) ?? 0) / 1e6).toFixed(0))
      const held = await Promise.all([none, target].map(heldOf))
      const title = `${scenario.title}, ${DESTINATIONS} that ${name}`
      const ratios = [
        ratio('main').toFixed(3),
        `≤ ${GOALS.main}`,
        ratio('all').toFixed(2),
        megabytes.join(' / '),
        held.join(' / '),
      ]
      rows.push([title, micros(0), micros(1), ...ratios, isReached ? 'yes' : 'NO'])
    }
    await target.stop()
    await stop()
  }
  await none.stop()
  const rate = await rateOf(await start('rate'), settings)
  await mock.child.stop()
  console.log(`Processor time of a request with destinations against none: ${settings.rounds} pairs.\n`)
  console.log(`${print(rows)}\n`)
  const isFast = rate >= GOALS.rate
  const measured = [`${Math.round(rate)}/s`, `≥ ${GOALS.rate}/s`, isFast ? 'yes' : 'NO']
  console.log(
    `${print([
      ['', 'measured', 'goal', 'reached'],
      ['delivery to one destination', ...measured],
    ])}\n`,
  )
  return isGood && (isFast || settings.isSmoke)
}

/** What destinations do, and what waits for them from the start. */
const SITUATIONS = [
  ['answer at once', 200, 0],
  ['hang', null, 0],
  ['hang with 1 GB in 10,000 batches', null, 1_040_000_000],
] as const
const COLUMNS = [
  '',
  'none µs',
  'with µs',
  'main thread',
  'goal',
  'all threads',
  'MB: none / with',
  'commit p99, stop p99.9 ms: none / with',
  'reached',
]

/** By the gateway's own histograms, as upper bounds of buckets. */
async function heldOf(target: Target): Promise<string> {
  const commit = await quantileMs(target, 'sluice_ledger_commit_seconds', 0.99)
  const stop = await quantileMs(target, 'sluice_event_loop_lag_seconds', 0.999)
  return `${commit}, ${stop}`
}

/** A gateway with destinations, for which so much waits. */
async function startWith(
  start: (name: string, env?: Record<string, string>) => Promise<Target>,
  folder: string,
  title: string,
  url: string,
  backlogBytes: number,
): Promise<Target> {
  const name = title.replaceAll(/[ ,]/g, '-')
  const target = await start(name)
  await makeDestinations(target, url, DESTINATIONS)
  if (backlogBytes === 0) return target
  const [unary] = SCENARIOS
  if (unary !== undefined) await measure(target, unary, { requests: 100 })
  await target.stop()
  fillOutbox(join(folder, name), backlogBytes)
  return start(name, { SLUICE_EXPORT_MAX_MB: '4000' })
}

/** Pairs in alternating order, after one that is not counted. */
async function pairsOf(none: Target, target: Target, scenario: Scenario, { rounds, turnMs }: Settings) {
  const pairs: (readonly [Cost, Cost])[] = []
  for (let round = 0; round <= rounds; round++) {
    process.stderr.write(round === 0 ? 'for the compiler\n' : `pair ${round} of ${rounds}\n`)
    const isSwapped = round % 2 === 1
    const first = await costOf(isSwapped ? target : none, scenario, turnMs)
    const second = await costOf(isSwapped ? none : target, scenario, turnMs)
    if (round > 0) pairs.push(isSwapped ? [second, first] : [first, second])
  }
  return pairs
}

const BACKLOG = 20_000

/** Generations a second: of a backlog that a destination which failed before takes at once. */
async function rateOf(target: Target, settings: Settings): Promise<number> {
  const { receiver, url, stop } = startReceiver(503)
  const [id = ''] = await makeDestinations(target, url, 1)
  const [unary] = SCENARIOS
  const requests = settings.isSmoke ? BACKLOG / 20 : BACKLOG
  if (unary !== undefined) await measure(target, unary, { requests })
  receiver.status = 200
  const startedAt = performance.now()
  await manage(target, 'PATCH', `/${id}`, { name: 'recovered' })
  while (Number(Reflect.get(Object(await manage(target, 'GET', `/${id}/status`)), 'sent')) < requests)
    await Bun.sleep(20)
  const seconds = (performance.now() - startedAt) / 1000
  await target.stop()
  await stop()
  return requests / seconds
}
