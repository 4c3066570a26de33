import type { ScanBudget, Sought, Watch, Window } from '../core/content-filter.ts'
import type { Automaton } from './automaton.ts'
import type { State } from './automaton-states.ts'
import type { Program } from './program.ts'
import { beforeOf, createGroups, type Group, type Groups, TOO_MANY } from './search.ts'

/** Filters with a shorter longest match are watched separately: text older than that is always safe to send. */
const SHORT = 512

/** Filters that are looked for in texts as they come. */
export interface Watcher {
  open(): readonly Watch[]
}

interface Kind {
  readonly sought: readonly Sought[]
  readonly groups: Groups
  /** Of all of them, in UTF-16 units. */
  readonly longest: number
}

/** Automata built for one text are reused for the next. */
export function createWatcher(sought: readonly Sought[], programs: readonly Program[]): Watcher {
  const lengths = programs.map(longestMatch)
  const kinds = [
    kindOf(sought, programs, lengths, (length) => length <= SHORT),
    kindOf(sought, programs, lengths, (length) => length > SHORT),
  ].filter((kind) => kind.sought.length > 0)
  return { open: () => kinds.map(openWatch) }
}

function kindOf(
  sought: readonly Sought[],
  programs: readonly Program[],
  lengths: readonly number[],
  isOfIt: (length: number) => boolean,
): Kind {
  const own = <T>(all: readonly T[]): T[] => all.filter((_, index) => isOfIt(lengths[index] ?? 0))
  return {
    sought: own(sought),
    groups: createGroups(own(programs)),
    longest: Math.max(0, ...own(lengths)),
  }
}

/** The position of one automaton in the text. */
interface Standing {
  readonly group: Group
  readonly automaton: Automaton
  readonly budget: ScanBudget
  state: State
  /** The last place where no match was under way. */
  idleAt: number
}

/** The character after the end of a match decides whether it is one. */
const BEHIND = 2

function openWatch({ sought, groups, longest }: Kind): Watch {
  let standings: readonly Standing[] | null = null
  const hits = new Map<Sought, number>()

  function stand(group: Group, { before, base }: Window, budget: ScanBudget): Standing {
    const automaton = groups.automatonOf(group, budget)
    const state = automaton.begin(before, before.length, budget)
    return { group, automaton, budget: groups.budgetOf(group, budget), state, idleAt: base }
  }

  function hit(standing: Standing, at: number): void {
    for (const index of standing.state.hits ?? []) note(standing.group, index, at)
  }

  function note(group: Group, index: number, at: number): void {
    const filter = sought[group.patterns[index] ?? -1]
    if (filter) hits.set(filter, Math.max(at, hits.get(filter) ?? 0))
  }

  /** Reads `text`, which begins at `from`. */
  function walk(standing: Standing, text: string, from: number, budget: ScanBudget): void {
    budget.spend(text.length)
    const cursor = { state: standing.state, at: 0, idleAt: -1 }
    while (cursor.at < text.length) {
      standing.automaton.walk(cursor, text, standing.budget)
      standing.state = cursor.state
      if (cursor.state.hits !== null) hit(standing, from + beforeOf(text, cursor.at))
    }
    if (cursor.state.list.length === 0) standing.idleAt = from + text.length
    else if (cursor.idleAt >= 0) standing.idleAt = from + cursor.idleAt
  }

  /** Patterns that are too many together are parted, and read again what has not gone out yet. */
  function walked(
    standing: Standing,
    text: string,
    from: number,
    window: Window,
    budget: ScanBudget,
  ): Standing[] {
    try {
      walk(standing, text, from, budget)
      return [standing]
    } catch (error) {
      if (error !== TOO_MANY) throw error
    }
    groups.part(standing.group)
    return groups
      .leavesOf(standing.group)
      .flatMap((leaf) => walked(stand(leaf, window, budget), window.held, window.base, window, budget))
  }

  return {
    hits,
    read(window, fresh, budget) {
      const from = window.base + window.held.length - fresh.length
      standings ??= groups.leavesOf().map((leaf) => stand(leaf, window, budget))
      const [only] = standings
      if (only && standings.length === 1) {
        standings = walked(only, fresh, from, window, budget)
        return
      }
      standings = standings.flatMap((standing) => walked(standing, fresh, from, window, budget))
    },
    end({ base, held }, budget) {
      for (const { automaton, state, group } of standings ?? []) {
        for (const index of automaton.atEnd(state, budget) ?? []) note(group, index, base + held.length)
      }
    },
    safeTo(length) {
      let safe = length
      for (const { idleAt } of standings ?? []) safe = Math.min(safe, idleAt)
      return Math.max(safe, length - longest - BEHIND)
    },
  }
}

/** Longer programs are not analysed: their matches count as unbounded. */
const MOST_STEPS = 5_000
/** Of a character, in UTF-16. */
const UNITS = 2

/** The most UTF-16 units that a match of this program can have; infinite if it repeats without end. */
function longestMatch({ starts, steps }: Program): number {
  if (steps.length > MOST_STEPS) return Number.POSITIVE_INFINITY
  const longest = new Map<number, number>()
  const open = new Set<number>()
  const stack = [...starts]
  for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
    if (longest.has(at)) {
      stack.pop()
      continue
    }
    const next = nextOf(steps[at])
    if (open.has(at)) {
      const own = steps[at]?.type === 'character' ? UNITS : 0
      longest.set(at, own + Math.max(0, ...next.map((to) => longest.get(to) ?? 0)))
      open.delete(at)
      stack.pop()
      continue
    }
    open.add(at)
    for (const to of next) {
      if (open.has(to)) return Number.POSITIVE_INFINITY
      if (!longest.has(to)) stack.push(to)
    }
  }
  return Math.max(0, ...starts.map((start) => longest.get(start) ?? 0))
}

function nextOf(step: Program['steps'][number] | undefined): readonly number[] {
  switch (step?.type) {
    case 'fork':
      return [step.first, step.second]
    case 'jump':
    case 'place':
    case 'character':
      return [step.to]
    default:
      return []
  }
}
