import { type Cursor, charOf, closersOf, DEEPEST, isBlank, skipBlanks, step, Unrepairable } from './cursor.ts'
import { calledName, readBare, skipEllipsis } from './scalars.ts'
import { isKeyAt, type Place, readString } from './strings.ts'

/**
 * Reads the JSON value at the cursor as a person would, and writes it as JSON. Nothing is invented: what the end of the
 * text has cut off is left out, except the brackets that are still open. Throws `Unrepairable`.
 */
export function readValue(cursor: Cursor, place: Place): void {
  step(cursor)
  const char = charOf(cursor)
  if (char === '{') nested(cursor, readObject)
  else if (char === '[' || char === '(') {
    if (char === '(') cursor.repairs.add('brackets')
    nested(cursor, readArray)
  } else if (closersOf(char) !== undefined) readStrings(cursor, place)
  else {
    const name = calledName(cursor)
    if (name === '') readBare(cursor, place)
    else readCall(cursor, name)
  }
}

function nested(cursor: Cursor, read: (cursor: Cursor) => void): void {
  cursor.depth += 1
  if (cursor.depth > DEEPEST) throw new Unrepairable(`it is nested deeper than ${DEEPEST} levels`, true)
  read(cursor)
  cursor.depth -= 1
}

/** A string, and those that `+` appends to it. */
function readStrings(cursor: Cursor, place: Place): void {
  const { out } = cursor
  readString(cursor, place)
  for (;;) {
    const { at } = cursor
    const written = out.length
    skipBlanks(cursor)
    if (charOf(cursor) !== '+') {
      cursor.at = at
      out.length = written
      return
    }
    cursor.at += 1
    skipBlanks(cursor)
    out.length = written
    if (closersOf(charOf(cursor)) === undefined) return
    readString(cursor, place)
    const more = out.pop() ?? '""'
    out.push(`${(out.pop() ?? '""').slice(0, -1)}${more.slice(1)}`)
    cursor.repairs.add('calls')
  }
}

/** `ObjectId("…")`, `datetime(…)`: the first argument is the value. */
function readCall(cursor: Cursor, name: string): void {
  cursor.at += name.length + 1
  cursor.repairs.add('calls')
  skipBlanks(cursor)
  if (charOf(cursor) === ')') cursor.out.push('null')
  else nested(cursor, readArgument)
  skipBlanks(cursor)
  while (charOf(cursor) !== ')' && charOf(cursor) !== '') {
    if (',}]\n'.includes(charOf(cursor))) return
    step(cursor)
    cursor.at += 1
  }
  cursor.at += 1
}

/** Writes the bracket that ends a list, instead of what follows its last entry. */
function close({ out }: Cursor, bracket: string, sound: number): void {
  const [blanks = '', ...more] = out.splice(sound)
  out.push(more.length === 0 && blanks.trim() === '' ? blanks : '', bracket)
}

const readArgument = (cursor: Cursor): void => readValue(cursor, 'call')

const SEPARATORS = ',;'

/** Skips commas. True if there was at least one. */
function skipCommas(cursor: Cursor): boolean {
  let count = 0
  for (;;) {
    skipBlanks(cursor)
    const char = charOf(cursor)
    if (char === '' || !SEPARATORS.includes(char)) break
    if (char === ';') cursor.repairs.add('commas')
    cursor.at += 1
    count += 1
  }
  if (count > 1) cursor.repairs.add('commas')
  return count > 0
}

/** The separator before the next entry: the caller's own comma, or the one that is missing. */
function separate(cursor: Cursor, isFirst: boolean, hasComma: boolean, sound: number): void {
  if (isFirst) {
    if (hasComma) cursor.repairs.add('commas')
    return
  }
  if (!hasComma) cursor.repairs.add('commas')
  cursor.out.splice(sound, 0, ',')
}

function readArray(cursor: Cursor): void {
  const closer = charOf(cursor) === '(' ? ')' : ']'
  cursor.at += 1
  cursor.out.push('[')
  let sound = cursor.out.length
  for (let count = 0; ; ) {
    const hasComma = skipCommas(cursor)
    const char = charOf(cursor)
    if (char === closer || char === ']') {
      cursor.at += 1
      if (hasComma) cursor.repairs.add('commas')
      break
    }
    if (char === '' || char === '}' || (char === ')' && closer === ')')) {
      if (char !== ')') cursor.repairs.add(char === '' ? 'truncated' : 'brackets')
      break
    }
    if (skipEllipsis(cursor)) continue
    // A key in a list: the bracket before it is missing.
    if (count > 0 && closersOf(char) !== undefined && cursor.depth > 1 && isMember(cursor)) {
      cursor.repairs.add('brackets')
      break
    }
    separate(cursor, count === 0, hasComma, sound)
    const before = cursor.at
    readValue(cursor, closer === ')' ? 'call' : 'array')
    if (cursor.at === before)
      throw new Unrepairable(`${JSON.stringify(char)} stands where a value was expected`)
    count += 1
    sound = cursor.out.length
  }
  close(cursor, ']', sound)
}

/** A quoted text with a colon behind it. */
const isMember = (cursor: Cursor): boolean => {
  const { text, at, end } = cursor
  return isKeyAt(cursor, at) && text.slice(at, Math.min(end, at + 200)).includes(':')
}

function readObject(cursor: Cursor): void {
  cursor.at += 1
  cursor.out.push('{')
  let sound = cursor.out.length
  for (let count = 0; ; ) {
    const hasComma = skipCommas(cursor)
    const char = charOf(cursor)
    if (char === '}') {
      cursor.at += 1
      if (hasComma) cursor.repairs.add('commas')
      break
    }
    if (char === '' || char === ']') {
      cursor.repairs.add(char === '' ? 'truncated' : 'brackets')
      break
    }
    // The next object of a list: the bracket of this one is missing.
    if (char === '{' && count > 0) {
      cursor.repairs.add('brackets')
      break
    }
    if (skipEllipsis(cursor)) continue
    separate(cursor, count === 0, hasComma, sound)
    if (!readMember(cursor)) break
    count += 1
    sound = cursor.out.length
  }
  close(cursor, '}', sound)
}

/** False if the text ends before the value: the key is left out. */
function readMember(cursor: Cursor): boolean {
  const isQuoted = closersOf(charOf(cursor)) !== undefined
  readKey(cursor)
  skipBlanks(cursor)
  const char = charOf(cursor)
  if (char === ':' || char === '=') {
    cursor.at += char === '=' && cursor.text.charAt(cursor.at + 1) === '>' ? 2 : 1
    if (char === '=') cursor.repairs.add('colons')
  } else if (char !== '') {
    if (!isQuoted || ',}]'.includes(char)) {
      throw new Unrepairable(`a colon was expected before ${JSON.stringify(char)}`)
    }
    cursor.repairs.add('colons')
  }
  cursor.out.push(':')
  skipBlanks(cursor)
  const first = charOf(cursor)
  if (first === '') {
    cursor.repairs.add('truncated')
    return false
  }
  if (',}]'.includes(first)) {
    cursor.repairs.add('literals')
    cursor.out.push('null')
    return true
  }
  readValue(cursor, 'object')
  return true
}

function readKey(cursor: Cursor): void {
  const char = charOf(cursor)
  if (closersOf(char) !== undefined) {
    readString(cursor, 'key')
    return
  }
  const from = cursor.at
  const { text, end } = cursor
  let at = from
  while (
    at < end &&
    !isBlank(text.charAt(at)) &&
    !':,{}[]="\'='.includes(text.charAt(at)) &&
    at - from < LONGEST_BARE_KEY
  )
    at += 1
  step(cursor, at - from)
  const key = text.slice(from, at)
  if (!/^[\p{L}\p{N}_$@.-]+$/u.test(key))
    throw new Unrepairable(`${JSON.stringify(char)} stands where a key was expected`)
  cursor.at = at
  cursor.repairs.add('unquoted')
  cursor.out.push(JSON.stringify(key))
}
const LONGEST_BARE_KEY = 200
