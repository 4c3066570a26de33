import { answers, fails, reset } from './behaviours.ts'
import { atMost, type Figure, type Step, type Surroundings } from './figure.ts'
import type { Behaviour } from './provider.ts'
import { startSteadyLoad } from './steady.ts'
import type { World } from './world.ts'

/** A burst of failures, and a healthy provider at once after it: how long until it answers again. */

const RUNS = 3
const GOAL_MS = 1_500
/** Later than this is "never". */
const WATCHED_MS = 4_000
/** Between requests that look whether it answers again. */
const POLL_MS = 25
/** A burst is in flight completely before its first failure. */
const AFTER_MS = 50

const failing = fails(503, { afterMs: AFTER_MS })
const resetting: Behaviour = ({ socket }) => setTimeout(() => reset(socket, ''), AFTER_MS)

interface Blip {
  readonly name: string
  readonly burst: number
  readonly endpoints: number
  readonly behaviour: Behaviour
}

const BLIPS: readonly Blip[] = [1, 2].flatMap((endpoints) => [
  ...[1, 4, 15, 30, 50].map((burst) => ({ name: '503', burst, endpoints, behaviour: failing })),
  { name: 'resets', burst: 50, endpoints, behaviour: resetting },
])

const modelOf = ({ name, burst, endpoints }: Blip, run: number): string =>
  `blip-${name}-${burst}-${endpoints}-${run}`

export const blips: Step = async (surroundings) => {
  const runs = Array.from({ length: RUNS }, (_, run) => run)
  const world = await surroundings.start(
    new Map(
      BLIPS.flatMap((blip) =>
        runs.map((run) => [modelOf(blip, run), Array.from({ length: blip.endpoints }, () => ({}))]),
      ),
    ),
  )
  const figures: Figure[] = []
  for (const blip of BLIPS) {
    let slowest = 0
    for (const run of runs) {
      if (slowest <= GOAL_MS) slowest = Math.max(slowest, await recoveryMs(world, blip, run))
    }
    const where = blip.endpoints === 1 ? 'the only endpoint' : 'both endpoints'
    const measure = `blip of ${blip.burst} (${blip.name}) at ${where}: first answer after, slowest of ${RUNS}`
    figures.push(atMost(measure, slowest, GOAL_MS, ' ms'))
  }
  await world.stop()
  return [...figures, await besideHealthy(surroundings)]
}

async function recoveryMs(world: World, blip: Blip, run: number): Promise<number> {
  const model = modelOf(blip, run)
  const behaveAll = (behaviour: Behaviour) => {
    for (let index = 0; index < blip.endpoints; index++) world.provider(model, index).behave(behaviour)
  }
  // An endpoint that has answered before, as one that has a blip has.
  await world.ask(model)
  behaveAll(blip.behaviour)
  await Promise.all(Array.from({ length: blip.burst }, () => world.ask(model)))
  behaveAll(answers)
  const upAt = performance.now()
  while (performance.now() - upAt < WATCHED_MS) {
    if ((await world.ask(model)).status === 200) return performance.now() - upAt
    await Bun.sleep(POLL_MS)
  }
  return Number.POSITIVE_INFINITY
}

const BESIDE = 'beside'
const BESIDE_BURST = 15
const BESIDE_RATE = 50

/** One of two endpoints failed: how long until it has requests again, while the other one answers all. */
async function besideHealthy({ start }: Surroundings): Promise<Figure> {
  const world = await start(new Map([[BESIDE, [{}, {}]]]))
  const provider = world.provider(BESIDE, 0)
  provider.behave(failing)
  await Promise.all(Array.from({ length: BESIDE_BURST }, () => world.ask(BESIDE)))
  let calledAt = Number.POSITIVE_INFINITY
  provider.behave((call) => {
    calledAt = Math.min(calledAt, performance.now())
    answers(call)
  })
  const upAt = performance.now()
  const load = startSteadyLoad(world, [BESIDE], BESIDE_RATE)
  while (performance.now() - upAt < WATCHED_MS && !Number.isFinite(calledAt)) await Bun.sleep(POLL_MS)
  await load.stop()
  await world.stop()
  const measure = `blip of ${BESIDE_BURST} (503) beside a healthy endpoint: first request after`
  return atMost(measure, calledAt - upAt, GOAL_MS, ' ms')
}
