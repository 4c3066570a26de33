import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { OWN_ITEMS } from '../../../src/dialects/responses/schema-items.ts'
import { parse } from './written.ts'

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
    'a refusal',
    [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }],
    [{ role: 'assistant', content: null, refusal: 'No.' }],
  ],
  [
    'a namespace is a prefix of the name',
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
    'a message of an agent is a user message',
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

test.each(others)('%s is carried to its own dialect, and dropped by name for others', (type) => {
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
