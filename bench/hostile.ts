import { MAX_JSON_PARTS, measureJson, UNBOUNDED } from '../src/core/json-bounds.ts'
import { corpus } from './hostile/corpus.ts'
import { documentRequests } from './hostile/document-requests.ts'
import { type Outcome, startHostile } from './hostile/server.ts'
import type { Scale, Shape } from './hostile/shape.ts'
import { aligned, markdown } from './print.ts'
import type { Settings } from './settings.ts'

/** What holds the main thread of a gateway longest, and so every other request with it. */

const GOAL_MS = 100
const QUICK_SCALE = 0.05

/** Prints a line for each shape, and last the longest stop of all; true when it is short enough. */
export async function benchHostile(settings: Settings, folder: string): Promise<boolean> {
  const scale = settings.isQuick ? QUICK_SCALE : 1
  const shapes = [...corpus, ...documentRequests].filter(
    ({ name }) => settings.only === null || name.includes(settings.only),
  )
  const server = await startHostile(folder, scale)
  const outcomes: Outcome[] = []
  for (const [index, shape] of shapes.entries()) {
    for (const size of sizesOf(shape, scale)) {
      const outcome = await server.send(shape, size)
      outcomes.push({
        ...outcome,
        name: size === scale ? shape.name : `${shape.name} (as much as is let in)`,
      })
      const { cpuMs, wallMs } = outcome.stop
      process.stderr.write(
        `${index + 1}/${shapes.length} ${outcome.status} ${cpuMs.toFixed(0)} ms (${wallMs.toFixed(0)}) ${shape.name}\n`,
      )
      if (outcome.status === 0) process.stderr.write(`  ${outcome.text}\n`)
    }
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

/** A body that is refused for what it holds is sent once more, as large as it may be: that one takes longest. */
function sizesOf(shape: Shape, scale: Scale): Scale[] {
  const body = shape.body(scale)
  if (typeof body !== 'string') return [scale]
  const { parts } = measureJson(Buffer.from(body), UNBOUNDED)
  return parts > MAX_JSON_PARTS ? [scale, (scale * 0.98 * MAX_JSON_PARTS) / parts] : [scale]
}

const table = (outcomes: readonly Outcome[]): string[][] => [
  ['request', 'status', 'longest stop, CPU ms', 'on the clock', 'main thread, ms', 'process, ms'],
  ...outcomes.map(({ name, status, stop }) => [
    name,
    status === 0 ? '—' : String(status),
    ...[stop.cpuMs, stop.wallMs, stop.threadMs, stop.processMs].map((ms) => ms.toFixed(1)),
  ]),
]
