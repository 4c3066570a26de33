import { expect, test } from 'bun:test'
import { matchOf, passagesOf, wordsOf } from '../../../src/files/search/passages.ts'

test('passages are short, end at sentences, overlap, and have every word of the text', () => {
  const sentences = Array.from({ length: 500 }, (_, i) => `Sentence number ${i} says something.`)
  const passages = passagesOf(sentences.join(' '))
  for (const sentence of sentences) expect(passages.some((passage) => passage.includes(sentence))).toBe(true)
  for (const passage of passages) {
    expect(passage.length).toBeLessThanOrEqual(1_600)
    expect(passage).toEndWith('.')
  }
})

test('a text without ends is cut anywhere, but within no character', () => {
  const text = '🐟'.repeat(5_000)
  const passages = passagesOf(text)
  expect(passages.length).toBeGreaterThan(5)
  for (const passage of passages) expect(passage.isWellFormed()).toBe(true)
  expect(passagesOf('')).toEqual([])
  expect(passagesOf(' \n ')).toEqual([])
})

test('a query is any of its words, and never an operator', () => {
  expect(matchOf('who feeds "fish" AND (birds)*')).toBe('"who" OR "feeds" OR "fish" OR "AND" OR "birds"')
  expect(matchOf('?! …')).toBeNull()
  expect(matchOf('x'.repeat(1_000))?.length).toBe(66)
  expect(matchOf(Array.from({ length: 500 }, (_, i) => `w${i}`).join(' '))?.split(' OR ')).toHaveLength(64)
})

test('characters of scripts without spaces are words of the index, and pairs of a query', () => {
  expect(wordsOf('价 a価')).toBe(' 价  a 価 ')
  expect(matchOf('面包价')).toBe('"面 包" OR "包 价"')
  expect(matchOf('包')).toBe('"包"')
  expect(matchOf('bread 包子')).toBe('"bread" OR "包 子"')
})

test('4,000,000 characters of any kind take time in proportion', () => {
  for (const unit of ['a', ' ', '\n', '包', 'a. '])
    expect(passagesOf(unit.repeat(4_000_000 / unit.length)).length).toBeLessThan(4_000)
})
