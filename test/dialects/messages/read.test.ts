import { describe, expect, test } from 'bun:test'
import type { InferenceEvent, JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { isMessagesNative, type MessagesNative } from '../../../src/dialects/messages/write-native.ts'
import { block, delta, finish, HI, read, START, STOP, stop, stream } from './stream-events.ts'

const eventsOf = async (events: readonly (JsonObject | string)[]): Promise<InferenceEvent[]> => {
  const { events: found, error } = await read(stream([START, ...events]))
  expect(error).toBeUndefined()
  const frame = ['response-start', 'usage', 'response-end', 'native']
  return found.filter(({ type }) => !frame.includes(type))
}

/** The native events for a writer of the same dialect. */
const nativesOf = async (body: string): Promise<MessagesNative[]> => {
  const { events } = await read(body)
  return events.flatMap((event) =>
    event.type === 'native' && isMessagesNative(event.data) ? [event.data] : [],
  )
}

test('the frame of a reply', async () => {
  const { events } = await read(
    stream([START, block(0, { type: 'text', text: '' }), HI, stop(0), finish('end_turn'), STOP]),
  )
  const usage = { ...NO_USAGE, inputTokens: 5 }
  expect(events.filter(({ type }) => type !== 'native')).toEqual([
    { type: 'response-start', upstreamId: 'm1', model: 'c', created: null },
    { type: 'usage', usage: { ...usage, outputTokens: 1 }, serviceTier: null },
    { type: 'text-delta', choice: 0, text: 'Hi' },
    { type: 'usage', usage: { ...usage, outputTokens: 9 }, serviceTier: null },
    { type: 'response-end', finishes: [{ choice: 0, reason: 'stop', native: 'end_turn' }] },
  ])
})

describe('blocks', () => {
  const detail = (fields: JsonObject, index: number): InferenceEvent => ({
    type: 'reasoning-detail',
    choice: 0,
    detail: { type: 'reasoning.text', ...fields, format: 'anthropic-claude-v1', index },
  })
  const call = (index: number, id: string): InferenceEvent => ({
    type: 'tool-call-start',
    choice: 0,
    index,
    id,
    name: 'f',
  })
  const json = (index: number, text: string): InferenceEvent => ({
    type: 'tool-call-delta',
    choice: 0,
    index,
    json: text,
  })
  const END = [finish('end_turn'), STOP]
  const rows: [what: string, events: JsonObject[], expected: InferenceEvent[]][] = [
    [
      'a text that is there at its start, and a start that is missing',
      [block(0, { type: 'text', text: 'A' }), stop(0), delta(1, { type: 'text_delta', text: 'B' }), ...END],
      [
        { type: 'text-delta', choice: 0, text: 'A' },
        { type: 'text-delta', choice: 0, text: 'B' },
      ],
    ],
    [
      'thoughts are counted, in pieces and complete',
      [
        block(0, { type: 'thinking', thinking: '' }),
        delta(0, { type: 'thinking_delta', thinking: 'hm' }),
        delta(0, { type: 'signature_delta', signature: 's0' }),
        stop(0),
        block(1, { type: 'thinking', thinking: 'so', signature: 's1' }),
        stop(1),
        block(2, { type: 'redacted_thinking', data: 'zz' }),
        stop(2),
        ...END,
      ],
      [
        { type: 'reasoning-delta', choice: 0, text: 'hm' },
        detail({ text: 'hm' }, 0),
        detail({ signature: 's0' }, 0),
        { type: 'reasoning-delta', choice: 0, text: 'so' },
        detail({ text: 'so', signature: 's1' }, 1),
        detail({ type: 'reasoning.encrypted', data: 'zz' }, 2),
      ],
    ],
    [
      'calls: in fragments, complete at the start, without arguments, left open',
      [
        block(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
        delta(0, { type: 'input_json_delta', partial_json: '{"x":' }),
        delta(0, { type: 'input_json_delta', partial_json: '1}' }),
        stop(0),
        block(3, { type: 'tool_use', id: 'b', name: 'f', input: { y: 2 } }),
        stop(3),
        block(4, { type: 'tool_use', id: 'c', name: 'f', input: {} }),
        delta(4, { type: 'input_json_delta', partial_json: '' }),
        stop(4),
        block(5, { type: 'tool_use', id: 'd', name: 'f' }),
        finish('tool_use'),
        STOP,
      ],
      [
        call(0, 'a'),
        json(0, '{"x":'),
        json(0, '1}'),
        call(1, 'b'),
        json(1, '{"y":2}'),
        call(2, 'c'),
        json(2, '{}'),
        call(3, 'd'),
        json(3, '{}'),
      ],
    ],
    [
      'a call that the bound cut before its arguments',
      [block(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }), finish('max_tokens'), STOP],
      [call(0, 'a')],
    ],
    [
      'what runs at the provider has no neutral form',
      [
        block(0, { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} }),
        delta(0, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
        stop(0),
        block(1, { type: 'compaction', content: null }),
        delta(1, { type: 'compaction_delta', content: 'c', encrypted_content: 'e' }),
        stop(1),
        delta(2, { type: 'text_delta', text: 'Hi' }),
        ...END,
      ],
      [{ type: 'text-delta', choice: 0, text: 'Hi' }],
    ],
    [
      'the explanation of a refusal',
      [
        { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: { explanation: 'No.' } } },
        STOP,
      ],
      [{ type: 'refusal-delta', choice: 0, text: 'No.' }],
    ],
    [
      'events of tomorrow',
      [{ type: 'content_block_spin', index: 0 }, HI, ...END],
      [{ type: 'text-delta', choice: 0, text: 'Hi' }],
    ],
  ]
  test.each(rows)('%s', async (_, events, expected) => {
    expect(await eventsOf(events)).toEqual(expected)
  })
})

const isOwnPiece = (data: unknown): boolean => isObject(data) && 'own' in data

describe('for a writer of this dialect', () => {
  const text = (index: number) => block(index, { type: 'text', text: '' })
  const UNCLOSED = [
    START,
    text(0),
    delta(0, { type: 'text_delta', text: 'a', lean: 1 }),
    text(1),
    HI,
    finish('end_turn'),
    STOP,
  ]
  const SENT_UNCHANGED = [
    START,
    block(0, { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} }),
    delta(0, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
    stop(0),
    { type: 'content_block_spin', speed: 2 },
    block(1, { type: 'compaction', content: null }),
    delta(1, { type: 'compaction_delta', content: 'c', encrypted_content: 'e' }),
    stop(1),
    { ...finish('end_turn'), context_management: { applied_edits: [] } },
    STOP,
  ]
  const [searched, compacted] = [
    { type: 'server_tool_use', id: 'srv', name: 'web_search', input: { query: 'x' } },
    { type: 'compaction', content: 'c', encrypted_content: 'e' },
  ]
  const rows: [what: string, events: JsonObject[], expected: JsonObject[]][] = [
    [
      'plain text has only its neutral event',
      [START, text(0), HI, HI, stop(0), finish('end_turn'), STOP],
      [START, text(0), stop(0), finish('end_turn'), STOP],
    ],
    [
      'text with an unknown field, and text of a block that is not the last',
      UNCLOSED,
      [...UNCLOSED, stop(0), stop(1)],
    ],
    [
      'a missing start, a missing stop, and indexes with gaps',
      [START, delta(4, { type: 'thinking_delta', thinking: 'hm' }), text(9), finish('end_turn'), STOP],
      [
        START,
        block(0, { type: 'thinking', thinking: '', signature: '' }),
        delta(0, { type: 'thinking_delta', thinking: 'hm' }),
        text(1),
        finish('end_turn'),
        STOP,
        stop(0),
        stop(1),
      ],
    ],
    ['a tool that the provider runs, and unknown events', SENT_UNCHANGED, SENT_UNCHANGED],
    [
      'a second start continues the same message',
      [START, text(0), HI, START, text(0), HI, stop(0), finish('end_turn'), STOP],
      [START, text(0), stop(0), text(1), stop(1), finish('end_turn'), STOP],
    ],
  ]
  test.each(rows)('%s', async (_, events, expected) => {
    const relayed = (await nativesOf(stream(events))).filter((data) => !isOwnPiece(data))
    expect(relayed).toEqual(expected.map((event) => ({ event })))
  })

  test('blocks of what ran at the provider come once more, when they are complete', async () => {
    const pieces: unknown[] = (await nativesOf(stream(SENT_UNCHANGED))).filter(isOwnPiece)
    expect(pieces).toEqual([searched, compacted].map((own) => ({ own })))
  })

  test('a complete message', async () => {
    const message = { ...START.message, content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' }
    expect(await nativesOf(JSON.stringify(message))).toEqual([{ message }])
  })
})
