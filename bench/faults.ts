import { join } from 'node:path'
import { blips } from './faults/blips.ts'
import { sortedByLatency } from './faults/choosing.ts'
import { slowProviders } from './faults/clocks.ts'
import { unreachable } from './faults/connections.ts'
import type { Figure, Step } from './faults/figure.ts'
import { malformedStreams } from './faults/malformed.ts'
import { everythingDown, oneOfTwoFails } from './faults/outages.ts'
import { resetBeforeContent, resetInside } from './faults/resets.ts'
import { stalledProvider } from './faults/stalled.ts'
import { statuses } from './faults/statuses.ts'
import { startWorld } from './faults/world.ts'
import { describeMachine } from './machine.ts'
import { aligned, markdown } from './print.ts'
import { openFileLimits } from './process.ts'
import type { Settings } from './settings.ts'
import { hasBinary } from './sluice.ts'

/** What callers see of providers that fail, and how soon the gateway comes back to them. */

const STEPS: Readonly<Record<string, Step>> = {
  'F1 reset before content': resetBeforeContent,
  'F2 reset inside': resetInside,
  'F3 malformed streams': malformedStreams,
  'F4 slow providers': slowProviders,
  'F5 statuses': statuses,
  'F6 unreachable': unreachable,
  'F7 one of two fails': oneOfTwoFails,
  'F8 everything down': everythingDown,
  blips,
  'stalled provider': stalledProvider,
  'sort by latency': sortedByLatency,
}

/** Prints a line for each figure; true if every goal is reached. */
export async function benchFaults(settings: Settings, folder: string): Promise<boolean> {
  const kind = settings.fromSource || !hasBinary() ? 'from source' : 'dist/sluice'
  const machine = describeMachine(folder, await openFileLimits())
  const figures: Figure[] = []
  let worlds = 0
  for (const [name, step] of Object.entries(STEPS)) {
    if (settings.only !== null && !name.includes(settings.only)) continue
    process.stderr.write(`faults: ${name}\n`)
    figures.push(
      ...(await step({
        start: (models) =>
          startWorld(models, {
            folder: join(folder, `world-${worlds++}`),
            fromSource: settings.fromSource,
          }),
        seconds: settings.faultSeconds,
      })),
    )
  }
  const print = settings.isMarkdown ? markdown : aligned
  const rows = figures.map(({ measure, goal, measured, isGood }) => [
    measure,
    goal,
    measured,
    isGood ? 'yes' : 'NO',
  ])
  console.log(`${machine}. Sluice: ${kind}.\n`)
  console.log(`${print([['fault', 'goal', 'measured', 'reached'], ...rows])}\n`)
  const missed = figures.filter(({ isGood }) => !isGood).length
  console.log(`${figures.length} figures, ${missed} missed.`)
  return missed === 0
}
