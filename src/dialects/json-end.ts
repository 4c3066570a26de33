/** Tells whether JSON text that comes in pieces is complete, looking at each character once. */
export interface JsonEnd {
  /** `json` is all that came so far: what was there before, and more. */
  isComplete(json: string): boolean
}

/** A text, a number or a word is parsed each time, unless it is longer than any argument of that kind. */
const LONGEST_SCALAR = 256

export function createJsonEnd(): JsonEnd {
  let seen = 0
  let depth = 0
  let isInText = false
  let isEscaped = false

  function see(character: string): void {
    if (isEscaped) isEscaped = false
    else if (isInText && character === '\\') isEscaped = true
    else if (character === '"') isInText = !isInText
    else if (isInText) return
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
  }

  return {
    isComplete(json) {
      if (!/^\s*[[{]/.test(json)) return json.length <= LONGEST_SCALAR && parses(json)
      for (; seen < json.length; seen++) see(json.charAt(seen))
      return depth <= 0 && !isInText
    },
  }
}

function parses(json: string): boolean {
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}
