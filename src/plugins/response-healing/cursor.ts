/** What was repaired, as the metadata names it. */
export type Repair =
  | 'byte_order_mark'
  | 'thinking'
  | 'code_fence'
  | 'prose'
  | 'escaped'
  | 'quotes'
  | 'string_escapes'
  | 'unquoted'
  | 'comments'
  | 'commas'
  | 'colons'
  | 'brackets'
  | 'literals'
  | 'numbers'
  | 'ellipsis'
  | 'calls'
  | 'truncated'
  | 'several_values'

/** The text is not JSON that can be repaired; `message` says what is in the way. */
export class Unrepairable extends Error {
  constructor(
    message: string,
    /** Nothing else in the text is worth reading. */
    readonly isFinal = false,
  ) {
    super(message)
  }
}

/** A place in a text, and the JSON that was written of what stands before it. */
export interface Cursor {
  readonly text: string
  at: number
  readonly end: number
  readonly out: string[]
  depth: number
  readonly repairs: Set<Repair>
  /** Characters that may still be read: each is read a few times at most. */
  steps: number
}

/** Readings of one character, on average: what fails is read again from the next bracket. */
const STEPS_PER_CHARACTER = 12
const LEAST_STEPS = 10_000
export const DEEPEST = 200

export const cursorOn = (text: string, at = 0, steps = stepsFor(text)): Cursor => ({
  text,
  at,
  end: text.length,
  out: [],
  depth: 0,
  repairs: new Set(),
  steps,
})

export const stepsFor = ({ length }: string): number => LEAST_STEPS + length * STEPS_PER_CHARACTER

/** Counts work. Throws `Unrepairable` once a text needs more than its length allows. */
export function step(cursor: Cursor, count = 1): void {
  cursor.steps -= count
  if (cursor.steps < 0) throw new Unrepairable('it has too many errors', true)
}

/** The character at the cursor; '' at the end. */
export const charOf = ({ text, at, end }: Cursor): string => (at < end ? text.charAt(at) : '')

export function isBlank(char: string): boolean {
  if (char <= ' ') return char === ' ' || char === '\n' || char === '\r' || char === '\t'
  return char > '\u009f' && OTHER_BLANKS.has(char)
}
/** Blanks of Unicode that JSON does not allow, and characters without width. */
const OTHER_BLANKS: ReadonlySet<string> = new Set(
  '\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff',
)

/** Skips blanks and comments, and writes the blanks. */
export function skipBlanks(cursor: Cursor): void {
  const { text, end } = cursor
  for (;;) {
    const from = cursor.at
    let isPlain = true
    while (cursor.at < end && isBlank(text.charAt(cursor.at))) {
      isPlain &&= text.charAt(cursor.at) <= ' '
      cursor.at += 1
    }
    step(cursor, cursor.at - from + 1)
    if (cursor.at > from) cursor.out.push(isPlain ? text.slice(from, cursor.at) : ' ')
    if (!skipComment(cursor, charOf(cursor))) return
  }
}

function skipComment(cursor: Cursor, char: string): boolean {
  if (char !== '/' && char !== '#') return false
  const { text, at, end } = cursor
  const isBlock = char === '/' && text.charAt(at + 1) === '*'
  if (!isBlock && char !== '#' && !(char === '/' && text.charAt(at + 1) === '/')) return false
  const close = text.indexOf(isBlock ? '*/' : '\n', at + 1)
  const until = close === -1 ? end : isBlock ? close + 2 : close
  step(cursor, until - at)
  cursor.at = until
  cursor.repairs.add('comments')
  return true
}

/** The place of the next character that is not blank, after at most 256 blanks. */
export function afterBlanks(cursor: Cursor, from: number): number {
  const { text, end } = cursor
  let at = from
  while (at < end && at - from < MOST_BLANKS && isBlank(text.charAt(at))) at += 1
  step(cursor, at - from)
  return at
}
const MOST_BLANKS = 256

const CLOSERS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['`', '`´'],
  ['´', '´`'],
  ['“', '”“'],
  ['”', '”'],
  ['„', '“”'],
  ['‘', '’‘'],
  ['’', '’'],
  ['«', '»'],
  ['＂', '＂'],
])
/** The characters that end a string that this one begins; undefined if it begins none. */
export const closersOf = (char: string): string | undefined => CLOSERS.get(char)
