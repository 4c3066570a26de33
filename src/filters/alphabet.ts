/** Classes of characters for `^`, `$` and `\b`. */
export const LINE_END = 1
export const WORD = 2

export interface CharacterClass {
  readonly index: number
  /** `LINE_END` and `WORD`. */
  readonly kind: number
  /** By index of the test: 1 if it holds. */
  readonly holds: Uint8Array
}

/** Characters that no test distinguishes form one class. A class is computed at the first use of a character and cached. */
export interface Alphabet {
  classOf(codePoint: number): CharacterClass
}

const PAGE = 256

export const kindOf = (codePoint: number): number => {
  if (codePoint === 10) return LINE_END
  const isWord =
    (codePoint >= 97 && codePoint <= 122) ||
    (codePoint >= 48 && codePoint <= 57) ||
    (codePoint >= 65 && codePoint <= 90) ||
    codePoint === 95
  return isWord ? WORD : 0
}

/** `onNew` is called for each character that must be tested. */
export function createAlphabet(
  tests: readonly ((codePoint: number) => boolean)[],
  onNew: () => void,
): Alphabet {
  const pages: (CharacterClass | undefined)[][] = []
  const known = new Map<string, CharacterClass>()

  function classify(codePoint: number, page: (CharacterClass | undefined)[]): CharacterClass {
    onNew()
    const holds = Uint8Array.from(tests, (test) => (test(codePoint) ? 1 : 0))
    const kind = kindOf(codePoint)
    const key = `${kind}:${holds.join('')}`
    let found = known.get(key)
    if (found === undefined) {
      found = { index: known.size, kind, holds }
      known.set(key, found)
    }
    page[codePoint % PAGE] = found
    return found
  }

  return {
    classOf(codePoint) {
      let page = pages[codePoint >> 8]
      if (page === undefined) {
        page = new Array<CharacterClass | undefined>(PAGE)
        pages[codePoint >> 8] = page
      }
      return page[codePoint & 0xff] ?? classify(codePoint, page)
    },
  }
}
