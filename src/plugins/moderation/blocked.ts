import { turnsByLength } from '../../core/turn.ts'

const LONGEST_PHRASE_WORDS = 8
const WORD = /[\p{L}\p{N}]+/gu
const CHARACTERS_OF_A_TURN = 200_000

/** The first entry of the list in one of the texts, by whole words, whatever their case; null: none is there. */
export async function blockedIn(
  texts: readonly string[],
  list: readonly string[],
): Promise<{ reasons: string[]; text: string } | null> {
  const entries = new Map(list.map((entry) => [wordsOf(entry).join(' '), entry]))
  const lengths = [...new Set([...entries.keys()].map((phrase) => phrase.split(' ').length))]
  const turn = turnsByLength(CHARACTERS_OF_A_TURN)
  for (const text of texts) {
    const last: string[] = []
    for (const [word] of text.toLowerCase().matchAll(WORD)) {
      last.push(word)
      if (last.length > LONGEST_PHRASE_WORDS) last.shift()
      for (const length of lengths) {
        const entry = length > last.length ? undefined : entries.get(last.slice(-length).join(' '))
        if (entry !== undefined) return { reasons: [entry], text }
      }
      const waiting = turn(word.length + 1)
      if (waiting) await waiting
    }
  }
  return null
}

const wordsOf = (text: string): string[] =>
  [...text.toLowerCase().matchAll(WORD)].slice(0, LONGEST_PHRASE_WORDS).map(([word]) => word)
