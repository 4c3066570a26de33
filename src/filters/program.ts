import { RE2JS } from 're2js'

/**
 * The programs of several patterns as one list of instructions. RE2JS parses and compiles them; `automaton.ts` runs them,
 * can pause, and reports where a match ends.
 */
export interface Program {
  /** Where each pattern begins. */
  readonly starts: readonly number[]
  readonly steps: readonly Step[]
  /** What single characters are tested for; steps name them by index. */
  readonly tests: readonly ((codePoint: number) => boolean)[]
}

type Step =
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

type Test = (codePoint: number) => boolean

/** Throws RE2JS's error for an invalid pattern. */
export function programOf(pattern: string): Program {
  const { start, inst } = compiled(pattern)
  const tests: Test[] = []
  const testOf = numbering(tests)
  return { starts: [start], steps: inst.map((instruction) => stepOf(instruction, testOf)), tests }
}

/** Concatenates the programs; equal tests are shared. */
export function joined(programs: readonly Program[]): Program {
  const starts: number[] = []
  const steps: Step[] = []
  const tests: Test[] = []
  const indexOf = new Map<Test, number>()
  for (const [pattern, program] of programs.entries()) {
    const offset = steps.length
    const renumbered = program.tests.map((test) => {
      const known = indexOf.get(test)
      if (known !== undefined) return known
      indexOf.set(test, tests.length)
      return tests.push(test) - 1
    })
    for (const start of program.starts) starts.push(start + offset)
    for (const step of program.steps) steps.push(moved(step, offset, pattern, renumbered))
  }
  return { starts, steps, tests }
}

function moved(step: Step, offset: number, pattern: number, tests: readonly number[]): Step {
  switch (step.type) {
    case 'fork':
      return { type: 'fork', first: step.first + offset, second: step.second + offset }
    case 'jump':
      return { type: 'jump', to: step.to + offset }
    case 'place':
      return { ...step, to: step.to + offset }
    case 'character':
      return { type: 'character', test: tests[step.test] ?? 0, to: step.to + offset }
    case 'match':
      return { type: 'match', pattern }
    case 'fail':
      return step
  }
}

/** Copies of a repeated class share their ranges: they are compared by content once. */
function numbering(tests: Test[]): (instruction: Instruction) => number {
  const byRanges = new Map<Int32Array, number>()
  const byContent = new Map<string, number>()
  return (instruction) => {
    const { op, arg, runes } = instruction
    const known = op <= RUNE1 && (arg & 1) === 0 ? byRanges.get(runes) : undefined
    if (known !== undefined) return known
    const key = op <= RUNE1 ? `${arg & 1}:${runes.join()}` : String(op)
    const index = byContent.get(key) ?? tests.push(testOf(instruction)) - 1
    byContent.set(key, index)
    if (op <= RUNE1 && (arg & 1) === 0) byRanges.set(runes, index)
    return index
  }
}

const RUNE1 = 9
const ANY = 10

function testOf(instruction: Instruction): Test {
  if (instruction.op <= RUNE1) return (codePoint) => instruction.matchRune(codePoint)
  return instruction.op === ANY ? isAny : isNoNewline
}

const isAny: Test = () => true
const isNoNewline: Test = (codePoint) => codePoint !== NEWLINE

function stepOf(instruction: Instruction, testIndex: (instruction: Instruction) => number): Step {
  const { op, out: to, arg } = instruction
  switch (op) {
    case 1:
    case 2:
      return { type: 'fork', first: to, second: arg }
    case 3:
    case 7:
      return { type: 'jump', to }
    case 4:
      return { type: 'place', conditions: arg, to }
    case 5:
      return { type: 'fail' }
    case 6:
      return { type: 'match', pattern: 0 }
    case 8:
    case 9:
    case 10:
    case 11:
      return { type: 'character', test: testIndex(instruction), to }
    default:
      throw new Error(`a pattern was compiled to an unknown instruction: ${op}`)
  }
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
