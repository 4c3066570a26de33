import type { ScanBudget, Span } from '../core/content-filter.ts'
import { createAutomaton } from './automaton.ts'
import { programOf } from './program.ts'

/** Which of the patterns match anywhere in a text: all of them in one pass. Throws `OverBudget`. */
export type Detector = (text: string, budget: ScanBudget) => ReadonlySet<number>

export function createDetector(patterns: readonly string[]): Detector {
  const automaton = createAutomaton(programOf(patterns), 'anywhere')
  return (text, budget) => {
    budget.spend(text.length)
    const found = new Set<number>()
    let state = automaton.begin(text, 0, budget)
    for (let at = 0; at < text.length; at++) {
      let code = text.charCodeAt(at)
      if (code >= 0xd800 && code <= 0xdbff) {
        code = text.codePointAt(at) ?? code
        if (code > 0xffff) at++
      }
      state = automaton.after(state, code, budget)
      if (state.hits !== null) for (const pattern of state.hits) found.add(pattern)
    }
    for (const pattern of automaton.atEnd(state, budget) ?? []) found.add(pattern)
    return found
  }
}

/** The leftmost match at or behind a place, as RE2 has it (but that an empty one is none). Throws `OverBudget`. */
export type Finder = (text: string, from: number, budget: ScanBudget) => Span | null

export function createFinder(pattern: string): Finder {
  const program = programOf([pattern])
  const anywhere = createAutomaton(program, 'anywhere')
  const here = createAutomaton(program, 'here')

  /** The first place where some match ends, and a place that no match which includes it begins before. */
  function region(text: string, from: number, budget: ScanBudget): Span | null {
    let state = anywhere.begin(text, from, budget)
    let start = from
    for (let at = from; at < text.length; ) {
      if (state.list.length === 0) start = at
      const code = text.codePointAt(at) ?? 0
      state = anywhere.after(state, code, budget)
      if (state.hits !== null) {
        budget.spend(at - from)
        return { start, end: at }
      }
      at += code > 0xffff ? 2 : 1
    }
    budget.spend(text.length - from)
    return anywhere.atEnd(state, budget) === null ? null : { start, end: text.length }
  }

  /** Where the match that begins here ends; null: none does. */
  function endOf(text: string, start: number, budget: ScanBudget): number | null {
    let state = here.begin(text, start, budget)
    let end: number | null = null
    let at = start
    while (at < text.length) {
      const code = text.codePointAt(at) ?? 0
      state = here.after(state, code, budget)
      if (state.hits !== null) end = at
      if (state.list.length === 0) break
      at += code > 0xffff ? 2 : 1
    }
    budget.spend(at - start + 1)
    if (at >= text.length && here.atEnd(state, budget) !== null) end = text.length
    return end
  }

  return (text, from, budget) => {
    const found = region(text, from, budget)
    if (found === null) return null
    for (let start = found.start; start < found.end; start++) {
      if (isInsidePair(text, start)) continue
      const end = endOf(text, start, budget)
      if (end !== null) return { start, end }
    }
    return null
  }
}

function isInsidePair(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 0xdc00 || code > 0xdfff || at === 0) return false
  const before = text.charCodeAt(at - 1)
  return before >= 0xd800 && before <= 0xdbff
}
