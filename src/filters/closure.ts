import type { ScanBudget } from '../core/content-filter.ts'
import { type CharacterClass, LINE_END, WORD } from './alphabet.ts'
import type { State } from './automaton-states.ts'
import type { Program } from './program.ts'

/** What the steps of a program reach from a state. */
interface Closure {
  /** The steps that wait for a character at this place, and what has matched before it. `after`: the kind of the next character. */
  of(
    state: State,
    after: number,
    budget: ScanBudget,
  ): { characters: readonly number[]; hits: readonly number[] | null }
  /** The steps behind those of `characters` that take this character. */
  behind(characters: readonly number[], character: CharacterClass): number[]
}

export const TEXT_START = 4
export const TEXT_END = 8
/** True only for the first state, before any character. */
export const BEGINNING = 16

/** RE2's conditions of a place. */
const CONDITIONS = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
}

// In units of one step along a cached state (some 4 ns).
const COST_OF_VISIT = 4
export const COST_OF_STEP = 30

export function createClosure({ starts, steps }: Program, mode: 'anywhere' | 'here'): Closure {
  let round = 0
  let visited = 0
  /** By step: the round in which it was reached last. */
  const seen = new Uint32Array(steps.length)

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
          if (mode === 'here') return false
      }
    }
    return true
  }

  return {
    of(state, after, budget) {
      const conditions = conditionsAt(state.before, after)
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
    },
    behind(characters, character) {
      const list: number[] = []
      round++
      for (const at of characters) {
        const waiting = steps[at]
        if (waiting?.type !== 'character' || character.holds[waiting.test] === 0) continue
        if (seen[waiting.to] === round) continue
        seen[waiting.to] = round
        list.push(waiting.to)
      }
      if (mode === 'anywhere') list.sort((a, b) => a - b)
      return list
    },
  }
}

function conditionsAt(before: number, after: number): number {
  let conditions = 0
  if (before & TEXT_START) conditions |= CONDITIONS.beginText | CONDITIONS.beginLine
  if (before & LINE_END) conditions |= CONDITIONS.beginLine
  if (after & TEXT_END) conditions |= CONDITIONS.endText | CONDITIONS.endLine
  if (after & LINE_END) conditions |= CONDITIONS.endLine
  const isBoundary = ((before ^ after) & WORD) !== 0
  return conditions | (isBoundary ? CONDITIONS.wordBoundary : CONDITIONS.noWordBoundary)
}
