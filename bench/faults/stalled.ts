import { requestBody } from '../answers.ts'
import { openConnection } from '../connection.ts'
import { percentile } from '../statistics.ts'
import { stallsAfterFirstWord } from './behaviours.ts'
import { atMost, type Step } from './figure.ts'
import { requestBytes, startSteadyLoad } from './steady.ts'
import type { World } from './world.ts'

/** Open streams of a provider that has stopped, and what they cost requests to another one. */

const STALLED = 'stalled'
const OTHER = 'other'
const STREAMS = 600
const ROUNDS = 5
const TURN_MS = 1_500
/** After all streams are opened or closed at once, which is not what is measured. */
const SETTLING_MS = 1_000
const RATE = 200
const MOST_TIMES = 1.5
const PATIENCE_MS = 120_000

export const stalledProvider: Step = async ({ start }) => {
  const world = await start(
    new Map([
      [STALLED, [{ behaviour: stallsAfterFirstWord }]],
      [OTHER, [{}]],
    ]),
  )
  // Once for the compiler.
  await p99(world)
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await p99(world))
    const close = await openStreams(world)
    await Bun.sleep(SETTLING_MS)
    beside.push(await p99(world))
    close()
    await Bun.sleep(SETTLING_MS)
  }
  await world.stop()
  // The turns that the rest of the machine disturbed least.
  const [leastAlone, leastBeside] = [Math.min(...alone), Math.min(...beside)]
  const figure = atMost(
    `${STREAMS} stalled streams: p99 of another provider, times of alone (best of ${ROUNDS} turns each)`,
    leastBeside / leastAlone,
    MOST_TIMES,
    ' ×',
    2,
  )
  const times = `${leastAlone.toFixed(1)} and ${leastBeside.toFixed(1)} ms`
  return [{ ...figure, measured: `${figure.measured} (${times})` }]
}

async function p99(world: World): Promise<number> {
  const load = startSteadyLoad(world, [OTHER], RATE)
  await Bun.sleep(TURN_MS)
  await load.stop()
  const failed = load.ended.filter(({ status }) => status !== 200).length
  if (failed > 0) return Number.POSITIVE_INFINITY
  const times = load.ended.map(({ sentAt, endedAt }) => endedAt - sentAt)
  return percentile(
    times.sort((a, b) => a - b),
    0.99,
  )
}

/** Resolves when all of them have their first byte. */
async function openStreams(world: World): Promise<() => void> {
  const request = requestBytes(world, requestBody(STALLED, 'stream'))
  const connections = await Promise.all(
    Array.from({ length: STREAMS }, () => openConnection(world.target.port)),
  )
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((resolve, reject) => {
          connection.ask(request, PATIENCE_MS, resolve).catch(reject)
        }),
    ),
  )
  return () => {
    for (const connection of connections) connection.close()
  }
}
