import type { LoadResult } from '../load.ts'
import { measure, SCENARIOS, type ScenarioName } from '../measure.ts'
import { median } from '../statistics.ts'
import type { Target } from '../target.ts'

/**
 * What one thing costs against another, in processor time for each request. Both are asked in turn, in changing order,
 * and each pair makes one ratio: what else the machine does meets both alike, and the median forgets the worst of it.
 */

const SCENARIO_NAMES = ['unary', 'steps', 'burst'] as const satisfies readonly ScenarioName[]
const WARMUP_MS = 250
const RATIO_GOAL = 1.1

export interface Contender {
  name: string
  target: Target
  /** Absent: those of the target. */
  keys?: string[]
}

export interface PairRow {
  scenario: string
  baseMicros: number
  micros: number
  /** Of processor time and of requests a second, medians over the pairs. */
  cpuRatio: number
  wallRatio: number
  errors: number
}

const SAID: Record<(typeof SCENARIO_NAMES)[number], string> = {
  unary: 'unary',
  steps: 'streams, one write a chunk',
  burst: 'streams, one write in all',
}

export async function comparePairs(
  base: Contender,
  other: Contender,
  { pairs, turnMs }: { pairs: number; turnMs: number },
  onProgress: (text: string) => void,
): Promise<PairRow[]> {
  const run = ({ target, keys }: Contender, scenario: ScenarioName): Promise<LoadResult> =>
    measure({ ...target, keys: keys ?? target.keys }, SCENARIOS[scenario], {
      warmupMs: WARMUP_MS,
      durationMs: turnMs,
    })
  // The first turn of each is for the compiler.
  for (const scenario of SCENARIO_NAMES) for (const one of [base, other]) await run(one, scenario)
  const rows: PairRow[] = []
  for (const scenario of SCENARIO_NAMES) {
    const ratios: { cpu: number; wall: number; base: number; other: number }[] = []
    let errors = 0
    for (let pair = 0; pair < pairs; pair++) {
      const first = pair % 2 === 0 ? base : other
      const results = [await run(first, scenario), await run(first === base ? other : base, scenario)]
      const [ofBase, ofOther] = first === base ? results : results.toReversed()
      if (ofBase === undefined || ofOther === undefined) throw new Error('a pair has two turns')
      errors += ofBase.errors + ofOther.errors
      for (const fault of [...ofBase.faults, ...ofOther.faults]) onProgress(fault)
      const [cpuBase, cpuOther] = [ofBase.cpuMicros ?? Number.NaN, ofOther.cpuMicros ?? Number.NaN]
      ratios.push({
        cpu: cpuOther / cpuBase,
        wall: ofBase.perSecond / ofOther.perSecond,
        base: cpuBase,
        other: cpuOther,
      })
    }
    rows.push({
      scenario: SAID[scenario],
      baseMicros: median(ratios.map((ratio) => ratio.base)),
      micros: median(ratios.map((ratio) => ratio.other)),
      cpuRatio: median(ratios.map((ratio) => ratio.cpu)),
      wallRatio: median(ratios.map((ratio) => ratio.wall)),
      errors,
    })
    onProgress(`${other.name} against ${base.name}, ${SAID[scenario]}: ${rows.at(-1)?.cpuRatio.toFixed(3)}`)
  }
  return rows
}

export const pairTable = (
  base: string,
  other: string,
  rows: readonly PairRow[],
  hasGoal = true,
): string[][] => [
  [
    '64 callers',
    `${base}: CPU µs`,
    `${other}: CPU µs`,
    'CPU ratio',
    'wall ratio',
    'errors',
    'goal',
    'reached',
  ],
  ...rows.map((row) => [
    row.scenario,
    row.baseMicros.toFixed(0),
    row.micros.toFixed(0),
    row.cpuRatio.toFixed(3),
    row.wallRatio.toFixed(3),
    String(row.errors),
    hasGoal ? `≤ ${RATIO_GOAL.toFixed(2)}` : '',
    hasGoal ? (arePairsGood([row]) ? 'yes' : 'NO') : '',
  ]),
]

export const arePairsGood = (rows: readonly PairRow[]): boolean =>
  rows.every(({ cpuRatio, errors }) => cpuRatio <= RATIO_GOAL && errors === 0)
