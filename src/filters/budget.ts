import { OverBudget, type ScanBudget } from '../core/content-filter.ts'

/** Some 20 ms of work, at about 4 ns a unit, whatever the patterns are. */
const UNITS = 5_000_000
/** And what a long text takes when each of its characters is read a few times. */
const UNITS_OF_CHARACTER = 6

export interface GrowingBudget extends ScanBudget {
  /** A text of this length is about to be scanned. */
  grow(characters: number): void
}

/** For all texts of one request, and all guardrails of its key. It counts work, not time. */
export function createBudget(): GrowingBudget {
  let left = UNITS
  return {
    grow(characters) {
      left += characters * UNITS_OF_CHARACTER
    },
    spend(units) {
      left -= units
      if (left < 0) throw new OverBudget()
    },
  }
}
