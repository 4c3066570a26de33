import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import { readChat } from '../../../src/dialects/chat/decode.ts'
import { writeChatReply } from '../../../src/dialects/chat/write-reply.ts'
import { writeChatStream } from '../../../src/dialects/chat/write-stream.ts'
import { collect } from '../../../src/inference/reply/collect.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { closingOf, contextOf } from '../replies.ts'

/** Chat in, chat out: what the provider sent reaches the caller, on the fast and on the slow path. */

const REPLY = contextOf()
const CLOSING = closingOf()

/** A chunk of a stream as a provider would send it. */
const word = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(' the', '"', '\\', '\n', 'é', '😀', '\u2028', ''),
)
const delta = fc.oneof(
  { weight: 8, arbitrary: word.map((content): JsonObject => ({ content })) },
  { weight: 1, arbitrary: word.map((reasoning): JsonObject => ({ reasoning })) },
  { weight: 1, arbitrary: fc.constant<JsonObject>({ role: 'assistant', content: '' }) },
  {
    weight: 1,
    arbitrary: word.map(
      (text): JsonObject => ({
        tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: text } }],
      }),
    ),
  },
)
const chunk = fc.record({
  delta,
  fingerprint: fc.constantFrom('fp_1', 'fp_1', 'fp_1', 'fp_2', null, undefined),
  obfuscation: fc.option(fc.string({ unit: fc.constantFrom('a', 'B', '3'), maxLength: 6 }), {
    nil: undefined,
  }),
  warmth: fc.constantFrom(undefined, undefined, 1, 2),
})
const upstream = fc.array(chunk, { minLength: 1, maxLength: 20 }).map((chunks) =>
  chunks.map(({ delta: content, fingerprint, obfuscation, warmth }) => ({
    id: 'theirs',
    object: 'chat.completion.chunk',
    created: 5,
    model: 'large-2026',
    ...(fingerprint === undefined ? {} : { system_fingerprint: fingerprint }),
    ...(warmth === undefined ? {} : { warmth }),
    choices: [{ index: 0, delta: content, logprobs: null, finish_reason: null }],
    ...(obfuscation === undefined ? {} : { obfuscation }),
  })),
)

async function relay(chunks: readonly object[], fast: boolean): Promise<{ sse: string; spliced: number }> {
  const end = { id: 'theirs', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  const body = `${[...chunks, end].map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`
  const writer = writeChatStream(REPLY)
  let sse = ''
  let spliced = 0
  for await (const batch of readChat(upstreamReply(body), true, { fast })) {
    for (const frame of batch) {
      if (frame.plainText) spliced++
      sse += writer.write(frame)
    }
  }
  return { sse: sse + writer.end(CLOSING), spliced }
}

test('a stream that was spliced and one that was parsed are the same bytes', async () => {
  let spliced = 0
  await fc.assert(
    fc.asyncProperty(upstream, async (chunks) => {
      const fast = await relay(chunks, true)
      const slow = await relay(chunks, false)
      expect(fast.sse).toBe(slow.sse)
      expect(slow.spliced).toBe(0)
      spliced += fast.spliced
    }),
    { numRuns: 500 },
  )
  expect(spliced).toBeGreaterThan(500)
})

test('unknown fields of a unary reply reach the caller from every level', async () => {
  const unknown = fc.dictionary(
    fc.string({ maxLength: 8 }).map((name) => `x_${name}`),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 4 },
  )
  await fc.assert(
    fc.asyncProperty(unknown, unknown, unknown, unknown, async (top, choice, message, call) => {
      const body = {
        id: 'theirs',
        ...top,
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            ...choice,
            message: {
              role: 'assistant',
              content: 'x',
              ...message,
              tool_calls: [{ ...call, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
            },
          },
        ],
      }
      const frames = readChat(upstreamReply(JSON.stringify(body)), false)
      const result = await collect(frames, (_frame: InferenceFrame) => undefined)
      const reply = JSON.parse(JSON.stringify(writeChatReply(result, REPLY, CLOSING)))
      const sent = JSON.parse(JSON.stringify(body))
      expect(reply).toMatchObject({ ...sent, id: 'gen-1' })
    }),
    { numRuns: 300 },
  )
})
