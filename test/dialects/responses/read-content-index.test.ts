import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { completed, message, streamed } from './replies.ts'

/** gpt-oss at Bedrock Mantle counts `content_index` across the items of a response: a message after reasoning has 1. */
const added = (at: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index: at,
  item,
})
const done = (at: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.done',
  output_index: at,
  item,
})
const piece = (at: number, index: number, delta: string): JsonObject => ({
  type: 'response.output_text.delta',
  output_index: at,
  content_index: index,
  delta,
})
const thought = (at: number, index: number, delta: string): JsonObject => ({
  type: 'response.reasoning_text.delta',
  output_index: at,
  content_index: index,
  delta,
})
const complete = (at: number, index: number, text: string): JsonObject[] => [
  { type: 'response.output_text.done', output_index: at, content_index: index, text },
  {
    type: 'response.content_part.done',
    output_index: at,
    content_index: index,
    part: { type: 'output_text', text, annotations: [] },
  },
]
const reasoning = (...texts: string[]): JsonObject => ({
  type: 'reasoning',
  id: 'rs',
  summary: [],
  content: texts.map((text) => ({ type: 'reasoning_text', text })),
})
const texts = (...parts: string[]): JsonObject => ({
  ...message(''),
  content: parts.map((text) => ({ type: 'output_text', text, annotations: [] })),
})

test('text of an item whose first content index is not 0 is emitted once', async () => {
  const outcome = await streamed(
    added(0, { type: 'reasoning', id: 'rs', summary: [] }),
    thought(0, 0, 'Hm.'),
    done(0, reasoning('Hm.')),
    added(1, { ...message(''), content: [] }),
    piece(1, 1, 'hel'),
    piece(1, 1, 'lo'),
    ...complete(1, 1, 'hello'),
    done(1, message('hello')),
    completed([reasoning('Hm.'), message('hello')]),
  )
  expect(outcome.text).toBe('hello')
  expect(outcome.reasoning).toBe('Hm.')
})

test('so is the text of an item that only the last event completes', async () => {
  const outcome = await streamed(
    added(1, { ...message(''), content: [] }),
    piece(1, 1, 'hel'),
    completed([reasoning(), message('hello')]),
  )
  expect(outcome.text).toBe('hello')
})

test('two parts of one item, and a second reasoning item, are each emitted once', async () => {
  const outcome = await streamed(
    thought(0, 0, 'One. '),
    done(0, reasoning('One. ')),
    thought(1, 1, 'Two.'),
    done(1, reasoning('Two.')),
    piece(2, 2, 'a'),
    piece(2, 3, 'b'),
    done(2, texts('a', 'b')),
    completed(),
  )
  expect(outcome.text).toBe('ab')
  expect(outcome.reasoning).toBe('One. Two.')
})

test('a part that had no deltas is still emitted beside one that had', async () => {
  const outcome = await streamed(piece(0, 1, 'b'), done(0, texts('a', 'b')), completed())
  expect(outcome.text).toBe('ba')
})

test('a message of plain text is emitted once', async () => {
  const outcome = await streamed(
    piece(1, 1, 'hello'),
    done(1, { ...message(''), content: 'hello' }),
    completed(),
  )
  expect(outcome.text).toBe('hello')
})
