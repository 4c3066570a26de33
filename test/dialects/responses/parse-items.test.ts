import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { OWN_ITEMS } from '../../../src/dialects/responses/schema-items.ts'
import { parse } from './frames.ts'

const rows: [string, JsonObject[], unknown][] = [
  [
    'roles, with and without a type',
    [
      { type: 'message', role: 'developer', content: 'a' },
      { role: 'system', content: [{ type: 'input_text', text: 'b' }] },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'c' },
          { type: 'input_text', text: 'd' },
        ],
      },
      { role: 'assistant', content: 'e' },
      { role: 'user', content: null },
    ],
    [
      { role: 'developer', content: 'a' },
      { role: 'system', content: 'b' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'c' },
          { type: 'text', text: 'd' },
        ],
      },
      { role: 'assistant', content: 'e' },
      { role: 'user', content: '' },
    ],
  ],
  [
    'parts of every kind',
    [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 't', cache_control: { type: 'ephemeral' } },
          { type: 'input_image', image_url: 'https://a.example/i.png', detail: 'low' },
          { type: 'input_image', file_id: 'file-1', detail: 'auto' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
          { type: 'input_file', file_url: 'https://a.example/a.pdf' },
          { type: 'input_file', file_id: 'file-2' },
          { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
          { type: 'input_video', video_url: 'https://a.example/v.mp4', processing: 'static' },
        ],
      },
    ],
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 't', extra: { cache_control: { type: 'ephemeral' } } },
          { type: 'image', url: 'https://a.example/i.png', detail: 'low' },
          { type: 'unknown', data: { type: 'input_image', file_id: 'file-1', detail: 'auto' } },
          { type: 'file', data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
          { type: 'file', data: 'https://a.example/a.pdf' },
          { type: 'file', fileId: 'file-2' },
          { type: 'audio', data: 'UklG', format: 'wav' },
          { type: 'video', url: 'https://a.example/v.mp4', extra: { processing: 'static' } },
        ],
      },
    ],
  ],
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
    'results stand behind their calls, whatever was said while the tools ran',
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
  [
    'a refusal',
    [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }],
    [{ role: 'assistant', content: null, refusal: 'No.' }],
  ],
  [
    'a namespace is a prefix',
    [{ type: 'function_call', call_id: 'c', name: 'find', namespace: 'crm', arguments: '{}' }],
    [{ role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'crm__find', arguments: '{}' }] }],
  ],
  [
    'unknown fields of a call travel with it',
    [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '', extra_content: { google: 1 } }],
    [
      {
        role: 'assistant',
        content: null,
        toolCalls: [{ id: 'c', name: 'f', arguments: '', extra: { extra_content: { google: 1 } } }],
      },
    ],
  ],
  [
    'an agent is heard',
    [
      {
        type: 'agent_message',
        author: 'scout',
        recipient: 'root',
        content: [
          { type: 'input_text', text: 'Found.' },
          { type: 'encrypted_content', encrypted_content: 'g' },
        ],
      },
      { type: 'agent_message', content: 'Done.' },
    ],
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Found.' },
          { type: 'unknown', data: { type: 'encrypted_content', encrypted_content: 'g' } },
        ],
      },
      { role: 'user', content: 'Done.' },
    ],
  ],
  [
    'bare strings of a summary, and a signature',
    [
      {
        type: 'reasoning',
        id: 'rs',
        summary: ['a'],
        content: [{ type: 'reasoning_text', text: 'b' }],
        signature: 's',
        format: 'anthropic-claude-v1',
      },
    ],
    [
      {
        role: 'assistant',
        content: null,
        reasoning: 'ab',
        reasoningDetails: [
          { type: 'reasoning.summary', summary: 'a', id: 'rs', format: 'anthropic-claude-v1', index: 0 },
          {
            type: 'reasoning.text',
            text: 'b',
            signature: 's',
            id: 'rs',
            format: 'anthropic-claude-v1',
            index: 1,
          },
        ],
      },
    ],
  ],
]
test.each(rows)('%s', (_, input, messages) => {
  expect<unknown>(parse({ input }).messages).toEqual(messages)
})

const others = [...OWN_ITEMS, 'openrouter:web_search', 'openrouter:experimental__search_models']
test.each(others)('%s is carried by its own dialect, and named to others', (type) => {
  const item = { type, id: 'x', status: 'completed', anything: [1] }
  const { messages } = parse({
    input: [{ role: 'user', content: 'a' }, item, { role: 'assistant', content: 'b' }],
  })
  expect(messages).toEqual([
    { role: 'user', content: 'a' },
    {
      role: 'assistant',
      content: [
        { type: 'unknown', data: item },
        { type: 'text', text: 'b' },
      ],
    },
  ])
})

test.each(['computer_call', 'shell_call', 'apply_patch_call', 'local_shell_call'])(
  '%s and its output',
  (type) => {
    const input = [
      { type, id: 'x', call_id: 'c', action: {} },
      { type: `${type}_output`, call_id: 'c', output: {} },
    ]
    expect(parse({ input }).messages).toEqual([
      { role: 'assistant', content: input.map((data) => ({ type: 'unknown', data })) },
    ])
  },
)

test('the last update of the effort holds', () => {
  const update = (effort: string) => ({ type: 'configuration_update', reasoning: { effort } })
  const input = [update('low'), { role: 'user', content: 'x' }, update('high')]
  expect(parse({ input, reasoning: { effort: 'medium', summary: 'auto' } }).reasoning).toEqual({
    effort: 'high',
    summary: 'auto',
  })
})
