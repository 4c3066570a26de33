import { afterBlanks, type Cursor, charOf, closersOf, step } from './cursor.ts'

/** Where a string stands: what may follow its end depends on it. */
export type Place = 'key' | 'object' | 'array' | 'call' | 'root'

/** A key that follows is looked for in this many characters. */
const LONGEST_KEY = 120

/**
 * Reads a string, whatever its quotes, and writes it as JSON. Unescaped quotes inside it belong to it, unless
 * what follows can only follow a string. The end of the text ends it, too.
 */
export function readString(cursor: Cursor, place: Place): void {
  const quote = charOf(cursor)
  const closers = closersOf(quote) ?? quote
  if (quote !== '"') cursor.repairs.add('quotes')
  cursor.at += 1
  let written = ''
  let from = cursor.at
  const { text, end } = cursor
  const take = (more: string, length: number): void => {
    written += text.slice(from, cursor.at) + more
    cursor.at += length
    from = cursor.at
  }
  for (;;) {
    step(cursor)
    if (cursor.at >= end) {
      cursor.repairs.add('truncated')
      break
    }
    const code = text.charCodeAt(cursor.at)
    const char = text.charAt(cursor.at)
    if (char === '\\') {
      const [json, length] = escapeAt(cursor)
      take(json, length)
    } else if (closers.includes(char)) {
      if (isClosed(cursor, cursor.at + 1, place, char)) break
      take(char === '"' ? '\\"' : char, 1)
      cursor.repairs.add('string_escapes')
    } else if (char === '"') take('\\"', 1)
    else if (code < 0x20) {
      if (char === '\n' && place === 'object' && isKeyAt(cursor, afterBlanks(cursor, cursor.at))) {
        closeEarly(cursor, written + text.slice(from, cursor.at))
        return
      }
      take(controls[char] ?? `\\u${code.toString(16).padStart(4, '0')}`, 1)
      cursor.repairs.add('string_escapes')
    } else cursor.at += 1
  }
  cursor.out.push(`"${written}${text.slice(from, cursor.at)}"`)
  cursor.at = Math.min(end, cursor.at + 1)
}

/** A line ends, and the next one begins with a key: the quote at the end of the line is missing. */
function closeEarly(cursor: Cursor, written: string): void {
  const kept = written.trimEnd().replace(/,$/, '')
  cursor.out.push(`"${kept.endsWith('\\') ? kept.slice(0, -1) : kept}"`)
  cursor.repairs.add('quotes')
}

const controls: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
}

/** The escape at the cursor as JSON has it, and the characters that it takes. */
function escapeAt(cursor: Cursor): [escape: string, length: number] {
  const { text, at, end } = cursor
  const next = at + 1 < end ? text.charAt(at + 1) : ''
  if (next !== '' && '"\\/bfnrt'.includes(next)) return [`\\${next}`, 2]
  if (next === 'u') {
    const digits = text.slice(at + 2, Math.min(end, at + 6))
    if (/^[0-9a-fA-F]{4}$/.test(digits)) return [`\\u${digits}`, 6]
    cursor.repairs.add('string_escapes')
    // The text ends inside the escape.
    if (at + 2 + digits.length >= end) return ['', end - at]
    return ['\\\\', 1]
  }
  cursor.repairs.add('string_escapes')
  if (next === 'x' && /^[0-9a-fA-F]{2}$/.test(text.slice(at + 2, at + 4))) {
    return [`\\u00${text.slice(at + 2, at + 4)}`, 4]
  }
  if (next === '') return ['', 1]
  if (next === '\n') return ['\\n', 2]
  // An escaped quote of another kind is that quote; any other backslash is one.
  return closersOf(next) === undefined ? ['\\\\', 1] : [next, 2]
}

/** True if a quote ends its string, judged by what follows. */
function isClosed(cursor: Cursor, from: number, place: Place, quote: string): boolean {
  const { text, end } = cursor
  const next = afterBlanks(cursor, from)
  if (next >= end) return true
  const char = text.charAt(next)
  const hasBlank = next > from
  if (place === 'key') return char === ':' || char === '=' || (hasBlank && isValueStart(char))
  if (place === 'root') return true
  if (char === '}' || char === ']' || (char === ')' && place === 'call')) return true
  if (char === '+' && closersOf(text.charAt(afterBlanks(cursor, next + 1))) !== undefined) return true
  if (char === '/' && '/*'.includes(text.charAt(next + 1))) return true
  if (char === '#') return hasBlank
  if (char === ',' || char === ';')
    return place !== 'object' ? isElementAt(cursor, next + 1) : isMemberAt(cursor, next + 1)
  if (place === 'object') return isKeyAt(cursor, next)
  return (
    hasBlank && closersOf(char) !== undefined && (char === quote || text.slice(from, next).includes('\n'))
  )
}

const isValueStart = (char: string): boolean => /["'“‘{[\d\-tfnTFN]/.test(char)

/** What follows a comma can be an element. */
function isElementAt(cursor: Cursor, from: number): boolean {
  const { text, end } = cursor
  const at = afterBlanks(cursor, from)
  if (at >= end) return true
  const char = text.charAt(at)
  if (/["'“‘`{[\d\-\],}/#.…(]/.test(char)) return true
  return (
    /^(?:true|false|null|None|True|False|undefined|NaN)\b/.test(text.slice(at, at + 12)) ||
    text.slice(from, at).includes('\n')
  )
}

/** What follows a comma can be a key, or the end. */
function isMemberAt(cursor: Cursor, from: number): boolean {
  const { text, end } = cursor
  const at = afterBlanks(cursor, from)
  if (at >= end || '},]/#.…'.includes(text.charAt(at))) return true
  return isKeyAt(cursor, at)
}

/** A key and its colon begin here. At the end of the text the colon may be missing. */
export function isKeyAt(cursor: Cursor, at: number): boolean {
  const { text, end } = cursor
  const closers = closersOf(text.charAt(at))
  step(cursor, 8)
  const most = Math.min(end, at + LONGEST_KEY)
  let place = at + 1
  if (closers === undefined) {
    if (!/[\p{L}_$]/u.test(text.charAt(at))) return false
    while (place < most && /[\p{L}\p{N}_$-]/u.test(text.charAt(place))) place += 1
    const after = afterBlanks(cursor, place)
    return text.charAt(after) === ':' && text.slice(after, after + 3) !== '://'
  }
  while (place < most && !closers.includes(text.charAt(place)) && text.charAt(place) !== '\n') {
    place += text.charAt(place) === '\\' ? 2 : 1
  }
  step(cursor, place - at)
  if (place >= end) return true
  if (!closers.includes(text.charAt(place))) return false
  const after = afterBlanks(cursor, place + 1)
  return after >= end || text.charAt(after) === ':' || text.charAt(after) === '='
}
