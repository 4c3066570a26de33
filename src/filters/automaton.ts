import type { ScanBudget } from '../core/content-filter.ts'
import { type CharacterClass, createAlphabet, kindOf, LINE_END, WORD } from './alphabet.ts'
import type { Program } from './program.ts'

/**
 * A state of a lazily built deterministic automaton: the positions of the programs between two characters. States are
 * cached across texts, up to a bound.
 */
export interface State {
  /** The steps to go on from, closed over nothing yet; by priority where that counts. */
  readonly list: readonly number[]
  /** The context before: `LINE_END`, `WORD`, `TEXT_START`. */
  readonly before: number
  /** Patterns with a match that ended before the character which led here; null: none. */
  readonly hits: readonly number[] | null
  readonly next: (State | undefined)[]
}

interface Cursor {
  state: State
  /** The next character to read. */
  at: number
  /** The last place where no match was under way. */
  idleAt: number
}

export interface Automaton {
  /** Nothing has matched a character yet; `text[at - 1]` is the character before. */
  begin(text: string, at: number, budget: ScanBudget): State
  /**
   * Goes on along a text until something has matched, nothing more can (`here`), a pause is due, or the text ends; for
   * `STRIDE` characters at most. Throws `OverBudget`; the caller spends for characters read along known states.
   */
  walk(cursor: Cursor, text: string, budget: ScanBudget): void
  /** What has matched when the text ends here. */
  atEnd(state: State, budget: ScanBudget): readonly number[] | null
  /** The lists of all states that are kept. */
  lists(): Iterable<readonly number[]>
}

const TEXT_START = 4
const TEXT_END = 8
/** RE2's conditions of a place. */
const CONDITIONS = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
}

/** Numbers in all lists that are kept; more are forgotten, all at once. */
const MOST_KEPT = 400_000
/** A text that has made the automaton forget this often is read without keeping anything. */
const MOST_FLUSHES = 1

/** So many characters are read before the budget is asked whether a pause is due. */
const STRIDE = 65_536

// What work costs, in units of one step along a kept state (some 4 ns).
const COST_OF_VISIT = 4
const COST_OF_STEP = 30
const COST_OF_STATE = 200
const COST_OF_KEPT_NUMBER = 20

/**
 * `anywhere`: a match may begin at every character, and which patterns match at all is what counts. `here`: it begins
 * where the text does, and the first alternative wins, as in RE2. Empty matches do not count in either mode.
 */
export function createAutomaton({ starts, steps, tests }: Program, mode: 'anywhere' | 'here'): Automaton {
  let spender: ScanBudget | null = null
  const alphabet = createAlphabet(tests, () => spender?.spend(tests.length + COST_OF_STEP))
  const states = new Map<string, State>()
  let kept = 0
  let flushes = 0
  let round = 0
  let visited = 0
  const seen = new Uint32Array(steps.length)
  const isOrdered = mode === 'here'
  /** The classes of frequent characters; -1: not seen yet. */
  const ascii = new Int16Array(ASCII).fill(-1)

  /** Follows everything that takes no character. False: a match was found, and nothing behind it counts. */
  function close(from: number, conditions: number, characters: number[], hits: number[] | null): boolean {
    const open = [from]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen[at] === round) continue
      seen[at] = round
      visited++
      const step = steps[at]
      switch (step?.type) {
        case 'fork':
          open.push(step.second, step.first)
          break
        case 'jump':
          open.push(step.to)
          break
        case 'place':
          if ((step.conditions & ~conditions) === 0) open.push(step.to)
          break
        case 'character':
          characters.push(at)
          break
        case 'match':
          if (hits === null) break
          if (!hits.includes(step.pattern)) hits.push(step.pattern)
          if (isOrdered) return false
      }
    }
    return true
  }

  /** The steps that wait for a character at this place, and what has matched before it. */
  function closed(state: State, conditions: number, budget: ScanBudget) {
    round++
    visited = state.list.length + starts.length
    const characters: number[] = []
    const hits: number[] = []
    let goesOn = true
    for (const at of state.list) {
      goesOn = close(at, conditions, characters, hits)
      if (!goesOn) break
    }
    if (goesOn && (mode === 'anywhere' || state.before & BEGINNING)) {
      for (const start of starts) close(start, conditions, characters, null)
    }
    budget.spend((visited + characters.length) * COST_OF_VISIT + COST_OF_STEP)
    return { characters, hits: hits.length === 0 ? null : hits }
  }

  function characterAt(text: string, at: number): CharacterClass {
    return alphabet.classOf(text.codePointAt(at) ?? 0)
  }

  function step(state: State, character: CharacterClass, budget: ScanBudget): State {
    const { characters, hits } = closed(state, conditionsAt(state.before, character.kind), budget)
    const list: number[] = []
    round++
    for (const at of characters) {
      const waiting = steps[at]
      if (waiting?.type !== 'character' || character.holds[waiting.test] === 0) continue
      if (seen[waiting.to] === round) continue
      seen[waiting.to] = round
      list.push(waiting.to)
    }
    if (!isOrdered) list.sort((a, b) => a - b)
    if (flushes > MOST_FLUSHES) return { list, before: character.kind, hits, next: [] }
    const next = stateOf(list, character.kind, hits)
    budget.spend(list.length * COST_OF_KEPT_NUMBER)
    state.next[character.index] = next
    return next
  }

  function stateOf(list: readonly number[], before: number, hits: readonly number[] | null): State {
    const key = `${before}|${list.join()}|${hits === null ? '' : hits.join()}`
    const found = states.get(key)
    if (found !== undefined) return found
    spender?.spend(COST_OF_STATE)
    kept += list.length + COST_OF_STATE
    if (kept > MOST_KEPT) {
      for (const state of states.values()) state.next.length = 0
      states.clear()
      kept = 0
      flushes++
    }
    const state = { list, before, hits, next: [] }
    states.set(key, state)
    return state
  }

  return {
    begin(text, at, budget) {
      spender = budget
      flushes = 0
      const before = at === 0 ? TEXT_START : kindOf(text.charCodeAt(at - 1))
      return stateOf([], before | BEGINNING, null)
    },
    walk(cursor, text, budget) {
      spender = budget
      let { state, at, idleAt } = cursor
      let until = Math.min(text.length, at + STRIDE)
      do {
        if (state.list.length === 0) {
          if (isOrdered && (state.before & BEGINNING) === 0) break
          idleAt = at
        }
        const code = text.charCodeAt(at)
        let index = code < ASCII ? (ascii[code] ?? -1) : -1
        if (index < 0) {
          const character = characterAt(text, at)
          index = character.index
          if (code < ASCII) ascii[code] = index
          state = state.next[index] ?? step(state, character, budget)
          if (budget.isPauseDue) until = at
          at += code >= 0xd800 && code <= 0xdbff && isLow(text.charCodeAt(at + 1)) ? 2 : 1
        } else {
          const known = state.next[index]
          if (known === undefined) {
            state = step(state, characterAt(text, at), budget)
            if (budget.isPauseDue) until = at
          } else state = known
          at++
        }
      } while (at < until && state.hits === null)
      cursor.state = state
      cursor.at = at
      cursor.idleAt = idleAt
    },
    *lists() {
      for (const { list } of states.values()) yield list
    },
    atEnd: (state, budget) => closed(state, conditionsAt(state.before, TEXT_END), budget).hits,
  }
}

const ASCII = 128

const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/** True only for the first state, before any character. */
const BEGINNING = 16

function conditionsAt(before: number, after: number): number {
  let conditions = 0
  if (before & TEXT_START) conditions |= CONDITIONS.beginText | CONDITIONS.beginLine
  if (before & LINE_END) conditions |= CONDITIONS.beginLine
  if (after & TEXT_END) conditions |= CONDITIONS.endText | CONDITIONS.endLine
  if (after & LINE_END) conditions |= CONDITIONS.endLine
  const isBoundary = ((before ^ after) & WORD) !== 0
  return conditions | (isBoundary ? CONDITIONS.wordBoundary : CONDITIONS.noWordBoundary)
}
