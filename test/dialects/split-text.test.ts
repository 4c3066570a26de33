import { expect, test } from 'bun:test'
import { type InferenceEvent, plainFrame } from '../../src/core/events.ts'
import { splitLongText } from '../../src/dialects/split-text.ts'

const text = (content: string): InferenceEvent => ({ type: 'text-delta', choice: 0, text: content })

test('frames of a usual length stay as they are', () => {
  const batch = [plainFrame('a', ['a']), { events: [text('b'.repeat(256 * 1024))] }]
  expect(splitLongText(batch)).toBe(batch)
})

test('text of megabytes is split into pieces of the same text, and no character is split', () => {
  const long = `a${'😀'.repeat(600_000)}`
  const pieces = splitLongText([plainFrame(long, [long])])
  expect(pieces.length).toBe(5)
  expect(pieces.every(({ plainText }) => plainText === undefined)).toBe(true)
  const texts = pieces.flatMap(({ events }) => events.map((event) => ('text' in event ? event.text : '')))
  expect(texts.join('') === long).toBe(true)
  expect(texts.every((piece) => piece.isWellFormed())).toBe(true)
})

test('events before, between and after long texts keep their order', () => {
  const start: InferenceEvent = { type: 'response-start', upstreamId: 'a', model: null, created: null }
  const thought: InferenceEvent = { type: 'reasoning-delta', choice: 1, text: 'c'.repeat(300_000) }
  const end: InferenceEvent = { type: 'response-end', finishes: [] }
  const [first, second, third, ...rest] = splitLongText([{ events: [start, text('b'), thought, end] }])
  expect(first?.events).toEqual([start, text('b')])
  expect(second?.events).toEqual([{ ...thought, text: 'c'.repeat(256 * 1024) }])
  expect(third?.events).toEqual([{ ...thought, text: 'c'.repeat(300_000 - 256 * 1024) }])
  expect(rest.map(({ events }) => events)).toEqual([[end]])
})
