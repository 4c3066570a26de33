import { expect, test } from 'bun:test'
import { parseJson } from '../../src/core/json.ts'
import { JSON_BOUNDS, measureJson } from '../../src/core/json-bounds.ts'
import { excessOf } from '../../src/core/json-excess.ts'

/** What a provider may send, and what only a hostile one does. */

const alternative = (token: string) => ({ token, logprob: -1.5, bytes: [97, 98] })
const answer = (tokens: number) => ({
  choices: [
    {
      message: { role: 'assistant', content: 'word '.repeat(tokens) },
      logprobs: {
        content: Array.from({ length: tokens }, (_, index) => ({
          ...alternative(` word${index}`),
          top_logprobs: Array.from({ length: 20 }, (_, rank) =>
            alternative(` word${(index * 7 + rank) % 9_000}`),
          ),
        })),
      },
    },
  ],
})

test('an answer of 12,000 tokens with 20 alternatives each is read', () => {
  expect(excessOf(JSON.stringify(answer(12_000)))).toBeNull()
})

test('vectors of 3 million numbers are read', () => {
  const vectors = Array.from({ length: 1_000 }, () => Array.from({ length: 3_000 }, (_, index) => index / 8))
  expect(excessOf(JSON.stringify({ data: vectors }))).toBeNull()
})

test.each([
  ['fields', (index: number) => `"f${index}":1`, '{', '}'],
  ['texts', (index: number) => `"t${index}"`, '[', ']'],
  ['objects of one field', (index: number) => `{"f${index}":1}`, '[', ']'],
])('a million different %s are not parsed', (_, item, open, close) => {
  const text = open + Array.from({ length: 1_000_000 }, (_, index) => item(index)).join() + close
  expect(parseJson(text)).toBeUndefined()
})

test('nor three million of the same', () => {
  expect(parseJson(`[${'{},'.repeat(3_000_000)}1]`)).toBeUndefined()
  expect(parseJson(`[${'"a",'.repeat(3_000_000)}1]`)).toBeUndefined()
})

test('a long text is one part', () => {
  expect(parseJson(JSON.stringify('"[{'.repeat(3_000_000)))).toHaveLength(9_000_000)
})

test.each([
  ['quotes', '\\"'],
  ['backslashes', '\\\\'],
])('a text of millions of escaped %s is not parsed, and one of as many letters is', (_, pair) => {
  const most = pair.repeat(6_000_000)
  expect(excessOf(`"${most}"`)).toBeNull()
  expect(excessOf(`"${most}${pair}"`)).toBe('escapes')
  expect(excessOf(`"${'ab'.repeat(9_000_000)}"`)).toBeNull()
  expect(measureJson(Buffer.from(`"${most}"`), JSON_BOUNDS).excess).toBeNull()
  expect(measureJson(Buffer.from(`"${most}${pair}"`), JSON_BOUNDS).excess).toBe('escapes')
})
