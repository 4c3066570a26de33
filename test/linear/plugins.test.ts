import { expect, test } from 'bun:test'
import type { Message } from '../../src/core/request.ts'
import { compress } from '../../src/plugins/context-compression/compress.ts'
import { type Count, estimatedTokens } from '../../src/plugins/context-compression/tokens.ts'
import { heal } from '../../src/plugins/response-healing/heal.ts'
import { matchesAny, patternOf } from '../../src/plugins/routers/models.ts'
import { growthOf, growthText, isQuick } from './timing.ts'

/** Broken answers of providers and conversations of callers take linear time. */

const ANSWERS: readonly (readonly [name: string, unit: string, head?: string])[] = [
  ['quotes', '"', '["'],
  ['lists without commas', '["a" "b" '],
  ['keys without quotes', '{a b c '],
  ['objects that are not closed', '{"a":'],
  ['brackets', '['],
  ['braces', '{ '],
  ['lines of JSON', '{"a":1}\n'],
  ['objects in prose', '{"a":1} and '],
  ['blanks', ' ', '[1'],
  ['newlines in a text', '\n', '{"a":"'],
  ['escapes', '\\u00', '["'],
  ['comments', '/* ', '['],
  ['fences', '```json\n{'],
  ['texts that are appended', '"a" + ', '['],
  ['calls', 'f(', '['],
  ['words', 'a b ', '['],
  ['keys in a text', '"b": ', '{"a":"'],
  ['escaped JSON', '{\\"a\\":1},'],
]

test.each(ANSWERS)('a broken answer of %s', async (_, unit, head = '') => {
  const growth = await growthOf(
    45_000,
    (n) => head + unit.repeat(Math.floor(n / unit.length)),
    (text) => heal(text, null),
  )
  expect(growth.isLinear, growthText(growth)).toBe(true)
})

const count: Count = { text: estimatedTokens, media: () => 1_500 }
const CONVERSATIONS: Readonly<Record<string, (n: number) => Message[]>> = {
  messages: (n) =>
    Array.from({ length: n }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: 'lorem ipsum' })),
  'parts of one message': (n) => [
    {
      role: 'user',
      content: Array.from({ length: n }, () => ({ type: 'text', text: 'lorem ipsum '.repeat(30) })),
    },
  ],
  images: (n) => [{ role: 'user', content: Array.from({ length: n }, () => ({ type: 'image', url: 'x' })) }],
  'calls of one turn': (n) => [
    { role: 'user', content: 'go' },
    ...Array.from({ length: n }, (_, i): Message[] => [
      { role: 'assistant', content: null, toolCalls: [{ id: `${i}`, name: 'f', arguments: '{}' }] },
      { role: 'tool', content: 'lorem', toolCallId: `${i}` },
    ]).flat(),
  ],
  'results behind all calls': (n) => [
    { role: 'user', content: 'go' },
    ...Array.from(
      { length: n },
      (_, i): Message => ({
        role: 'assistant',
        content: null,
        toolCalls: [{ id: `${i}`, name: 'f', arguments: '{}' }],
      }),
    ),
    ...Array.from({ length: n }, (_, i): Message => ({ role: 'tool', content: 'lorem', toolCallId: `${i}` })),
  ],
  'one long text': (n) => [{ role: 'user', content: 'lorem ipsum '.repeat(50 * n) }],
}

test.each(Object.entries(CONVERSATIONS))('a conversation of %s that is shortened', async (_, make) => {
  const growth = await growthOf(5_000, make, (messages) => compress(messages, 500, count))
  expect(growth.isLinear, growthText(growth)).toBe(true)
})

test.each(['*', '*a', '*a*', 'a*b', 'openai*'])(
  'a thousand patterns of %s are compared with a model quickly',
  async (unit) => {
    const patterns = Array.from({ length: 1_024 }, () => patternOf(unit.repeat(1_020 / unit.length)))
    const compare = (i: number): boolean => matchesAny(`openai/gpt-${'a'.repeat(20)}-${i}x`, patterns)
    expect(await isQuick(() => Array.from({ length: 100 }, (_, i) => compare(i)))).toBe(true)
  },
)

test('an asterisk of a pattern stands for any text', () => {
  const isMatch = (name: string, pattern: string): boolean => matchesAny(name, [patternOf(pattern)])
  for (const pattern of ['a/b', '*', 'a*', '*b', 'a**b', 'a/*b', '*/*', '*a*/*b*'])
    expect(isMatch('a/b', pattern)).toBe(true)
  for (const pattern of ['', 'a', 'b*', '*a', 'a*b*b', '*bb', 'a/b*b'])
    expect(isMatch('a/b', pattern)).toBe(false)
})
