import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { InferenceEvent, InferenceFrame } from '../../../src/core/events.ts'
import { writeChatStream } from '../../../src/dialects/chat/write-stream.ts'
import { contextOf } from '../replies.ts'
import { anyText, asEscapes, asSlashes, asStringify, framesWith, withPlainText } from '../spliced-text.ts'

/** The fast path (the provider's JSON text, spliced) writes the same as the slow path (parsed and serialized). */

const REPLY = contextOf({
  generationId: 'gen-"1"',
  model: 'acme/größe',
  providerName: 'Acme "AI"\u2028',
})

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
const stream = framesWith(otherEvent)

const writeAll = (frames: InferenceFrame[]): string[] => {
  const writer = writeChatStream(REPLY)
  return frames.map((frame) => writer.write(frame))
}

test('a provider that escapes as JSON.stringify does: the same bytes', () => {
  fc.assert(
    fc.property(stream, (frames) => {
      expect(writeAll(frames.map((frame) => withPlainText(frame, asStringify)))).toEqual(writeAll(frames))
    }),
    { numRuns: 1_000 },
  )
})

test('a provider that escapes otherwise: the same chunks', () => {
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
