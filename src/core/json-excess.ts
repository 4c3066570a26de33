/**
 * The most levels of JSON from providers, and of JSON inside texts. No reply needs more, and functions that walk deeper
 * values overflow the stack.
 */
export const MAX_TEXT_DEPTH = 128
/** The most strings (names of fields, too), objects and lists of such JSON: 12,000 tokens with 20 alternatives each. */
const MAX_TEXT_PARTS = 1_600_000
/** From here on it matters whether strings repeat: the parser takes 0.5 µs for each new short one, else a tenth. */
const FEW_TEXT_PARTS = 400_000
const SHORT_STRING = 32
/** Short strings are hashed to this many places; more than `MAX_PLACES_TAKEN` occupied places are too many strings. */
const PLACES = 65_536
const MAX_PLACES_TAKEN = 50_000

/** `\n`, `\"` and the like: the parser takes 10 ns for each. */
export const MAX_TEXT_ESCAPES = 6_000_000

/** What JSON text has too much of to be parsed; null: nothing. */
export type TextExcess = 'depth' | 'parts' | 'escapes'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The exceeded limit, found in one pass that skips the contents of long strings. */
export function excessOf(text: string): TextExcess | null {
  const end = text.length
  // Most events of a stream are too short to exceed a limit.
  if (end <= 2 * MAX_TEXT_DEPTH) return null
  if (end <= FEW_TEXT_PARTS && hasFewBrackets(text)) return null
  if (hasManyEscapes(text)) return 'escapes'
  const taken = end > FEW_TEXT_PARTS ? new Uint8Array(PLACES) : null
  let different = 0
  let parts = 0
  let depth = 0
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const start = at + 1
      at = endOfString(text, at)
      const place = taken === null || at - start > SHORT_STRING ? 0 : placeOf(text, start, at)
      if (taken?.[place] === 0) {
        taken[place] = 1
        different += 1
      }
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++depth > MAX_TEXT_DEPTH) return 'depth'
    } else {
      if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--
      continue
    }
    parts += 1
    if (parts > FEW_TEXT_PARTS && (different > MAX_PLACES_TAKEN || parts > MAX_TEXT_PARTS)) return 'parts'
  }
  return null
}

/** Only texts that are long enough for so many are scanned. */
function hasManyEscapes(text: string): boolean {
  const end = text.length
  if (end <= 2 * MAX_TEXT_ESCAPES) return false
  let count = 0
  for (let at = text.indexOf('\\'); at !== -1; ) {
    count += 1
    at += 2
    const walkEnd = Math.min(end, at + SHORT_STRING)
    while (at < walkEnd && text.charCodeAt(at) !== BACKSLASH) at++
    if (at >= walkEnd) at = text.indexOf('\\', at)
  }
  return count > MAX_TEXT_ESCAPES
}

/** True if the text has too few opening brackets, those in strings included, to be nested too deep. */
function hasFewBrackets(text: string): boolean {
  let count = 0
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++count > MAX_TEXT_DEPTH) return false
    }
  }
  return true
}

function placeOf(text: string, start: number, end: number): number {
  let hash = 0
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0
  return (hash ^ (hash >>> 16)) & (PLACES - 1)
}

/** The place of the quote that ends the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let first = at
    while (text.charCodeAt(first - 1) === BACKSLASH) first--
    if ((at - first) % 2 === 0) return at
  }
  return text.length
}
