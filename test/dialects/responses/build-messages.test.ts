import { describe } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { HELLO, type Row } from '../build-table.ts'
import { attemptOf } from './attempt.ts'
import { table } from './built.ts'

describe('messages', () => {
  const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
  const asked = (content: unknown) => ({ input: [{ role: 'user', content }] })
  const PDF = 'data:application/pdf;base64,JVBERi0='
  const breakpoint = { prompt_cache_breakpoint: { mode: 'explicit' } }
  const call = (id: string, json: string, more: JsonObject = {}) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: json },
    ...more,
  })
  const details = [
    { type: 'reasoning.summary', summary: 'Two ', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
    { type: 'reasoning.summary', summary: 'calls.', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
    { type: 'reasoning.encrypted', data: 'c2VhbGVk', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
  ]
  const thought = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Two calls.' }],
    encrypted_content: 'c2VhbGVk',
  }
  table([
    [
      'instructions, at their places',
      {
        messages: [
          { role: 'developer', content: [{ type: 'text', text: 'One.' }] },
          ...HELLO,
          { role: 'system', content: 'Two.' },
        ],
      },
      {
        input: [
          { role: 'developer', content: [{ type: 'input_text', text: 'One.' }] },
          ...HELLO,
          { role: 'system', content: 'Two.' },
        ],
      },
    ],
    [
      'instructions for a provider without the role developer',
      { messages: [{ role: 'developer', content: 'One.' }, ...HELLO] },
      { input: [{ role: 'system', content: 'One.' }, ...HELLO] },
      [],
      attemptOf(undefined, {}, { quirks: { developerRole: false } }),
    ],
    [
      'text and an image',
      user([
        { type: 'text', text: 'What?', ...breakpoint },
        { type: 'image_url', image_url: { url: 'https://x.example/a.png' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
      ]),
      asked([
        { type: 'input_text', text: 'What?', ...breakpoint },
        { type: 'input_image', image_url: 'https://x.example/a.png', detail: 'auto' },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' },
      ]),
    ],
    [
      'files',
      user([
        { type: 'file', file: { file_data: PDF } },
        { type: 'file', file: { file_data: PDF, filename: 'a.pdf' } },
        { type: 'file', file: { file_data: 'https://x.example/a.pdf', filename: 'a.pdf' } },
        { type: 'file', file: { file_id: 'file-1' } },
      ]),
      asked([
        { type: 'input_file', file_data: PDF, filename: 'file.pdf' },
        { type: 'input_file', file_data: PDF, filename: 'a.pdf' },
        { type: 'input_file', file_url: 'https://x.example/a.pdf' },
        { type: 'input_file', file_id: 'file-1' },
      ]),
    ],
    [
      'audio and video',
      user([
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'video_url', video_url: { url: 'https://x.example/a.mp4' } },
      ]),
      asked([
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'input_video', video_url: 'https://x.example/a.mp4' },
      ]),
    ],
    ['a name', { messages: [{ role: 'user', name: 'ann', content: 'Hello' }] }, {}, ['messages.name']],
    [
      'a turn of tools with its reasoning',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'I look.',
            reasoning_details: details,
            tool_calls: [call('a', '{"x":1}'), call('b', '')],
          },
          { role: 'tool', tool_call_id: 'a', content: 'one' },
          {
            role: 'tool',
            tool_call_id: 'b',
            content: [
              { type: 'text', text: 'two' },
              { type: 'image_url', image_url: { url: 'https://x.example/b.png' } },
            ],
          },
        ],
      },
      {
        input: [
          ...HELLO,
          thought,
          { role: 'assistant', content: 'I look.' },
          { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' },
          { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'a', output: 'one' },
          {
            type: 'function_call_output',
            call_id: 'b',
            output: [
              { type: 'input_text', text: 'two' },
              { type: 'input_image', image_url: 'https://x.example/b.png', detail: 'auto' },
            ],
          },
        ],
      },
    ],
    [
      'a call of a custom tool',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: '1' }] },
        ],
      },
      {
        input: [
          ...HELLO,
          { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'SELECT 1' },
          { type: 'custom_tool_call_output', call_id: 'c', output: '1' },
        ],
      },
    ],
    [
      'earlier answers',
      {
        messages: [
          ...HELLO,
          { role: 'assistant', content: [{ type: 'text', text: 'One.' }], phase: 'commentary' },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
          { role: 'assistant', content: null, refusal: 'No.' },
          { role: 'assistant', content: '' },
        ],
      },
      {
        input: [
          ...HELLO,
          { role: 'assistant', content: 'One.', phase: 'commentary' },
          {
            type: 'message',
            role: 'assistant',
            content: [
              { type: 'output_text', text: 'a' },
              { type: 'output_text', text: 'b' },
            ],
          },
          { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        ],
      },
    ],
    [
      'raw thoughts of an open model',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'A.',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Hm.', id: 'r', format: 'openai-responses-v1', index: 0 },
            ],
          },
        ],
      },
      {
        input: [
          ...HELLO,
          {
            type: 'reasoning',
            id: 'r',
            summary: [],
            content: [{ type: 'reasoning_text', text: 'Hm.' }],
          },
          { role: 'assistant', content: 'A.' },
        ],
      },
    ],
    ...(
      [
        [
          'thoughts that other providers signed',
          {
            reasoning_details: [
              { type: 'reasoning.text', text: 'x', signature: 's', format: 'anthropic-claude-v1', index: 0 },
            ],
          },
          'messages.reasoning_details',
        ],
        [
          'thoughts of Claude at Bedrock, whose parts have no index',
          {
            reasoning_details: [
              { type: 'reasoning.text', text: 'x', index: 0 },
              { type: 'reasoning.text', signature: 's', format: 'anthropic-claude-v1', index: 0 },
            ],
          },
          'messages.reasoning_details',
        ],
        [
          'a summary without encrypted content',
          { reasoning_details: [details[0]] },
          'messages.reasoning_details',
        ],
        ['thoughts as bare text', { reasoning: 'Hm.' }, 'messages.reasoning'],
      ] as const
    ).map(
      ([what, thoughts, dropped]): Row => [
        what,
        { messages: [...HELLO, { role: 'assistant', content: 'A.', ...thoughts }] },
        { input: [...HELLO, { role: 'assistant', content: 'A.' }] },
        [dropped],
      ],
    ),
    [
      'thoughts of other providers, to a gateway',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'A.',
            reasoning_details: [
              { type: 'reasoning.text', text: 'x', signature: 's', format: 'anthropic-claude-v1', index: 0 },
            ],
          },
        ],
      },
      {
        input: [
          ...HELLO,
          {
            type: 'reasoning',
            summary: [],
            content: [{ type: 'reasoning_text', text: 'x' }],
            format: 'anthropic-claude-v1',
            signature: 's',
          },
          { role: 'assistant', content: 'A.' },
        ],
      },
      [],
      attemptOf(undefined, {}, { quirks: { reasoningField: 'reasoning' } }),
    ],
  ])
})
