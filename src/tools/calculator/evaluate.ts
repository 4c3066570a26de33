/**
 * Evaluates an arithmetic expression: `+ - * / % ^`, brackets, `pi`, `e`, and functions. One pass over the text; length
 * and depth are bounded. Throws an `Error` that says what is wrong and where.
 */
export function evaluate(text: string): number {
  if (text.length > MOST_CHARACTERS)
    throw new Error(`the expression has ${text.length} characters; at most ${MOST_CHARACTERS} are allowed`)
  const reader: Reader = { text, at: 0, depth: 0 }
  const value = sum(reader)
  skipSpace(reader)
  if (reader.at < text.length) throw unexpected(reader)
  if (!Number.isFinite(value)) throw new Error('the result is not a finite number')
  return value
}

const MOST_CHARACTERS = 2_000
const MOST_DEPTH = 100

interface Reader {
  readonly text: string
  at: number
  depth: number
}

const unexpected = ({ text, at }: Reader): Error =>
  new Error(
    at < text.length ? `unexpected "${text[at]}" at character ${at + 1}` : 'the expression ends too early',
  )

function skipSpace(reader: Reader): void {
  while (reader.text[reader.at] === ' ') reader.at += 1
}

/** Takes the first of the symbols that comes next. */
function taken(reader: Reader, ...symbols: readonly string[]): string | null {
  skipSpace(reader)
  const found = symbols.find((symbol) => reader.text.startsWith(symbol, reader.at))
  if (found === undefined) return null
  reader.at += found.length
  return found
}

function sum(reader: Reader): number {
  let value = product(reader)
  for (let symbol = taken(reader, '+', '-'); symbol !== null; symbol = taken(reader, '+', '-')) {
    const next = product(reader)
    value = symbol === '+' ? value + next : value - next
  }
  return value
}

function product(reader: Reader): number {
  let value = signed(reader)
  for (;;) {
    // Two stars are a power.
    const symbol = reader.text.startsWith('**', reader.at) ? null : taken(reader, '*', '/', '%')
    if (symbol === null) return value
    const next = signed(reader)
    if (symbol !== '*' && next === 0) throw new Error('division by zero')
    value = symbol === '*' ? value * next : symbol === '/' ? value / next : value % next
  }
}

function signed(reader: Reader): number {
  let sign = 1
  for (let symbol = taken(reader, '+', '-'); symbol !== null; symbol = taken(reader, '+', '-'))
    if (symbol === '-') sign = -sign
  return sign * power(reader)
}

/** Powers group from the right, and bind closer than a sign before them. */
function power(reader: Reader): number {
  const base = atom(reader)
  if (taken(reader, '^', '**') === null) return base
  return base ** nested(reader, signed)
}

function nested(reader: Reader, read: (reader: Reader) => number): number {
  reader.depth += 1
  if (reader.depth > MOST_DEPTH) throw new Error(`more than ${MOST_DEPTH} levels of brackets or powers`)
  const value = read(reader)
  reader.depth -= 1
  return value
}

const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const NAME = /[a-z][a-z0-9]*/y

function matched(pattern: RegExp, reader: Reader): string | null {
  skipSpace(reader)
  pattern.lastIndex = reader.at
  const found = pattern.exec(reader.text)?.[0] ?? null
  if (found !== null) reader.at += found.length
  return found
}

function atom(reader: Reader): number {
  const number = matched(NUMBER, reader)
  if (number !== null) return Number(number)
  if (taken(reader, '(') !== null) return closed(reader, nested(reader, sum))
  const name = matched(NAME, reader)
  if (name === null) throw unexpected(reader)
  const constant = CONSTANTS.get(name)
  if (constant !== undefined) return constant
  const call = FUNCTIONS.get(name)
  if (call === undefined) throw new Error(`"${name}" is not known. Known are ${KNOWN}`)
  if (taken(reader, '(') === null) throw new Error(`"${name}" needs its arguments in brackets`)
  const values = [nested(reader, sum)]
  while (taken(reader, ',') !== null) values.push(nested(reader, sum))
  return call(...closed(reader, values))
}

function closed<Value>(reader: Reader, value: Value): Value {
  if (taken(reader, ')') === null) throw unexpected(reader)
  return value
}

const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
])

const FUNCTIONS: ReadonlyMap<string, (...values: number[]) => number> = new Map([
  ['sqrt', Math.sqrt],
  ['cbrt', Math.cbrt],
  ['abs', Math.abs],
  ['sin', Math.sin],
  ['cos', Math.cos],
  ['tan', Math.tan],
  ['asin', Math.asin],
  ['acos', Math.acos],
  ['atan', Math.atan],
  ['exp', Math.exp],
  ['ln', Math.log],
  ['log', Math.log10],
  ['log2', Math.log2],
  ['floor', Math.floor],
  ['ceil', Math.ceil],
  ['round', Math.round],
  ['min', Math.min],
  ['max', Math.max],
])

const KNOWN = [...CONSTANTS.keys(), ...FUNCTIONS.keys()].join(', ')
