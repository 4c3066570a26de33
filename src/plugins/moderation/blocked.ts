import { turnsByLength } from '../../core/turn.ts'

const LONGEST_PHRASE_WORDS = 8
const WORD = /[\p{L}\p{N}]+/gu
const CHARACTERS_OF_A_TURN = 20_000

/** The first entry of the list in one of the texts, by whole words, whatever their case; null: none is there. */
export async function blockedIn(
  texts: readonly string[],
  list: readonly string[],
): Promise<{ reasons: string[]; text: string } | null> {
  const entries = new Map(list.map((entry) => [wordsOf(entry).join(' '), entry]))
  const lengths = [...new Set([...entries.keys()].map((phrase) => phrase.split(' ').length))]
  const endings = new Set([...entries.keys()].map((phrase) => phrase.slice(phrase.lastIndexOf(' ') + 1)))
  const turn = turnsByLength(CHARACTERS_OF_A_TURN)
  for (const text of texts) {
    const last: string[] = []
    for (const piece of piecesOf(text)) {
      for (const [word] of piece.toLowerCase().matchAll(WORD)) {
        last.push(word)
        if (last.length > LONGEST_PHRASE_WORDS) last.shift()
        if (!endings.has(word)) continue
        for (const length of lengths) {
          const entry = length > last.length ? undefined : entries.get(last.slice(-length).join(' '))
          if (entry !== undefined) return { reasons: [entry], text }
        }
      }
      const waiting = turn(piece.length)
      if (waiting) await waiting
    }
  }
  return null
}

const PIECE = 10_000

/** A piece ends before a word that it would cut, unless the word is longer than any entry. */
function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = Math.min(from + PIECE, text.length)
    let next = end
    while (end < text.length && end - next < LONGEST_WORD && LETTER.test(text.charAt(next - 1))) next -= 1
    if (end - next === LONGEST_WORD) next = end
    yield text.slice(from, next)
    from = next
  }
}
const LONGEST_WORD = 200
/** Half of a rare letter is one, too. */
const LETTER = /[\p{L}\p{N}\p{Cs}]/u

const wordsOf = (text: string): string[] =>
  [...text.toLowerCase().matchAll(WORD)].slice(0, LONGEST_PHRASE_WORDS).map(([word]) => word)
