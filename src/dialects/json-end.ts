import { parseJson } from '../core/json.ts'

/** Tells whether JSON text that comes in pieces is complete, looking at each character once. */
export interface JsonEnd {
  push(piece: string): void
  /** An object or a list ended. A text, a number or a word is complete if it parses. */
  isComplete(): boolean
  /** What came is an object, and it ended. */
  isObject(): boolean
}

/** No argument of another kind than an object or a list is longer. */
const LONGEST_SCALAR = 256

export function createJsonEnd(): JsonEnd {
  /** Pieces that nobody has asked about: most calls never need it. */
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
