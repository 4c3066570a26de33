import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { eachOf, type InferenceFrame, type JsonObject } from '../../../src/core/events.ts'
import { createMessagesDecoder } from '../../../src/dialects/messages/decode.ts'
import { readReply } from '../../../src/dialects/read-reply.ts'
import { upstreamReply } from '../../upstream-reply.ts'

/** The fast path of text returns the same as the slow path. */

const frames = async (body: string, fast: boolean): Promise<InferenceFrame[]> => {
  const read = []
  const decoder = createMessagesDecoder({ status: 200, fast })
  for await (const batch of readReply(upstreamReply(body), true, decoder))
    for (const frame of batch) read.push(...eachOf(frame))
  return read
}

const START = { type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 1 } } }
const block = (index: number, content_block: JsonObject) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const delta = (index: number, fields: JsonObject) => ({ type: 'content_block_delta', index, delta: fields })
const END = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
/** As Anthropic writes it: the name, then the data. */
const stream = (events: readonly JsonObject[], gap: string): string =>
  events
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event).replaceAll('":', `":${gap}`)}\n\n`)
    .join('')

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', '"', '\\', '\u2028', '","text":"', '\n\n', '{"a":"b"}', '\ud83d\udee0', '\u0000'),
)
const event = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom(0, 1), text) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonObject>(
      { type: 'content_block_stop', index: 0 },
      { type: 'ping' },
      block(0, { type: 'text', text: 'new' }),
      block(1, { type: 'thinking', thinking: '' }),
      delta(1, { type: 'citations_delta', citation: { type: 'page_location', start_page_number: 1 } }),
      delta(0, { type: 'text_delta', text: 'x', lean: true }),
    ),
  },
)

test('the fast and the slow path read the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 24 }), fc.constantFrom('', ' '), async (list, gap) => {
      const events = list.map((each) =>
        Array.isArray(each) ? delta(each[0], { type: 'text_delta', text: each[1] }) : each,
      )
      const body = stream([START, block(0, { type: 'text', text: '' }), ...events, ...END], gap)
      const slow = await frames(body, false)
      const fast = await frames(body, true)
      expect(fast.map(({ events: inner }) => inner)).toEqual(slow.map(({ events: inner }) => inner))
      for (const { events: inner, plainText } of fast) {
        if (plainText)
          expect(inner).toEqual([{ type: 'text-delta', choice: 0, text: JSON.parse(`"${plainText.jsons}"`) }])
      }
    }),
    { numRuns: 300 },
  )
})

test('plain text is spliced from the first piece on', async () => {
  const events = ['a', 'b', 'ü'].map((each) => delta(0, { type: 'text_delta', text: each }))
  const read = await frames(
    stream([START, block(0, { type: 'text', text: '' }), ...events, ...END], ''),
    true,
  )
  expect(read.flatMap(({ plainText }) => plainText?.jsons ?? [])).toEqual(['a', 'b', 'ü'])
})
