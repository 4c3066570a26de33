import { asText, parseJson } from '../core/json.ts'

/**
 * A JSON string without these characters equals its text. The regex searches instead of matching from end to end: the
 * engine skips through a long text eight times as fast.
 */
const NOT_PLAIN = /["\\\u0000-\u001f]/
const STRING_END = /["\\]/g

/** Decodes the inside of a JSON string; undefined if it is not one. */
export function readJsonString(json: string): string | undefined {
  if (!NOT_PLAIN.test(json)) return json
  try {
    const value: unknown = JSON.parse(`"${json}"`)
    return asText(value)
  } catch {
    return undefined
  }
}

/** The place of the quote that ends the JSON string whose inside begins at `from`; -1: none does. */
export function endOfString(text: string, from: number): number {
  STRING_END.lastIndex = from
  for (let match = STRING_END.exec(text); match; match = STRING_END.exec(text)) {
    if (match[0] === '"') return match.index
    STRING_END.lastIndex = match.index + 2
  }
  return -1
}

/** Llama at Groq and Cohere's models write `null` if a function has no parameters (recorded 2025-26). */
export const isNull = (json: string): boolean => json.trim() === 'null'

/** Complete arguments of a call without any. */
export const isNoArguments = (json: string): boolean => json.trim() === '' || isNull(json)

/** Detects the end of JSON text that arrives in pieces, reading each character once. */
export interface JsonEnd {
  push(piece: string): void
  /** An object or a list ended. A text, a number or a word is complete if it parses. */
  isComplete(): boolean
  /** The text is a complete object. */
  isObject(): boolean
}

/** No argument of another kind than an object or a list is longer. */
const LONGEST_SCALAR = 256

export function createJsonEnd(): JsonEnd {
  /** Pieces that are not scanned yet: most calls never need it. */
  let unseen: string[] = []
  let first = ''
  let scalar = ''
  let depth = 0
  let isInText = false
  let isEscaped = false

  function see(character: string): void {
    if (first === '' && character.trim() !== '') first = character
    if (isEscaped) isEscaped = false
    else if (isInText && character === '\\') isEscaped = true
    else if (character === '"') isInText = !isInText
    else if (isInText) return
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
  }

  function seeAll(): void {
    const pieces = unseen
    unseen = []
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; at++) see(piece.charAt(at))
      if (scalar.length <= LONGEST_SCALAR) scalar += piece
    }
  }

  const isEnded = (): boolean => depth <= 0 && !isInText

  return {
    push(piece) {
      unseen.push(piece)
    },
    isComplete() {
      seeAll()
      if (first === '{' || first === '[') return isEnded()
      return scalar.length <= LONGEST_SCALAR && parseJson(scalar) !== undefined
    },
    isObject() {
      seeAll()
      return first === '{' && isEnded()
    },
  }
}

/** These end a line for some SSE clients, though JSON may carry the last three bare: always escaped. */
const LINE_ENDS = /[\n\r\u0085\u2028\u2029]/
const BARE_LINE_ENDS = /[\u0085\u2028\u2029]/g
const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** JSON text for a `data:` line. Text can never end an event: JSON escapes CR and LF, and the rest is escaped here. */
export const oneLine = (json: string): string =>
  LINE_ENDS.test(json) ? json.replace(BARE_LINE_ENDS, escapeUnit) : json

/** True if upstream's JSON text of a string can be copied into a `data:` line unchanged. */
export const mayBeSpliced = (json: string): boolean => !LINE_ENDS.test(json)
