import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type InferenceEvent, type InferenceFrame, plainFrame } from '../../../src/core/events.ts'
import { mayBeSpliced } from '../../../src/dialects/json-text.ts'
import { writeResponsesStream } from '../../../src/dialects/responses/write-stream.ts'
import { CLOSING, reply } from './frames.ts'
import { checkStream } from './stream-order.ts'

/** The fast path (upstream's JSON text, spliced) writes the same as the slow path (parsed and serialized). */

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '',
    '\n\n',
    '"',
    '\\',
    '\u2028',
    '\u2029\u0085',
    '\ud83d',
    '\ude00',
    'data: [DONE]\n\n',
    '\u0000',
  ),
)
const textFrame = anyText.map(
  (text): InferenceFrame => ({ events: [{ type: 'text-delta', choice: 0, text }] }),
)
const otherEvent: fc.Arbitrary<InferenceEvent> = fc.oneof(
  anyText.map((text) => ({ type: 'reasoning-delta' as const, choice: 0, text })),
  anyText.map((text) => ({ type: 'refusal-delta' as const, choice: 0, text })),
  anyText.map((text) => ({ type: 'text-delta' as const, choice: 1, text })),
  anyText.map((data) => ({
    type: 'reasoning-detail' as const,
    choice: 0,
    detail: { type: 'reasoning.encrypted', data, format: 'google-gemini-v1' },
  })),
  anyText.map((url) => ({ type: 'image' as const, choice: 0, url })),
)
const otherFrame = fc
  .array(otherEvent, { minLength: 1, maxLength: 3 })
  .map((events): InferenceFrame => ({ events }))
const stream = fc.array(fc.oneof({ weight: 4, arbitrary: textFrame }, otherFrame), { maxLength: 12 })

function withPlainText(frame: InferenceFrame, write: (text: string) => string): InferenceFrame {
  const [event, ...more] = frame.events
  if (event?.type !== 'text-delta' || event.choice !== 0 || more.length > 0) return frame
  const json = write(event.text)
  return json !== '' && mayBeSpliced(json) ? plainFrame(event.text, [json]) : frame
}

function writeAll(frames: InferenceFrame[]): string {
  const writer = writeResponsesStream(reply())
  return frames.map((frame) => writer.write(frame)).join('') + writer.end(CLOSING)
}

const asStringify = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Other encoders: every unit as \u, every slash escaped. */
const asEscapes = (text: string): string =>
  [...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
const asSlashes = (text: string): string => asStringify(text).replaceAll('/', '\\/')

test('upstream that escapes as we do: the same bytes', () => {
  fc.assert(
    fc.property(stream, (frames) => {
      expect(writeAll(frames.map((frame) => withPlainText(frame, asStringify)))).toBe(writeAll(frames))
    }),
    { numRuns: 500 },
  )
})

test('upstream that escapes otherwise: the same events, right by the judge', () => {
  for (const write of [asEscapes, asSlashes]) {
    fc.assert(
      fc.property(stream, (frames) => {
        const fast = writeAll(frames.map((frame) => withPlainText(frame, write)))
        expect(checkStream(fast)).toEqual(checkStream(writeAll(frames)))
      }),
      { numRuns: 300 },
    )
  }
})
