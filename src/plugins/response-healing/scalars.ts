import { type Cursor, charOf, closersOf, isBlank, type Repair, step } from './cursor.ts'
import type { Place } from './strings.ts'

const LITERALS: Readonly<Record<string, string>> = {
  true: 'true',
  false: 'false',
  null: 'null',
  True: 'true',
  False: 'false',
  None: 'null',
  TRUE: 'true',
  FALSE: 'false',
  NULL: 'null',
  Null: 'null',
  nil: 'null',
  undefined: 'null',
  NaN: 'null',
  nan: 'null',
  Infinity: 'null',
  '-Infinity': 'null',
  '+Infinity': 'null',
}
const CUT_OFF = ['true', 'false', 'null', 'True', 'False', 'None']

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** Longer words are texts. */
const LONGEST_NUMBER = 400

/** Reads what has no quotes: a number, a literal, or words up to the next comma, bracket or line. */
export function readBare(cursor: Cursor, place: Place): void {
  const word = bareWord(cursor, place === 'call' ? ',)]}\n;' : ',}]{[\n\r;')
  const written = literal(cursor, word) ?? number(cursor, word)
  if (written !== null) {
    cursor.out.push(written)
    return
  }
  cursor.repairs.add('unquoted')
  cursor.out.push(JSON.stringify(word))
}

/** The words at the cursor, without the blanks behind them. `://` of an address is not a comment. */
function bareWord(cursor: Cursor, ends: string): string {
  const { text, at: from, end } = cursor
  let at = from
  while (at < end) {
    const char = text.charAt(at)
    if (ends.includes(char)) break
    if (
      isBlank(char) &&
      (/^\s*(?:\/[/*]|#)/.test(text.slice(at, at + 8)) || closersOf(text.charAt(at + 1)) === '"')
    )
      break
    at += 1
  }
  step(cursor, at - from)
  cursor.at = at
  const word = text.slice(from, at)
  const trimmed = word.trimEnd()
  cursor.at -= word.length - trimmed.length
  // The quote at the beginning is missing.
  return trimmed.endsWith('"') ? trimmed.slice(0, -1) : trimmed
}

function literal(cursor: Cursor, word: string): string | null {
  if (Object.hasOwn(LITERALS, word)) {
    const written = LITERALS[word] ?? 'null'
    if (written !== word) cursor.repairs.add('literals')
    return written
  }
  if (cursor.at < cursor.end || word === '') return null
  const whole = CUT_OFF.find((each) => each.startsWith(word))
  return whole === undefined ? null : repaired(cursor, 'truncated', LITERALS[whole] ?? 'null')
}

function number(cursor: Cursor, word: string): string | null {
  if (word.length > LONGEST_NUMBER) return null
  if (NUMBER.test(word)) return word
  if (/^0[xX][0-9a-fA-F]{1,13}$/.test(word))
    return repaired(cursor, 'numbers', String(Number.parseInt(word, 16)))
  // The number is cut off.
  if (cursor.at >= cursor.end && /^-?(?:\d+(?:\.\d*)?)?(?:[eE][+-]?)?$/.test(word)) {
    const begun = word.replace(/(?:\.|\.?[eE][+-]?)$/, '')
    if (NUMBER.test(begun)) return repaired(cursor, 'truncated', begun)
  }
  const digits = word.replace(/^\+/, '').replaceAll('_', '')
  const padded = digits
    .replace(/^(-?)\./, '$10.')
    .replace(/\.$/, '')
    .replace(/\.(?=[eE])/, '')
  return NUMBER.test(padded) && /\d/.test(word) ? repaired(cursor, 'numbers', padded) : null
}

function repaired(cursor: Cursor, kind: Repair, written: string): string {
  cursor.repairs.add(kind)
  return written
}

/** A word that could be a function's name, as in `ObjectId("…")` or `Decimal('1.5')`; '' if no bracket follows. */
export function calledName(cursor: Cursor): string {
  const name = /^[A-Za-z_$][\w$.]{0,40}(?=\()/.exec(cursor.text.slice(cursor.at, cursor.at + 42))
  return name?.[0] ?? ''
}

/** Skips an ellipsis of a shortened list. */
export function skipEllipsis(cursor: Cursor): boolean {
  const char = charOf(cursor)
  const length = char === '…' ? 1 : cursor.text.startsWith('...', cursor.at) ? 3 : 0
  cursor.at += length
  if (length > 0) cursor.repairs.add('ellipsis')
  return length > 0
}
