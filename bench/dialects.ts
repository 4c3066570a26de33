import { join } from 'node:path'
import type { LoadResult } from './load.ts'
import { generateLoad } from './measure.ts'
import { aligned, markdown } from './print.ts'
import type { Settings } from './settings.ts'
import { ANSWER_NANO_USD, bookedNanoUsd, entry, startSluice } from './sluice.ts'
import { median } from './statistics.ts'
import type { Target } from './target.ts'
import { startMock } from './targets.ts'
import { WIRE_NAMES, type WireName, wires } from './wires.ts'

/**
 * What a dialect costs: the same stream of 50 chunks asked for in each dialect that callers speak, answered by a
 * provider of each, and the processor time of each pair against chat behind chat. Pairs take turns in each round.
 */

interface Pair {
  asked: WireName
  answered: WireName
}

const PACES = ['steps', 'burst'] as const
type Pace = (typeof PACES)[number]
const WITHOUT_TRANSLATION = 1.3
const WITH_TRANSLATION = 1.8
/** Chat behind another dialect, or another behind chat. */
const WITH_CHAT = 1.4
const WARMUP_MS = 300

const pairs: readonly Pair[] = WIRE_NAMES.flatMap((asked) =>
  WIRE_NAMES.map((answered) => ({ asked, answered })),
)
const modelOf = (answered: WireName, pace: Pace): string => `${answered}-${pace}`

interface Row {
  pair: Pair
  micros: Record<Pace, number[]>
}

async function askInTurns(
  target: Target,
  settings: Settings,
): Promise<{ rows: Row[]; answers: number; errors: number }> {
  const rows: Row[] = pairs.map((pair) => ({ pair, micros: { steps: [], burst: [] } }))
  let answers = 0
  let errors = 0
  const ask = async ({ asked, answered }: Pair, pace: Pace, durationMs: number): Promise<LoadResult> => {
    const result = await generateLoad({
      port: target.port,
      path: `/api/v1${wires[asked].path}`,
      kind: 'stream',
      wire: asked,
      body: wires[asked].request(modelOf(answered, pace)),
      keys: target.keys,
      concurrency: 64,
      warmupMs: WARMUP_MS,
      durationMs,
      pid: target.pid,
    })
    answers += result.completed
    errors += result.errors
    for (const fault of result.faults) process.stderr.write(`${asked} behind ${answered}: ${fault}\n`)
    return result
  }
  // A gateway runs for weeks, so the code is warm when it is measured.
  for (const { pair } of rows) for (const pace of PACES) await ask(pair, pace, settings.warmMs)
  for (let round = 1; round <= settings.rounds; round++) {
    process.stderr.write(`round ${round} of ${settings.rounds}\n`)
    for (const { pair, micros } of rows) {
      for (const pace of PACES) {
        const { cpuMicros } = await ask(pair, pace, settings.turnMs)
        if (cpuMicros !== null) micros[pace].push(cpuMicros)
      }
    }
  }
  return { rows, answers, errors }
}

function limitOf(asked: WireName, answered: WireName): number {
  if (asked === answered) return WITHOUT_TRANSLATION
  return asked === 'chat' || answered === 'chat' ? WITH_CHAT : WITH_TRANSLATION
}

function table(rows: readonly Row[]): string[][] {
  const reference = rows.find(({ pair }) => pair.asked === 'chat' && pair.answered === 'chat')
  const cells = ({ pair: { asked, answered }, micros }: Row): string[] => {
    const limit = limitOf(asked, answered)
    const ratios = PACES.map((pace) => median(micros[pace]) / median(reference?.micros[pace] ?? []))
    const isReference = asked === 'chat' && answered === 'chat'
    return [
      `${asked} behind ${answered}`,
      ...PACES.flatMap((pace, index) => [
        Math.round(median(micros[pace])).toString(),
        isReference ? '1' : (ratios[index] ?? 0).toFixed(2),
      ]),
      isReference ? '' : `≤ ${limit}`,
      isReference ? '' : ratios.every((ratio) => ratio <= limit) ? 'yes' : 'NO',
    ]
  }
  return [
    [
      'asked behind answered',
      'one write a chunk: CPU µs',
      'ratio',
      'one write: CPU µs',
      'ratio',
      'goal',
      'reached',
    ],
    ...rows.map(cells),
  ]
}

/** Prints the table; true when every answer was correct and on the ledger. */
export async function benchDialects(settings: Settings, folder: string): Promise<boolean> {
  const mock = await startMock()
  const target = await startSluice({
    upstreamPort: mock.port,
    folder: join(folder, 'sluice'),
    fromSource: settings.fromSource,
    bunFlags: [],
    providers: WIRE_NAMES.map((wire) =>
      entry(
        wire,
        wire,
        mock.port,
        PACES.map((pace) => modelOf(wire, pace)),
      ),
    ),
  })
  const { rows, answers, errors } = await askInTurns(target, settings)
  const booked = await bookedNanoUsd(target)
  await target.stop()
  await mock.child.stop()
  const isExact = booked === answers * ANSWER_NANO_USD
  const print = settings.isMarkdown ? markdown : aligned
  console.log(
    `Medians of ${settings.rounds} rounds of ${settings.turnMs / 1000} s, 64 callers, streams of 50 chunks.\n`,
  )
  console.log(`${print(table(rows))}\n`)
  console.log(
    `Ledger: ${answers} answers, USD ${(booked / 1e9).toFixed(6)}: ${isExact ? 'equal' : 'NOT equal'} to the nano-dollar.`,
  )
  return errors === 0 && isExact
}
