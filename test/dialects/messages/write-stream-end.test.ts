import { describe, expect, test } from 'bun:test'
import type { InferenceEvent } from '../../../src/core/events.ts'
import type { Closing, RoutingMetadata } from '../../../src/core/result.ts'
import { messagesIngress } from '../../../src/dialects/messages/index.ts'
import { closingOf } from '../replies.ts'
import { choice, json, native, TEXT, THINKING, text, textDelta, thought, written } from './streamed.ts'
import { eventsOf, MESSAGE_ID, replyOf } from './written.ts'

describe('the end', () => {
  const delta = (closing: Partial<Closing>, frames: InferenceEvent[][] = [[text('Hi')]]) =>
    written(frames, closing).at(-2)?.['delta']
  test.each<[Closing['finishes'][number]['reason'], string | null, string]>([
    ['stop', 'stop', 'end_turn'],
    ['stop', 'stop_sequence', 'stop_sequence'],
    ['stop', 'pause_turn', 'pause_turn'],
    ['stop', 'tool_use', 'end_turn'],
    ['length', 'MAX_TOKENS', 'max_tokens'],
    ['length', 'model_context_window_exceeded', 'model_context_window_exceeded'],
    ['tool_calls', 'STOP', 'tool_use'],
    ['content_filter', 'SAFETY', 'refusal'],
  ])('%p (%p) is %p', (reason, word, expected) => {
    expect(delta({ finishes: [{ choice, reason, native: word }] })).toMatchObject({ stop_reason: expected })
  })

  test('a refusal has its explanation', () => {
    expect(delta({}, [[{ type: 'refusal-delta', choice, text: 'No.' }]])).toMatchObject({
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'No.' },
    })
  })

  test('an answer that the provider broke off is an error', () => {
    const events = written([[text('Hi')]], {
      finishes: [{ choice, reason: 'error', native: 'network_error' }],
    })
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    expect(events.map(({ type }) => type)).not.toContain('message_stop')
  })

  const routing: RoutingMetadata = {
    requested: 'm',
    strategy: 'direct',
    summary: '',
    attempt: 1,
    is_byok: false,
    region: null,
    endpoints: { total: 0, available: [] },
    attempts: [],
    params: { dropped_parameters: ['seed'] },
  }

  test('fields of the reply that this dialect does not have are named', () => {
    const frames: InferenceEvent[][] = [
      [text('Hi'), { type: 'logprobs', choice, logprobs: {} }],
      [{ type: 'audio-delta', choice, audio: {} }],
    ]
    expect(written(frames, { serviceMetadata: routing }).at(-1)).toEqual({
      type: 'message_stop',
      service_metadata: { ...routing, params: { dropped_parameters: ['seed', 'logprobs', 'audio'] } },
      openrouter_metadata: { ...routing, params: { dropped_parameters: ['seed', 'logprobs', 'audio'] } },
    })
  })

  test('a failure is an error event, with the routing, and nothing comes after it', () => {
    const writer = messagesIngress.writeStream(replyOf({ routing: () => routing }))
    writer.write({ events: [text('Hi')] })
    const failure = { status: 529, message: 'Busy', metadata: { error_type: 'provider_overloaded' } }
    expect(eventsOf(writer.fail(failure))).toEqual([
      {
        type: 'error',
        error: {
          type: 'overloaded_error',
          message: 'Busy',
          error_type: 'provider_overloaded',
          metadata: { error_type: 'provider_overloaded' },
        },
        request_id: null,
        service_metadata: routing,
        openrouter_metadata: routing,
      },
    ])
    expect([writer.write({ events: [text('more')] }), writer.end(closingOf()), writer.fail(failure)]).toEqual(
      ['', '', ''],
    )
  })
})

describe('relay', () => {
  const START = {
    type: 'message_start',
    message: { id: 'up', model: 'up', usage: {}, container: { id: 'c' } },
  }
  const NEW = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', lean: 1 } }

  test('events of the same dialect are relayed, with plain text between them', () => {
    const citation = {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'citations_delta', citation: {} },
    }
    const tomorrow = { type: 'content_block_spin', speed: 2 }
    const events = written([
      [native(START)],
      [native(NEW)],
      [text('Hi')],
      [native(citation)],
      [native(tomorrow)],
      [native({ type: 'content_block_stop', index: 0 })],
      [
        native({
          type: 'message_delta',
          delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
          context_management: { applied_edits: [] },
          usage: {},
        }),
      ],
      [native({ type: 'message_stop', lean: 2 })],
    ])
    expect(events[0]).toMatchObject({
      message: { id: MESSAGE_ID, model: 'acme/large', container: { id: 'c' }, content: [] },
    })
    expect(events.slice(2, -2)).toEqual([
      NEW,
      { type: 'content_block_delta', index: 0, delta: textDelta('Hi') },
      citation,
      tomorrow,
      { type: 'content_block_stop', index: 0 },
    ])
    expect(events.slice(-2)).toMatchObject([
      {
        type: 'message_delta',
        delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
        context_management: { applied_edits: [] },
        usage: { cost: 0.0000015 },
      },
      { type: 'message_stop', lean: 2 },
    ])
  })

  test('a name that would break the stream is left out', () => {
    const events = written([[native(START)], [native({ type: 'a\ndata: {}' })], [native(NEW)]])
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'message_delta',
      'message_stop',
    ])
  })

  test('a complete message as events', () => {
    const message = {
      id: 'up',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'Hi', citations: [{ type: 'page_location' }] },
        { type: 'server_tool_use', id: 't', name: 'n', input: { q: 1 } },
        { type: 'web_search_tool_result', tool_use_id: 't', content: [] },
      ],
      stop_reason: 'pause_turn',
      usage: {},
    }
    const events = written([[{ type: 'native', dialect: 'messages', data: { message } }]])
    expect(events.flatMap((event) => event['content_block'] ?? event['delta'] ?? [])).toMatchObject([
      THINKING,
      thought('hm'),
      { type: 'signature_delta', signature: 's' },
      TEXT,
      textDelta('Hi'),
      { type: 'citations_delta', citation: { type: 'page_location' } },
      { type: 'server_tool_use', id: 't', name: 'n', input: {} },
      json('{"q":1}'),
      { type: 'web_search_tool_result', tool_use_id: 't', content: [] },
      { stop_reason: 'pause_turn' },
    ])
  })
})
