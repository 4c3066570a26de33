import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { InferenceEvent, InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import { mayBeSpliced } from '../../../src/dialects/json-text.ts'
import { messagesIngress } from '../../../src/dialects/messages/index.ts'
import { closingOf } from '../replies.ts'
import { eventsOf, replyOf } from './written.ts'

/** Spliced text and encoded text are written alike, at the same place, with any events in between. */

const choice = 0
const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
  fc.constantFrom('"', '\\', '\u2028', '\n\n', '\u0000', '\ud83d', '","index":9'),
)
const native = (event: JsonObject): InferenceEvent => ({
  type: 'native',
  dialect: 'messages',
  data: { event },
})

const piece = text.map((value): InferenceFrame => {
  const json = JSON.stringify(value).slice(1, -1)
  const events: InferenceEvent[] = [{ type: 'text-delta', choice, text: value }]
  return json !== '' && mayBeSpliced(json) ? { events, plainText: { jsons: [json] } } : { events }
})
const other = fc
  .constantFrom<InferenceEvent[]>(
    [{ type: 'reasoning-delta', choice, text: 'hm' }],
    [{ type: 'tool-call-start', choice, index: 0, id: 'a', name: 'f' }],
    [{ type: 'tool-call-delta', choice, index: 0, json: '{}' }],
    [{ type: 'annotation', choice, annotation: { type: 'page_location' } }],
    [{ type: 'usage', usage: { ...closingOf().usage, inputTokens: 3 } }],
    [],
  )
  .map((events): InferenceFrame => ({ events }))

const written = (frames: readonly InferenceFrame[]): Record<string, unknown>[] => {
  const writer = messagesIngress.writeStream(replyOf())
  return eventsOf(frames.map((frame) => writer.write(frame)).join('') + writer.end(closingOf()))
}
const slow = ({ events }: InferenceFrame): InferenceFrame => ({ events })

test('a reply of another dialect', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 3, arbitrary: piece }, other), { maxLength: 20 }), (frames) => {
      expect(written(frames)).toEqual(written(frames.map(slow)))
    }),
    { numRuns: 400 },
  )
})

test('a reply of this dialect', () => {
  const start = native({ type: 'message_start', message: { id: 'up', content: [] } })
  const begin = fc.nat(9).map(
    (index): InferenceFrame => ({
      events: [native({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } })],
    }),
  )
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 3, arbitrary: piece }, begin), { maxLength: 20 }), (frames) => {
      const all = [{ events: [start] }, ...frames]
      expect(written(all)).toEqual(written(all.map(slow)))
    }),
    { numRuns: 200 },
  )
})

test('spliced bytes equal encoded ones', () => {
  const frames = ['Hel', 'lo "you"', 'ü\n'].map((value): InferenceFrame => {
    const json = JSON.stringify(value).slice(1, -1)
    return { events: [{ type: 'text-delta', choice, text: value }], plainText: { jsons: [json] } }
  })
  const bytes = (list: readonly InferenceFrame[]): string => {
    const writer = messagesIngress.writeStream(replyOf())
    return list.map((frame) => writer.write(frame)).join('')
  }
  expect(bytes(frames)).toBe(bytes(frames.map(slow)))
})
