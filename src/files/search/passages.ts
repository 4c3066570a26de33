/** How texts become what the index finds. All linear. */

/** Characters of a passage, and of its end that the next one repeats. */
const LENGTH = 1_600
const OVERLAP = 200
/** A passage ends at a paragraph, a line, a sentence or a word, in this order, in the last third of its length. */
const ENDS = ['\n\n', '\n', '. ', ' ']

export function passagesOf(text: string): string[] {
  const passages: string[] = []
  let start = 0
  while (start < text.length) {
    const end = endOf(text, start)
    const passage = text.slice(start, end).trim()
    if (passage !== '') passages.push(passage)
    if (end === text.length) break
    start = Math.max(start + 1, end - OVERLAP)
  }
  return passages
}

function endOf(text: string, start: number): number {
  const last = start + LENGTH
  if (last >= text.length) return text.length
  const earliest = start + Math.floor((LENGTH * 2) / 3)
  const window = text.slice(earliest, last)
  for (const end of ENDS) {
    const at = window.lastIndexOf(end)
    if (at >= 0) return earliest + at + end.length
  }
  // Never within a pair of surrogates.
  const code = text.charCodeAt(last - 1)
  return code >= 0xd800 && code <= 0xdbff ? last - 1 : last
}

/** Scripts that have no spaces between words: each of their characters is a word of the index. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu

/** A text as the index gets it. */
export const wordsOf = (text: string): string => text.replace(WITHOUT_SPACES, ' $& ')

const MOST_WORDS = 64
const LONGEST_WORD = 64

/**
 * A query as an expression of FTS5: any of its words. Characters of scripts without spaces count in pairs. Null: it has no
 * word.
 */
export function matchOf(query: string): string | null {
  const runs = wordsOf(query)
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '')
  const terms = new Set<string>()
  for (const [at, word] of runs.entries()) {
    if (terms.size === MOST_WORDS) break
    const next = runs[at + 1]
    const isPair = isSingle(word) && next !== undefined && isSingle(next)
    if (isPair) terms.add(`"${word} ${next}"`)
    else if (!isSingle(word) || !isSingle(runs[at - 1] ?? '')) terms.add(`"${word.slice(0, LONGEST_WORD)}"`)
  }
  return terms.size === 0 ? null : [...terms].join(' OR ')
}

const isSingle = (word: string): boolean => wordsOf(word) !== word
