import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { InferenceEvent, InferenceFrame } from '../../../src/core/events.ts'
import { writeResponsesStream } from '../../../src/dialects/responses/write-stream.ts'
import { anyText, asEscapes, asSlashes, asStringify, framesWith, withPlainText } from '../spliced-text.ts'
import { checkStream } from './stream-order.ts'
import { CLOSING, reply } from './written.ts'

/** The fast path (the provider's JSON text, spliced) writes the same as the slow path (parsed and serialized). */

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
const stream = framesWith(otherEvent)

function writeAll(frames: InferenceFrame[]): string {
  const writer = writeResponsesStream(reply())
  return frames.map((frame) => writer.write(frame)).join('') + writer.end(CLOSING)
}

test('a provider that escapes as JSON.stringify does: the same bytes', () => {
  fc.assert(
    fc.property(stream, (frames) => {
      expect(writeAll(frames.map((frame) => withPlainText(frame, asStringify)))).toBe(writeAll(frames))
    }),
    { numRuns: 500 },
  )
})

test('a provider that escapes otherwise: the same valid stream', () => {
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
