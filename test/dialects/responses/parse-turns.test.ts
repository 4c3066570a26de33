import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { parse } from './written.ts'

const rows: [string, JsonObject[], unknown][] = [
  [
    'a turn of the model: reasoning, text and calls are one message',
    [
      { role: 'user', content: 'x' },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Two calls.' }],
        encrypted_content: 'gAAA',
      },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'I look.', annotations: [], logprobs: [] }],
      },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'a',
        name: 'f',
        arguments: '{"b":1}',
        status: 'completed',
      },
      { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: 'a\n"b"' },
      { type: 'function_call_output', call_id: 'a', output: 'one' },
      {
        type: 'custom_tool_call_output',
        call_id: 'b',
        output: [
          { type: 'input_text', text: 'two' },
          { type: 'input_image', image_url: 'https://a.example/i.png' },
        ],
      },
    ],
    [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        content: 'I look.',
        extra: { phase: 'commentary' },
        reasoning: 'Two calls.',
        reasoningDetails: [
          {
            type: 'reasoning.summary',
            summary: 'Two calls.',
            id: 'rs_1',
            format: 'openai-responses-v1',
            index: 0,
          },
          { type: 'reasoning.encrypted', data: 'gAAA', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
        ],
        toolCalls: [
          { id: 'a', name: 'f', arguments: '{"b":1}' },
          { id: 'b', name: 'patch', arguments: '{"input":"a\\n\\"b\\""}' },
        ],
      },
      { role: 'tool', toolCallId: 'a', content: 'one' },
      {
        role: 'tool',
        toolCallId: 'b',
        content: [
          { type: 'text', text: 'two' },
          { type: 'image', url: 'https://a.example/i.png' },
        ],
      },
    ],
  ],
  [
    'text after calls stays before their outputs',
    [
      { role: 'assistant', content: 'a' },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { role: 'assistant', content: 'b' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
    ],
    [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
        toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }],
      },
      { role: 'tool', toolCallId: 'c', content: 'x' },
    ],
  ],
  [
    'results follow their calls, even if there were messages in between',
    [
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
      { role: 'user', content: 'meanwhile' },
      { type: 'function_call_output', call_id: 'b', output: 'two' },
      { role: 'assistant', content: 'still waiting' },
      { type: 'function_call_output', call_id: 'a', output: 'one' },
    ],
    [
      {
        role: 'assistant',
        content: null,
        toolCalls: [
          { id: 'a', name: 'f', arguments: '{}' },
          { id: 'b', name: 'f', arguments: '{}' },
        ],
      },
      { role: 'tool', toolCallId: 'b', content: 'two' },
      { role: 'tool', toolCallId: 'a', content: 'one' },
      { role: 'user', content: 'meanwhile' },
      { role: 'assistant', content: 'still waiting' },
    ],
  ],
  [
    'two texts are two messages',
    [
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'b' },
    ],
    [
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'b' },
    ],
  ],
]

test.each(rows)('%s', (_, input, messages) => {
  expect<unknown>(parse({ input }).messages).toEqual(messages)
})

test('the last update of the effort wins', () => {
  const update = (effort: string) => ({ type: 'configuration_update', reasoning: { effort } })
  const input = [update('low'), { role: 'user', content: 'x' }, update('high')]
  expect(parse({ input, reasoning: { effort: 'medium', summary: 'auto' } }).reasoning).toEqual({
    effort: 'high',
    summary: 'auto',
  })
})
