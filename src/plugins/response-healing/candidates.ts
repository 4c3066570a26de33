import { isDeepStrictEqual } from 'node:util'
import {
  type Cursor,
  charOf,
  cursorOn,
  isBlank,
  type Repair,
  skipBlanks,
  stepsFor,
  Unrepairable,
} from './cursor.ts'
import { readValue } from './repair.ts'

/** A value that was found in an answer. */
export interface Candidate {
  /** JSON. */
  readonly json: string
  readonly value: unknown
  readonly repairs: ReadonlySet<Repair>
  /** The characters of the answer that it takes. */
  readonly length: number
}

/** Values that are looked at; a text with more of them is prose with brackets. */
const MOST_VALUES = 2_000

/** Everything in an answer that can be read as JSON, in order. Throws `Unrepairable` if nothing can. */
export function candidatesIn(answer: string): Candidate[] {
  const outer = new Set<Repair>()
  const text = spoken(answer, outer)
  const found = valuesIn(unescaped(text, outer), outer)
  const first = found[0]
  if (first === undefined) throw new Unrepairable(text.trim() === '' ? 'it is empty' : 'it contains no JSON')
  return found.length > 1 ? [...found, ...together(found, text)] : found
}

const THOUGHTS = ['think', 'thinking', 'thought', 'reasoning', 'scratchpad'] as const

/** The answer without a byte order mark and without the thoughts that some models write before it. */
function spoken(answer: string, repairs: Set<Repair>): string {
  let text = answer
  if (/^[\ufeff\u200b]/.test(text)) {
    repairs.add('byte_order_mark')
    text = text.replace(/^[\ufeff\u200b]{1,16}/, '')
  }
  for (const tag of THOUGHTS) {
    const close = text.lastIndexOf(`</${tag}>`)
    if (close === -1 || !/[[{"\d]/.test(text.slice(close, close + 100_000))) continue
    repairs.add('thinking')
    text = text.slice(close + tag.length + 3)
  }
  return text
}

/** JSON whose quotes are all escaped, as the content of a string without its own quotes: `{\"a\": 1}`. */
function unescaped(text: string, repairs: Set<Repair>): string {
  const at = text.search(/[{[]/)
  if (at === -1 || !/^[{[](?:\s|\\n)*\\["n]/.test(text.slice(at, at + 200))) return text
  repairs.add('escaped')
  return text.replace(/\\(["\\/nrt])/g, (_, char: string) =>
    char === 'n' || char === 'r' || char === 't' ? '\n' : char,
  )
}

/** Brackets at which no value begins. */
const MOST_FAILURES = 300

/** Reads a value at each bracket, then goes on behind it. */
function valuesIn(text: string, outer: ReadonlySet<Repair>): Candidate[] {
  const found: Candidate[] = []
  let steps = stepsFor(text)
  let failures = 0
  for (let at = nextStart(text, 0); at < text.length && found.length < MOST_VALUES; ) {
    const cursor = cursorOn(text, at, steps)
    const isRead = readAt(cursor, outer, found)
    steps = cursor.steps
    if (!isRead && ++failures > MOST_FAILURES) throw new Unrepairable('it has too many errors')
    at = nextStart(text, isRead ? Math.max(cursor.at, at + 1) : at + 1)
  }
  if (found.length === 0) readScalar(text, outer, found)
  return found
}

function nextStart(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x7b || code === 0x5b) return at
  }
  return text.length
}

function readAt(cursor: Cursor, outer: ReadonlySet<Repair>, found: Candidate[]): boolean {
  const { at, text } = cursor
  try {
    readValue(cursor, 'root')
    const json = cursor.out.join('')
    const value: unknown = JSON.parse(json)
    const repairs = new Set([...outer, ...cursor.repairs, ...around(text, at, cursor.at)])
    found.push({ json, value, repairs, length: cursor.at - at })
    return true
  } catch (error) {
    if (error instanceof Unrepairable ? error.isFinal : !(error instanceof SyntaxError)) throw error
    return false
  }
}

/** A string that holds JSON, or a lone number or literal. */
function readScalar(text: string, outer: ReadonlySet<Repair>, found: Candidate[]): void {
  const cursor = cursorOn(text.trim())
  skipBlanks(cursor)
  if (!/^["\d-]|^(?:true|false|null|True|False|None)$/.test(text.trim())) return
  if (charOf(cursor) !== '' && readAt(cursor, outer, found) && cursor.at < cursor.end) found.length = 0
}

/** What stands around a value that is not blank. */
function around(text: string, from: number, to: number): Repair[] {
  const before = text.slice(Math.max(0, from - 400), from).trimEnd()
  const after = text.slice(to, to + 400).trimStart()
  const isFenced = /```[\w-]*$|~~~\w*$/.test(before) || /^(?:```|~~~)/.test(after)
  const rest = before.replace(/(?:```|~~~)[\w-]*$/, '').trim() + after.replace(/^(?:```|~~~)/, '').trim()
  return [...(isFenced ? ['code_fence' as const] : []), ...(rest === '' ? [] : ['prose' as const])]
}

/** Values one after the other, with nothing but blanks and commas between them, are a list: lines of JSON. */
function together(found: readonly Candidate[], text: string): Candidate[] {
  let at = nextStart(text, 0)
  for (const { length } of found) {
    if (at >= text.length) return []
    let next = at + length
    while (next < text.length && (isBlank(text.charAt(next)) || text.charAt(next) === ',')) next += 1
    if (
      next < text.length &&
      !'{['.includes(text.charAt(next)) &&
      !/^(?:```|~~~)/.test(text.slice(next, next + 3))
    )
      return []
    at = next
  }
  const values = found.map(({ value }) => value)
  // An answer that is given twice.
  if (values.every((value) => isDeepStrictEqual(value, values[0]))) return []
  const repairs = new Set(found.flatMap((each) => [...each.repairs]))
  repairs.delete('prose')
  repairs.add('several_values')
  return [
    { json: `[${found.map(({ json }) => json).join(',')}]`, value: values, repairs, length: text.length },
  ]
}
