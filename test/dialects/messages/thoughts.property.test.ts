import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { InferenceEvent, ReasoningDetail } from '../../../src/core/events.ts'
import { messagesIngress } from '../../../src/dialects/messages/index.ts'
import { readStream, replyOf, writtenReply, writtenStream } from './written.ts'

/**
 * Thoughts of any provider, written as blocks and replayed by a client unchanged, are the same details: the next turn needs
 * them. Those of Claude are numbered again.
 */

const choice = 0
const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const format = fc.constantFrom('google-gemini-v1', 'openai-responses-v1', 'xai-responses-v1', 'unknown')
const foreign = fc.oneof(
  fc.record({ type: fc.constant('reasoning.text'), text: word, format }),
  fc.record({ type: fc.constant('reasoning.text'), text: word, signature: word, format }),
  fc.record({ type: fc.constant('reasoning.summary'), summary: word, format, id: word }),
  fc.record({ type: fc.constant('reasoning.encrypted'), data: word, format, id: word }),
  fc.record({
    type: fc.constant('reasoning.server_tool_call'),
    tool_name: word,
    arguments: word,
    result: word,
  }),
)
const claudes = fc.oneof(
  fc.record({
    type: fc.constant('reasoning.text'),
    text: word,
    signature: word,
    format: fc.constant('anthropic-claude-v1'),
  }),
  fc.record({
    type: fc.constant('reasoning.encrypted'),
    data: word,
    format: fc.constant('anthropic-claude-v1'),
  }),
)
const details = fc
  .array(fc.oneof(foreign, claudes), { minLength: 1, maxLength: 6 })
  .map((list) => list.map((detail, index): ReasoningDetail => ({ ...detail, index })))

const eventsOf = (list: readonly ReasoningDetail[]): InferenceEvent[] =>
  list.flatMap((detail): InferenceEvent[] => {
    const text = detail.text ?? detail.summary
    return [
      ...(typeof text === 'string' ? [{ type: 'reasoning-delta' as const, choice, text }] : []),
      { type: 'reasoning-detail', choice, detail },
    ]
  })
const END: InferenceEvent = { type: 'response-end', finishes: [{ choice, reason: 'stop', native: null }] }

/** Each detail in a frame of its own, or all of them in one. */
async function* framesOf(list: readonly ReasoningDetail[], isWhole: boolean) {
  if (isWhole) yield [{ events: eventsOf(list) }]
  else for (const detail of list) yield [{ events: eventsOf([detail]) }]
  yield [{ events: [END] }]
}

const replayed = (content: unknown): unknown => {
  const body = {
    model: 'm',
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content },
    ],
  }
  return messagesIngress.parse(JSON.parse(JSON.stringify(body)), new Headers()).messages[1]?.reasoningDetails
}

test('streamed and unary', async () => {
  await fc.assert(
    fc.asyncProperty(details, fc.boolean(), async (list, isWhole) => {
      const streamed = await readStream(await writtenStream(framesOf(list, isWhole)))
      expect(replayed(streamed.content)).toEqual(list)
      const { content } = await writtenReply(framesOf(list, isWhole))
      expect(replayed(content)).toEqual(list)
    }),
    { numRuns: 150 },
  )
})

test('hidden text leaves the signatures that the next turn needs', async () => {
  await fc.assert(
    fc.asyncProperty(details, async (list) => {
      const reply = replyOf({ hideReasoning: true })
      const { content } = await writtenReply(framesOf(list, true), reply)
      const bare = list.map(({ text, summary, ...rest }) => rest)
      expect(replayed(content)).toEqual(
        bare.map((detail) =>
          detail.format === 'anthropic-claude-v1' && 'signature' in detail ? { ...detail, text: '' } : detail,
        ),
      )
      expect(JSON.stringify(content)).not.toMatch(/"thinking":"[^"]/)
    }),
    { numRuns: 100 },
  )
})
