import type { ScanBudget } from '../core/content-filter.ts'

/**
 * A state of a lazily built deterministic automaton: the positions of the programs between two characters. States are
 * cached across texts, up to a bound.
 */
export interface State {
  /** The next steps, not closed yet; by priority if that counts. */
  readonly list: readonly number[]
  /** The context before: `LINE_END`, `WORD`, `TEXT_START`. */
  readonly before: number
  /** Patterns with a match that ended before the character which led here; null: none. */
  readonly hits: readonly number[] | null
  readonly next: (State | undefined)[]
}

/** The cache of states, shared by all texts. */
interface States {
  /** Called at the start of each text. */
  beginText(): void
  of(list: readonly number[], before: number, hits: readonly number[] | null, budget: ScanBudget): State
  /** True for a text with so many states that caching does not help: its further states are not cached. */
  isOverfull(): boolean
  all(): Iterable<State>
}

/** The most numbers in all cached lists; beyond that the cache is emptied. */
const MOST_CACHED = 400_000
/** A text that has emptied the cache more often is read without it. */
const MOST_FLUSHES = 1
/** In units of one step along a cached state. */
const COST_OF_STATE = 200

export function createStates(): States {
  const states = new Map<string, State>()
  let cached = 0
  let flushes = 0

  return {
    beginText() {
      flushes = 0
    },
    of(list, before, hits, budget) {
      const key = `${before}|${list.join()}|${hits === null ? '' : hits.join()}`
      const found = states.get(key)
      if (found !== undefined) return found
      budget.spend(COST_OF_STATE)
      cached += list.length + COST_OF_STATE
      if (cached > MOST_CACHED) {
        for (const state of states.values()) state.next.length = 0
        states.clear()
        cached = 0
        flushes++
      }
      const state = { list, before, hits, next: [] }
      states.set(key, state)
      return state
    },
    isOverfull: () => flushes > MOST_FLUSHES,
    all: () => states.values(),
  }
}
