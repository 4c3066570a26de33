import { corpus } from './hostile/corpus.ts'
import { type Outcome, startHostile } from './hostile/server.ts'
import { aligned, markdown } from './print.ts'
import type { Settings } from './settings.ts'

/** What holds the main thread of a gateway longest, and so every other request with it. */

const GOAL_MS = 100
const QUICK_SCALE = 0.05

/** Prints a line for each shape, and last the longest stop of all; true when it is short enough. */
export async function benchHostile(settings: Settings, folder: string): Promise<boolean> {
  const scale = settings.isQuick ? QUICK_SCALE : 1
  const shapes = corpus.filter(({ name }) => settings.only === null || name.includes(settings.only))
  const server = await startHostile(folder, scale)
  const outcomes: Outcome[] = []
  for (const [index, shape] of shapes.entries()) {
    const outcome = await server.send(shape, scale)
    outcomes.push(outcome)
    const { cpuMs, wallMs } = outcome.stop
    process.stderr.write(
      `${index + 1}/${shapes.length} ${outcome.status} ${cpuMs.toFixed(0)} ms (${wallMs.toFixed(0)}) ${shape.name}\n`,
    )
    if (outcome.status === 0) process.stderr.write(`  ${outcome.text}\n`)
  }
  await server.stop()
  outcomes.sort((a, b) => b.stop.cpuMs - a.stop.cpuMs)
  const print = settings.isMarkdown ? markdown : aligned
  console.log(`${print(table(outcomes))}\n`)
  const longest = outcomes[0]
  const ms = longest?.stop.cpuMs ?? 0
  const unanswered = outcomes.filter(({ status }) => status === 0).length
  console.log(
    `${outcomes.length} hostile requests, ${unanswered} unanswered. Longest stop of the main thread: ` +
      `${ms.toFixed(1)} ms (${longest?.name ?? '—'}); at most ${GOAL_MS} ms: ${ms <= GOAL_MS ? 'yes' : 'NO'}.`,
  )
  return ms <= GOAL_MS && unanswered === 0
}

const table = (outcomes: readonly Outcome[]): string[][] => [
  ['request', 'status', 'longest stop, CPU ms', 'on the clock', 'main thread, ms', 'process, ms'],
  ...outcomes.map(({ name, status, stop }) => [
    name,
    status === 0 ? '—' : String(status),
    ...[stop.cpuMs, stop.wallMs, stop.threadMs, stop.processMs].map((ms) => ms.toFixed(1)),
  ]),
]
