import type { JsonObject } from './events.ts'

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The most levels of JSON that comes from providers or stands in a text: no answer needs more, and what walks deeper
 * values overflows the stack.
 */
export const MAX_TEXT_DEPTH = 128
/**
 * The most strings (names of fields, too), objects and lists of such JSON: a long answer with twenty alternatives
 * for each of its tokens has fewer. Each may take the parser 0.5 µs.
 */
export const MAX_TEXT_PARTS = 400_000

/** Parses JSON text; undefined for text that is none, is nested deeper than 128 levels, or holds too much. */
export function parseJson(text: string): unknown {
  if (isNestedDeeper(text, MAX_TEXT_DEPTH) || hasMoreParts(text, MAX_TEXT_PARTS)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** True when arrays and objects are nested deeper than `limit`. One pass; the insides of strings are skipped. */
export function isNestedDeeper(text: string, limit: number): boolean {
  const end = text.length
  // Too short for so many brackets: most events of a stream.
  if (end <= 2 * limit) return false
  let depth = 0
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++depth > limit) return true
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--
  }
  return false
}

/** True when there are more strings, objects and lists than `limit`. */
export function hasMoreParts(text: string, limit: number): boolean {
  const end = text.length
  if (end <= limit) return false
  let parts = 0
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code !== OPEN_ARRAY && code !== OPEN_OBJECT) continue
    if (++parts > limit) return true
  }
  return false
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
