import { expect, test } from 'bun:test'
import { limited, shortened, weigh } from '../../../src/inference/content-log/limited.ts'

test('a short value is returned unchanged', () => {
  const value = { role: 'user', content: ['a'.repeat(3_000), null, 1, true] }
  expect(limited(value, 4_000)).toBe(value)
})

/** Lengths of texts, and how long each may be in a room of so many characters. */
const rows: [what: string, lengths: number[], most: number, kept: number[]][] = [
  ['the longest is cut first', [9_000, 2_000, 100], 8_000, [5_884, 2_000, 100]],
  ['then those beside it, to one length', [9_000, 8_000, 100], 8_000, [3_942, 3_942, 100]],
  ['what is alike is cut alike', [5_000, 5_000, 5_000], 9_000, [2_994, 2_994, 2_994]],
  ['no text is cut below what a person writes', [9_000, 9_000, 9_000], 200, [1_000]],
]
test.each(rows)('%s', (_, lengths, most, kept) => {
  const value = lengths.map((length) => 'a'.repeat(length))
  const cut = limited(value, most)
  if (!Array.isArray(cut)) throw new Error('a list came')
  const texts = cut.map(String)
  expect(texts.slice(0, kept.length).map((text) => /^a*/.exec(text)?.[0].length)).toEqual(kept)
  for (const [index, length] of kept.entries()) {
    const more = (lengths[index] ?? 0) - length
    expect(texts[index]?.endsWith(`… [truncated in the log: ${more} more characters]`)).toBe(more > 0)
  }
  if (kept.length < lengths.length)
    expect(texts.at(-1)).toBe(`… [truncated in the log: ${lengths.length - kept.length} more entries]`)
})

test('long lists end at the limit', () => {
  const vectors = [Array.from({ length: 1_000 }, () => 0.5), Array.from({ length: 1_000 }, () => 0.25)]
  const cut = JSON.stringify(limited(vectors, 6_000))
  expect(cut).toContain('more entries')
  expect(cut.startsWith('[[0.5,0.5,')).toBe(true)
  expect(weigh(JSON.parse(cut))).toBeLessThan(7_000)
  const messages = Array.from({ length: 1_000 }, (_, index) => ({
    role: 'user',
    content: `message ${index}`,
  }))
  const some = limited(messages, 5_000)
  if (!Array.isArray(some)) throw new Error('a list came')
  expect(some[0]).toEqual(messages[0] ?? Object())
  expect(some.at(-1)).toBe(`… [truncated in the log: ${1_000 - (some.length - 1)} more entries]`)
  expect(JSON.stringify(some).length).toBeLessThan(6_000)
})

test('a truncation in the middle of a character leaves valid text', () => {
  expect(shortened('🌊🌊', 3)).toBe('🌊\ufffd… [truncated in the log: 1 more characters]')
  expect(shortened('🌊', 2)).toBe('🌊')
})
