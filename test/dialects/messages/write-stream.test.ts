import { expect, test } from 'bun:test'
import type { InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { messagesIngress } from '../../../src/dialects/messages/index.ts'
import { COST, closingOf } from '../replies.ts'
import { TEXT, text, textDelta, written } from './streamed.ts'
import { eventsOf, MESSAGE_ID, readStream, replyOf } from './written.ts'

test('the events of a stream, in order', () => {
  expect(
    written(
      [
        [{ type: 'response-start', upstreamId: 'up', model: 'm', created: 1 }],
        [text('Hel')],
        [text('lo')],
        [{ type: 'usage', usage: { ...NO_USAGE, inputTokens: 3, outputTokens: 2 } }],
      ],
      { usage: { ...NO_USAGE, inputTokens: 3, cacheReadTokens: 4, outputTokens: 2, reasoningTokens: 1 } },
    ),
  ).toEqual([
    {
      type: 'message_start',
      message: {
        id: MESSAGE_ID,
        type: 'message',
        role: 'assistant',
        model: 'acme/large',
        provider: 'Acme',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        usage: expect.objectContaining({ input_tokens: 0, output_tokens: 0, service_tier: null }),
      },
    },
    { type: 'ping' },
    { type: 'content_block_start', index: 0, content_block: TEXT },
    { type: 'content_block_delta', index: 0, delta: textDelta('Hel') },
    { type: 'content_block_delta', index: 0, delta: textDelta('lo') },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
      usage: {
        input_tokens: 3,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 4,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { thinking_tokens: 1 },
        server_tool_use: null,
        inference_geo: null,
        service_tier: null,
        ...COST,
      },
    },
    { type: 'message_stop' },
  ])
})

test('cache writes are listed by lifetime, for providers of any dialect', () => {
  const usage = { ...NO_USAGE, inputTokens: 3, cacheWriteTokens: 30, cacheWriteHourTokens: 20 }
  const expected = {
    input_tokens: 3,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
  }
  const events = written([[{ type: 'usage', usage }, text('Hi')]], { usage })
  expect(events[0]).toMatchObject({ type: 'message_start', message: { usage: expected } })
  expect(events.at(-2)).toMatchObject({ type: 'message_delta', usage: expected })
  const natives: JsonObject = { ephemeral_5m_input_tokens: 9, ephemeral_1h_input_tokens: 20, ephemeral_1d: 1 }
  const native = { dialect: 'messages' as const, fields: { cache_creation: natives } }
  expect(written([[text('Hi')]], { usage: { ...usage, native } }).at(-2)).toMatchObject({
    usage: { cache_creation_input_tokens: 30, cache_creation: natives },
  })
})

test('an empty answer is a complete message', () => {
  expect(written([]).map(({ type }) => type)).toEqual([
    'message_start',
    'ping',
    'message_delta',
    'message_stop',
  ])
})

test('the client skips the comments of a long silence and reports an error after them', async () => {
  const silence = ': SLUICE PROCESSING\n\n'
  const writer = messagesIngress.writeStream(replyOf())
  const body = writer.write({ events: [text('Hi')] }) + silence + writer.end(closingOf())
  expect(await readStream(silence + body)).toMatchObject({ content: [{ type: 'text', text: 'Hi' }] })
  const failure = messagesIngress.writeStream(replyOf()).fail({ status: 524, message: 'Too late' })
  await expect(readStream(silence + failure)).rejects.toMatchObject({ type: 'timeout_error' })
})

test('no text can end an event', () => {
  const frame: InferenceFrame = { events: [text('a\u2028b\u0085\r\n\n')] }
  const body = messagesIngress.writeStream(replyOf()).write(frame)
  expect(body).not.toMatch(/[\u2028\u0085\r]/)
  expect(eventsOf(body).at(-1)).toMatchObject({ delta: textDelta('a\u2028b\u0085\r\n\n') })
})
