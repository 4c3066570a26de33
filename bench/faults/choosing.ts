import { answersAfter } from './behaviours.ts'
import { atLeast, type Figure, type Step } from './figure.ts'
import { slugOf } from './world.ts'

/** Three endpoints of different speed, sorted by latency: what share the fastest gets. */

const SPEEDS_MS = [40, 5, 15]
const LEARNING = 200
const JUDGED = 100
const LEAST_PERCENT = 90

export const sortedByLatency: Step = async ({ start }) => {
  const names = SPEEDS_MS.map((ms) => `first-${ms}`)
  const world = await start(
    new Map(names.map((name) => [name, SPEEDS_MS.map((ms) => ({ behaviour: answersAfter(ms) }))])),
  )
  const fastest = SPEEDS_MS.indexOf(Math.min(...SPEEDS_MS))
  const figures: Figure[] = []
  for (const [first, model] of names.entries()) {
    const callsOfFastest = () => world.provider(model, fastest).calls()
    await world.ask(model, { preferences: { only: [slugOf(model, first)] } })
    const ask = async (times: number): Promise<number> => {
      const before = callsOfFastest()
      for (let time = 0; time < times; time++) await world.ask(model, { preferences: { sort: 'latency' } })
      return (100 * (callsOfFastest() - before)) / times
    }
    const early = await ask(LEARNING)
    const late = await ask(JUDGED)
    const name = `sort by latency, ${SPEEDS_MS[first]} ms measured first: the fastest of ${SPEEDS_MS.toSorted((a, b) => a - b).join(', ')} ms`
    const figure = atLeast(`${name} after ${LEARNING} requests`, late, LEAST_PERCENT, ' %', 0)
    figures.push({ ...figure, measured: `${figure.measured} (before: ${early.toFixed(0)} %)` })
  }
  await world.stop()
  return figures
}
