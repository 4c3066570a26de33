import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type InferenceEvent, type InferenceFrame, plainFrame } from '../../../src/core/events.ts'
import type { ReplyContext } from '../../../src/core/result.ts'
import { writeChatStream } from '../../../src/dialects/chat/write-stream.ts'
import { mayBeSpliced } from '../../../src/dialects/json-text.ts'
import { REQUEST } from '../request.ts'

/** The fast path (upstream's JSON text, spliced) writes the same as the slow path (parsed and serialized). */

const REPLY: ReplyContext = {
  generationId: 'gen-"1"',
  created: 1,
  model: 'acme/größe',
  providerName: 'Acme "AI"\u2028',
  request: REQUEST,
  hideReasoning: false,
}

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
  anyText.map((text) => ({ type: 'text-delta' as const, choice: 1, text })),
  fc.constant({ type: 'tool-call-start' as const, choice: 0, index: 0, id: 'c', name: 'f' }),
  anyText.map((json) => ({ type: 'tool-call-delta' as const, choice: 0, index: 0, json })),
  anyText.map((fp) => ({
    type: 'native' as const,
    dialect: 'chat' as const,
    data: { chunk: { system_fingerprint: fp } },
  })),
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

const writeAll = (frames: InferenceFrame[]): string[] => {
  const writer = writeChatStream(REPLY)
  return frames.map((frame) => writer.write(frame))
}

const asStringify = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Other encoders: every unit as \u, every slash escaped, nothing escaped that need not be. */
const asEscapes = (text: string): string =>
  [...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
const asSlashes = (text: string): string => asStringify(text).replaceAll('/', '\\/')

test('upstream that escapes as we do: the same bytes', () => {
  fc.assert(
    fc.property(stream, (frames) => {
      expect(writeAll(frames.map((frame) => withPlainText(frame, asStringify)))).toEqual(writeAll(frames))
    }),
    { numRuns: 1_000 },
  )
})

test('upstream that escapes otherwise: the same chunks', () => {
  const parsed = (sse: string): unknown => (sse === '' ? null : JSON.parse(sse.slice('data: '.length)))
  for (const write of [asEscapes, asSlashes]) {
    fc.assert(
      fc.property(stream, (frames) => {
        const fast = writeAll(frames.map((frame) => withPlainText(frame, write)))
        expect(fast.map(parsed)).toEqual(writeAll(frames).map(parsed))
      }),
      { numRuns: 500 },
    )
  }
})

test('no text makes more than one event', () => {
  fc.assert(
    fc.property(stream, (frames) => {
      const fast = writeAll(frames.map((frame) => withPlainText(frame, asStringify)))
      for (const sse of fast)
        expect(sse === '' || /^data: [^\n\r\u0085\u2028\u2029]+\n\n$/.test(sse)).toBe(true)
    }),
    { numRuns: 500 },
  )
})
