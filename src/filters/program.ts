import { RE2JS } from 're2js'

/**
 * The programs of several patterns as one list of instructions. RE2JS parses and compiles them; what runs them is
 * `automaton.ts`, which can be stopped, and tells where a match ends.
 */
export interface Program {
  /** Where each pattern begins. */
  readonly starts: readonly number[]
  readonly steps: readonly Step[]
  /** What single characters are tested for; steps name them by index. */
  readonly tests: readonly ((codePoint: number) => boolean)[]
}

export type Step =
  | { readonly type: 'fork'; readonly first: number; readonly second: number }
  | { readonly type: 'jump'; readonly to: number }
  /** Goes on where all of these conditions of the place hold. */
  | { readonly type: 'place'; readonly conditions: number; readonly to: number }
  | { readonly type: 'character'; readonly test: number; readonly to: number }
  | { readonly type: 'match'; readonly pattern: number }
  | { readonly type: 'fail' }

/** RE2JS's instruction (its src/Inst.js, 2.10). */
interface Instruction {
  op: number
  out: number
  arg: number
  runes: Int32Array
  matchRune(rune: number): boolean
}

const isInstruction = (value: unknown): value is Instruction =>
  typeof value === 'object' &&
  value !== null &&
  'op' in value &&
  typeof value.op === 'number' &&
  'out' in value &&
  typeof value.out === 'number' &&
  'arg' in value &&
  typeof value.arg === 'number' &&
  'runes' in value &&
  value.runes instanceof Int32Array &&
  'matchRune' in value &&
  typeof value.matchRune === 'function'

const NEWLINE = 10

/** Throws RE2JS's error for a pattern that is none. */
export function programOf(patterns: readonly string[]): Program {
  const starts: number[] = []
  const steps: Step[] = []
  const tests: ((codePoint: number) => boolean)[] = []
  const known = new Map<string, number>()

  function testOf(key: string, test: (codePoint: number) => boolean): number {
    const found = known.get(key)
    if (found !== undefined) return found
    known.set(key, tests.length)
    return tests.push(test) - 1
  }

  function stepOf(instruction: Instruction, offset: number, pattern: number): Step {
    const { op, arg } = instruction
    const to = instruction.out + offset
    switch (op) {
      case 1:
      case 2:
        return { type: 'fork', first: to, second: arg + offset }
      case 3:
      case 7:
        return { type: 'jump', to }
      case 4:
        return { type: 'place', conditions: arg, to }
      case 5:
        return { type: 'fail' }
      case 6:
        return { type: 'match', pattern }
      case 8:
      case 9: {
        const key = `${arg & 1}:${instruction.runes.join()}`
        return {
          type: 'character',
          test: testOf(key, (codePoint) => instruction.matchRune(codePoint)),
          to,
        }
      }
      case 10:
        return { type: 'character', test: testOf('any', () => true), to }
      case 11:
        return { type: 'character', test: testOf('line', (codePoint) => codePoint !== NEWLINE), to }
      default:
        throw new Error(`a pattern was compiled to an unknown instruction: ${op}`)
    }
  }

  for (const [pattern, text] of patterns.entries()) {
    const offset = steps.length
    const { start, inst } = compiled(text)
    starts.push(start + offset)
    for (const instruction of inst) steps.push(stepOf(instruction, offset, pattern))
  }
  return { starts, steps, tests }
}

function compiled(pattern: string): { start: number; inst: Instruction[] } {
  const program: unknown = RE2JS.compile(pattern).re2().prog
  if (
    typeof program === 'object' &&
    program !== null &&
    'start' in program &&
    typeof program.start === 'number' &&
    'inst' in program &&
    Array.isArray(program.inst)
  ) {
    const inst: unknown[] = program.inst
    return { start: program.start, inst: inst.filter(isInstruction) }
  }
  throw new Error('a compiled pattern has no program')
}
