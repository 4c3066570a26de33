import { expect, test } from 'bun:test'
import { jsonInSteps, rememberJson, SHORT_TEXT_CHARACTERS } from '../../src/core/json-steps.ts'

const reply = {
  id: 'r',
  absent: undefined,
  empty: {},
  none: null,
  list: [],
  output: [{ content: [{ text: '"é😀\u2028\n', logprobs: [{ token: 'a', bytes: [97] }] }] }, undefined, 1],
  numbers: [1, Number.NaN, null],
  deep: { a: { b: { c: { d: { e: { f: { g: [{}] } } } } } } },
  ['__proto__x']: true,
}

test.each([[reply], [[reply, reply]], [[]], [{}], ['text'], [JSON.parse('{"__proto__":{"a":1}}')]])(
  'the pieces of %j are its JSON text',
  async (value) => {
    expect((await jsonInSteps(value)).join('')).toBe(JSON.stringify(value))
  },
)

test('an object whose text is known is not read: its text is taken, piece by piece', async () => {
  const part = {
    get logprobs(): never {
      throw new Error('read')
    },
  }
  rememberJson(part, ['{"logprobs":', '[1]', '}'])
  expect((await jsonInSteps({ output: [part] })).join('')).toBe('{"output":[{"logprobs":[1]}]}')
})

test('a changed copy of an object whose text is known is written out', async () => {
  const item = { status: 'completed' }
  rememberJson(item, '{"status":"known"}')
  expect((await jsonInSteps([item, { ...item, status: 'failed' }])).join('')).toBe(
    '[{"status":"known"},{"status":"failed"}]',
  )
})

test('short pieces are joined, and none is longer than its longest field by more than that', async () => {
  const text = 'word '.repeat(SHORT_TEXT_CHARACTERS)
  const pieces = await jsonInSteps({ output: [{ content: [{ text }, { text }] }], output_text: text })
  expect(pieces).toHaveLength(4)
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(text.length + SHORT_TEXT_CHARACTERS)
})
