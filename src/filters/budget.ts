import { OverBudget, type ScanBudget, type Steps } from '../core/content-filter.ts'

/** Work is counted in units of about 4 ns, not in time: the same request has the same answer on any machine. */
interface Allowance {
  readonly units: number
  /** Added for each character of a text. */
  readonly unitsOfCharacter: number
}

/** Some 20 ms, and each character read a few times: answers are scanned while they stream. */
const OF_ANSWERS: Allowance = { units: 5_000_000, unitsOfCharacter: 6 }
/** Some 400 ms, in slices between which other requests run. */
export const OF_REQUESTS: Allowance = { units: 100_000_000, unitsOfCharacter: 20 }
/** Some 5 ms. */
const UNITS_OF_SLICE = 1_250_000

export interface GrowingBudget extends ScanBudget {
  /** A text of this length is about to be scanned. */
  grow(characters: number): void
  /** After a pause: the next slice begins. */
  resume(): void
}

/** For all texts of one request, and all guardrails of its key. */
export function createBudget({ units, unitsOfCharacter }: Allowance = OF_ANSWERS): GrowingBudget {
  let left = units
  let slice = UNITS_OF_SLICE
  return {
    grow(characters) {
      left += characters * unitsOfCharacter
    },
    spend(units) {
      left -= units
      slice -= units
      if (left < 0) throw new OverBudget()
    },
    get isPauseDue() {
      return slice < 0
    },
    resume() {
      slice = UNITS_OF_SLICE
    },
  }
}

/** Runs steps to their end without a pause: for texts that are short. */
export function finished<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
