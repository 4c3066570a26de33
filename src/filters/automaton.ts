import type { ScanBudget } from '../core/content-filter.ts'
import { type CharacterClass, createAlphabet, kindOf } from './alphabet.ts'
import { createStates, type State } from './automaton-states.ts'
import { BEGINNING, COST_OF_STEP, createClosure, TEXT_END, TEXT_START } from './closure.ts'
import type { Program } from './program.ts'

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
   * `STRIDE` characters at most. Throws `OverBudget`; the caller spends for characters read along cached states.
   */
  walk(cursor: Cursor, text: string, budget: ScanBudget): void
  /** What has matched when the text ends here. */
  atEnd(state: State, budget: ScanBudget): readonly number[] | null
  /** The lists of all cached states. */
  lists(): Iterable<readonly number[]>
}

/** Characters between two checks of the budget for a pause. */
const STRIDE = 65_536

/** In units of one step along a cached state. */
const COST_OF_CACHED_NUMBER = 20

/**
 * `anywhere`: a match may begin at every character, and which patterns match at all is what counts. `here`: it begins
 * where the text does, and the first alternative wins, as in RE2. Empty matches do not count in either mode.
 */
export function createAutomaton(program: Program, mode: 'anywhere' | 'here'): Automaton {
  let spender: ScanBudget | null = null
  const { tests } = program
  const alphabet = createAlphabet(tests, () => spender?.spend(tests.length + COST_OF_STEP))
  const closure = createClosure(program, mode)
  const states = createStates()
  const isOrdered = mode === 'here'
  /** The classes of frequent characters; -1: not seen yet. */
  const ascii = new Int16Array(ASCII).fill(-1)

  function characterAt(text: string, at: number): CharacterClass {
    return alphabet.classOf(text.codePointAt(at) ?? 0)
  }

  function step(state: State, character: CharacterClass, budget: ScanBudget): State {
    const { characters, hits } = closure.of(state, character.kind, budget)
    const list = closure.behind(characters, character)
    if (states.isOverfull()) return { list, before: character.kind, hits, next: [] }
    const next = states.of(list, character.kind, hits, budget)
    budget.spend(list.length * COST_OF_CACHED_NUMBER)
    state.next[character.index] = next
    return next
  }

  return {
    begin(text, at, budget) {
      spender = budget
      states.beginText()
      const before = at === 0 ? TEXT_START : kindOf(text.charCodeAt(at - 1))
      return states.of([], before | BEGINNING, null, budget)
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
      for (const { list } of states.all()) yield list
    },
    atEnd: (state, budget) => closure.of(state, TEXT_END, budget).hits,
  }
}

const ASCII = 128

const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff
