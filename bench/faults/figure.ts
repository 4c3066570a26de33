import type { StartWorld } from './world.ts'

/** One line of the table. */
export interface Figure {
  measure: string
  goal: string
  measured: string
  isGood: boolean
}

export interface Surroundings {
  /** Starts a gateway on a folder of its own: no step inherits the health that another one left behind. */
  start: StartWorld
  /** How long everything is down, and how long one of two fails. */
  seconds: number
}

export type Step = (surroundings: Surroundings) => Promise<Figure[]>

/** Cases that must all end as required. Prints each that does not. */
export function faultless(measure: string, cases: number, faults: readonly string[]): Figure {
  for (const fault of faults) process.stderr.write(`  ${fault}\n`)
  const missed = new Set(faults.map((fault) => fault.slice(0, fault.indexOf(':')))).size
  return {
    measure,
    goal: `${cases} of ${cases}`,
    measured: `${cases - missed} of ${cases}`,
    isGood: missed === 0,
  }
}

export const atMost = (measure: string, value: number, most: number, unit: string, digits = 0): Figure => ({
  measure,
  goal: `≤ ${most}${unit}`,
  measured: Number.isFinite(value) ? `${value.toFixed(digits)}${unit}` : 'never',
  isGood: value <= most,
})

export const atLeast = (measure: string, value: number, least: number, unit: string, digits = 1): Figure => ({
  measure,
  goal: `≥ ${least}${unit}`,
  measured: `${value.toFixed(digits)}${unit}`,
  isGood: value >= least,
})
