import { percentile } from '../statistics.ts'
import { answers, fails } from './behaviours.ts'
import { atLeast, atMost, type Figure, type Step, type Surroundings } from './figure.ts'
import type { Behaviour } from './provider.ts'
import { type Sent, startSteadyLoad } from './steady.ts'
import type { EndpointSpec, World } from './world.ts'

/** F7 and F8: providers that fail half of the time, and all providers down at once. */

const HALF = 'half'
const HALF_RATE = 200
const FLAP_MS = 500
/** All is well for so long before an outage, and breakers learn of it in the same time. */
const LEARNING_MS = 1_000
const fail = fails(503)

const alternating: Behaviour = (call) => (call.index % 2 === 0 ? fail(call) : answers(call))
const flapping: Behaviour = (call) =>
  Math.floor(performance.now() / FLAP_MS) % 2 === 0 ? fail(call) : answers(call)

export const oneOfTwoFails: Step = async (surroundings) => [
  ...(await half(surroundings, 'every other call', alternating)),
  ...(await half(surroundings, `every other ${FLAP_MS} ms`, flapping)),
]

async function half({ start, seconds }: Surroundings, name: string, behaviour: Behaviour): Promise<Figure[]> {
  const world = await start(new Map([[HALF, [{}, {}]]]))
  const load = startSteadyLoad(world, [HALF], HALF_RATE)
  await Bun.sleep(LEARNING_MS)
  world.provider(HALF, 0).behave(behaviour)
  await Bun.sleep(seconds * 1000)
  await load.stop()
  const good = load.ended.filter(isAnswered).length
  const amplification = world.calls() / load.ended.length
  await world.stop()
  return [
    atLeast(`F7 one of two fails ${name}: success`, (100 * good) / load.ended.length, 99.9, ' %', 2),
    atMost(`F7 one of two fails ${name}: calls for a request`, amplification, 1.2, '', 2),
  ]
}

const MODELS = Array.from({ length: 20 }, (_, index) => `down-${index}`)
const RATES = [200, 500] as const
const RECOVERY_GOAL_MS = 5_000
const WATCHED_MS = 8_000
/** Recovered: the share of answered requests among those sent in one window. */
const WINDOW_MS = 500
const RECOVERED_SHARE = 0.99

export const everythingDown: Step = async (surroundings) => {
  const figures: Figure[] = []
  for (const rate of RATES) figures.push(...(await down(surroundings, rate)))
  return figures
}

async function down({ start, seconds }: Surroundings, rate: number): Promise<Figure[]> {
  const name = `F8 ${MODELS.length} models down, ${rate} req/s for ${seconds} s`
  const world = await start(new Map<string, EndpointSpec[]>(MODELS.map((model) => [model, [{}, {}]])))
  const load = startSteadyLoad(world, MODELS, rate)
  await Bun.sleep(LEARNING_MS)
  const downAt = performance.now()
  const callsBefore = world.calls()
  behaveAll(world, fails(503))
  await Bun.sleep(seconds * 1000)
  const calls = world.calls() - callsBefore
  const upAt = performance.now()
  behaveAll(world, answers)
  await Bun.sleep(WATCHED_MS)
  await load.stop()
  await world.stop()

  const sent = load.ended.toSorted((a, b) => a.sentAt - b.sentAt)
  const during = sent.filter(({ sentAt }) => sentAt >= downAt && sentAt < upAt)
  const refusals = times(during.filter((one) => one.sentAt >= downAt + LEARNING_MS && !isAnswered(one)))
  const answersBefore = times(sent.filter(({ sentAt }) => sentAt < downAt))
  const slowRefusal = atMost(`${name}: refused in, p99`, percentile(refusals, 0.99), 20, ' ms', 1)
  const before = `answered before it, p99 ${percentile(answersBefore, 0.99).toFixed(1)} ms`
  const firsts = firstAnswers(sent, upAt).sort((a, b) => a - b)
  return [
    atMost(`${name}: refused in, p50`, percentile(refusals, 0.5), 20, ' ms', 1),
    { ...slowRefusal, measured: `${slowRefusal.measured} (${before})` },
    atMost(`${name}: calls for a request`, calls / during.length, 1.2, '', 2),
    atMost(
      `${name}: a model's first answer after it, p95`,
      percentile(firsts, 0.95),
      RECOVERY_GOAL_MS,
      ' ms',
    ),
    atMost(`${name}: 99 % of requests answered after`, recoveredMs(sent, upAt), RECOVERY_GOAL_MS, ' ms'),
  ]
}

const times = (sent: readonly Sent[]): number[] =>
  sent.map(({ sentAt, endedAt }) => endedAt - sentAt).sort((a, b) => a - b)

const isAnswered = ({ status }: Sent): boolean => status === 200

function behaveAll(world: World, behaviour: Behaviour): void {
  for (const model of MODELS) for (const index of [0, 1]) world.provider(model, index).behave(behaviour)
}

/** For each model, when its first answer came; Infinity if none came. */
const firstAnswers = (sent: readonly Sent[], upAt: number): number[] =>
  MODELS.map((model) => {
    const ends = sent
      .filter((one) => one.model === model && one.endedAt > upAt && isAnswered(one))
      .map(({ endedAt }) => endedAt - upAt)
    return Math.min(...ends)
  })

/** The end of the first window from which on every window is as good as recovered. */
function recoveredMs(sent: readonly Sent[], upAt: number): number {
  let recovered = Number.POSITIVE_INFINITY
  for (let from = WATCHED_MS - WINDOW_MS; from >= 0; from -= WINDOW_MS) {
    const window = sent.filter(({ sentAt }) => sentAt >= upAt + from && sentAt < upAt + from + WINDOW_MS)
    if (window.filter(isAnswered).length < window.length * RECOVERED_SHARE) break
    recovered = from + WINDOW_MS
  }
  return recovered
}
