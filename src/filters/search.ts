import type { ScanBudget, Span, Steps } from '../core/content-filter.ts'
import { type Automaton, createAutomaton } from './automaton.ts'
import { joined, type Program, programOf } from './program.ts'

/** Which of the patterns match anywhere in a text. Throws `OverBudget`. */
export type Detector = (text: string, budget: ScanBudget) => Steps<ReadonlySet<number>>

interface Learning {
  units: number
}

/** Patterns that are looked for together. */
export interface Group {
  readonly patterns: readonly number[]
  automaton: Automaton | null
  /** Once its patterns turned out to be too many for one automaton. */
  parts: readonly Group[] | null
}

/** Patterns in as few groups as they can be looked for in; that is found out while texts are read. */
export interface Groups {
  /** The groups that this one was split into; itself if it was not split. */
  leavesOf(group?: Group): readonly Group[]
  automatonOf(group: Group, budget: ScanBudget): Automaton
  /** For one text: throws `TOO_MANY` if the group should be split. */
  budgetOf(group: Group, budget: ScanBudget): ScanBudget
  part(group: Group): void
}

interface Bounds {
  /** What a text may cost beyond reading it before its group of patterns is parted. */
  readonly unitsOfGroup: number
  /** Work on building automata, up to this, is charged to no request. */
  readonly unitsOfLearning: number
}

/** Some 1 ms, and some 20 ms once: an answer is scanned while it streams. */
const OF_ANSWERS: Bounds = { unitsOfGroup: 250_000, unitsOfLearning: 4_000_000 }
/** Some 10 ms, in slices: fewer groups read a long text fewer times. */
const OF_REQUESTS: Bounds = { unitsOfGroup: 2_000_000, unitsOfLearning: 0 }
/** Of putting an automaton together. */
const COST_OF_INSTRUCTION = 8

/** Throws RE2JS's error for an invalid pattern. */
export function createGroups(programs: readonly Program[], bounds = OF_ANSWERS): Groups {
  const lengths = programs.map(({ steps }) => steps.length)
  const root: Group = groupOf([...programs.keys()])
  const learning: Learning = { units: bounds.unitsOfLearning }
  const leavesOf = (group: Group = root): readonly Group[] =>
    group.parts === null ? [group] : group.parts.flatMap((part) => leavesOf(part))
  return {
    leavesOf,
    automatonOf(group, budget) {
      if (group.automaton === null) {
        const program = joined(group.patterns.flatMap((index) => programs[index] ?? []))
        budget.spend(program.steps.length * COST_OF_INSTRUCTION)
        group.automaton = createAutomaton(program, 'anywhere')
      }
      return group.automaton
    },
    budgetOf: (group, budget) =>
      group.patterns.length === 1 ? budget : bounded(budget, bounds.unitsOfGroup, learning),
    part(group) {
      if (group.parts === null) part(group, lengths)
    },
  }
}

/** Instructions that are compiled before a pause: some 5 ms. */
const STEPS_OF_SLICE = 5_000

/**
 * Reads a text once for all patterns. If together they have too many states, the heaviest are taken out, for this text
 * and all that follow. Throws RE2JS's error for an invalid pattern.
 *
 * It is not RE2JS's `RE2Set`, which finds the same: that cannot be paused, and 200 ordinary patterns overflow its cache,
 * so that it held the thread for 46 s with 1 MB of text (0.1 s here; November 2026, re2js 2.10).
 */
export function* createDetector(patterns: readonly string[]): Steps<Detector> {
  return detectorOf(createGroups(yield* programsOf(patterns), OF_REQUESTS))
}

/** Compiles patterns. Throws RE2JS's error for an invalid one. */
export function* programsOf(patterns: readonly string[]): Steps<Program[]> {
  const programs: Program[] = []
  let compiled = 0
  for (const pattern of patterns) {
    const program = programOf(pattern)
    programs.push(program)
    compiled += program.steps.length
    if (compiled < STEPS_OF_SLICE) continue
    compiled = 0
    yield
  }
  return programs
}

function detectorOf(groups: Groups): Detector {
  function* detect(group: Group, text: string, budget: ScanBudget, found: Set<number>): Steps<void> {
    const automaton = groups.automatonOf(group, budget)
    try {
      for (const hit of yield* hitsIn(text, automaton, budget, groups.budgetOf(group, budget))) {
        const pattern = group.patterns[hit]
        if (pattern !== undefined) found.add(pattern)
      }
    } catch (error) {
      if (error !== TOO_MANY) throw error
      groups.part(group)
      for (const leaf of groups.leavesOf(group)) yield* detect(leaf, text, budget, found)
    }
  }

  return function* (text, budget) {
    const found = new Set<number>()
    if (text !== '') for (const leaf of groups.leavesOf()) yield* detect(leaf, text, budget, found)
    return found
  }
}

const groupOf = (patterns: readonly number[]): Group => ({ patterns, automaton: null, parts: null })

/** The share of patterns that leave a group that is too large: those with the most states. */
const SHARE_OF_HEAVY = 5

function part(group: Group, lengths: readonly number[]): void {
  const weights = weightsOf(group, lengths)
  const byWeight = [...group.patterns.keys()].sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0))
  const heavy = new Set(byWeight.slice(0, Math.ceil(byWeight.length / SHARE_OF_HEAVY)))
  const inOrder = (isHeavy: boolean) => group.patterns.filter((_, index) => heavy.has(index) === isHeavy)
  group.parts = [inOrder(true), inOrder(false)].map(groupOf)
  group.automaton = null
}

/** Of each pattern in the group, in how many ways it took part in the states that were built. */
function weightsOf({ patterns, automaton }: Group, lengths: readonly number[]): number[] {
  const ends: number[] = []
  for (const pattern of patterns) ends.push((ends.at(-1) ?? 0) + (lengths[pattern] ?? 0))
  const ways = patterns.map(() => new Set<string>())
  for (const list of automaton?.lists() ?? []) {
    let from = 0
    for (const [index, end] of ends.entries()) {
      let to = from
      while (to < list.length && (list[to] ?? 0) < end) to++
      if (to > from) ways[index]?.add(list.slice(from, to).join())
      from = to
    }
  }
  return ways.map(({ size }) => size)
}

export const TOO_MANY = new Error('these patterns together have too many states')

function bounded(budget: ScanBudget, most: number, learning: Learning): ScanBudget {
  let left = most
  return {
    get isPauseDue() {
      return budget.isPauseDue === true
    },
    spend(units) {
      if (learning.units > 0) learning.units -= units
      else budget.spend(units)
      left -= units
      if (left < 0) throw TOO_MANY
    },
  }
}

function* hitsIn(
  text: string,
  automaton: Automaton,
  budget: ScanBudget,
  learning: ScanBudget,
): Steps<Set<number>> {
  const hits = new Set<number>()
  const cursor = { state: automaton.begin(text, 0, learning), at: 0, idleAt: 0 }
  while (cursor.at < text.length) {
    const from = cursor.at
    automaton.walk(cursor, text, learning)
    budget.spend(cursor.at - from)
    for (const hit of cursor.state.hits ?? []) hits.add(hit)
    if (budget.isPauseDue) yield
  }
  for (const hit of automaton.atEnd(cursor.state, learning) ?? []) hits.add(hit)
  return hits
}

/** The leftmost match at or behind a place, as in RE2, except that empty matches do not count. Throws `OverBudget`. */
export type Finder = (text: string, from: number, budget: ScanBudget) => Steps<Span | null>

export function createFinder(pattern: string): Finder {
  const program = programOf(pattern)
  const anywhere = createAutomaton(program, 'anywhere')
  const here = createAutomaton(program, 'here')

  /** The first place where some match ends, and a place that no match which includes it begins before. */
  function* region(text: string, from: number, budget: ScanBudget): Steps<Span | null> {
    const cursor = { state: anywhere.begin(text, from, budget), at: from, idleAt: from }
    while (cursor.at < text.length && cursor.state.hits === null) {
      const before = cursor.at
      anywhere.walk(cursor, text, budget)
      budget.spend(cursor.at - before)
      if (budget.isPauseDue) yield
    }
    const { state, at, idleAt } = cursor
    // What leads to a state with hits was read behind the end of the match.
    if (state.hits !== null) return { start: idleAt, end: at }
    return anywhere.atEnd(state, budget) === null ? null : { start: idleAt, end: text.length }
  }

  /** Where the match that begins here ends; null: none does. */
  function* endOf(text: string, start: number, budget: ScanBudget): Steps<number | null> {
    const cursor = { state: here.begin(text, start, budget), at: start, idleAt: start }
    let end: number | null = null
    while (cursor.at < text.length) {
      const from = cursor.at
      here.walk(cursor, text, budget)
      budget.spend(cursor.at - from + 1)
      if (cursor.state.hits !== null) end = beforeOf(text, cursor.at)
      if (cursor.state.list.length === 0) break
      if (budget.isPauseDue) yield
    }
    if (cursor.state.list.length > 0 && here.atEnd(cursor.state, budget) !== null) end = text.length
    return end
  }

  return function* (text, from, budget) {
    const found = yield* region(text, from, budget)
    if (found === null) return null
    for (let start = found.start; start < found.end; start++) {
      if (isInsidePair(text, start)) continue
      const end = yield* endOf(text, start, budget)
      if (end !== null) return { start, end }
    }
    return null
  }
}

/** Where the character begins that ends here. */
export const beforeOf = (text: string, at: number): number => (isInsidePair(text, at - 1) ? at - 2 : at - 1)

function isInsidePair(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 0xdc00 || code > 0xdfff || at === 0) return false
  const before = text.charCodeAt(at - 1)
  return before >= 0xd800 && before <= 0xdbff
}
