import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { HELLO } from '../build-table.ts'
import { built, table } from './built.ts'

describe('messages', () => {
  const sent = (messages: JsonObject[], system?: unknown): JsonObject =>
    system === undefined ? { messages } : { messages, system }
  const png = 'data:image/png;base64,iVBORw0KGgo='
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
  const MARK = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const call = (id: string, json: string) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: json },
  })
  const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
  table([
    [
      'one instruction',
      { messages: [{ role: 'system', content: 'Be brief.' }, ...HELLO] },
      sent(HELLO, 'Be brief.'),
    ],
    [
      'instructions at any place',
      {
        messages: [
          { role: 'developer', content: [{ type: 'text', text: 'One.', ...MARK }] },
          ...HELLO,
          { role: 'system', content: 'Two.' },
        ],
      },
      sent(HELLO, [
        { type: 'text', text: 'One.', ...MARK },
        { type: 'text', text: 'Two.' },
      ]),
    ],
    [
      'only instructions',
      { messages: [{ role: 'system', content: 'Write.' }] },
      sent([{ role: 'user', content: 'Write.' }]),
    ],
    [
      'consecutive turns of one role, and empty ones',
      {
        messages: [
          ...HELLO,
          { role: 'user', content: [{ type: 'text', text: '' }] },
          { role: 'assistant', content: '\n\n' },
          { role: 'user', content: [{ type: 'text', text: ' ' }] },
          { role: 'user', content: 'there' },
          { role: 'assistant', content: '' },
        ],
      },
      sent([
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hello' },
            { type: 'text', text: 'there' },
          ],
        },
      ]),
    ],
    [
      'a prefilled answer, a name, an earlier refusal',
      {
        messages: [
          { role: 'user', name: 'Ann', content: 'a' },
          { role: 'assistant', refusal: 'No.' },
          { role: 'user', content: 'b' },
          { role: 'assistant', content: 'Well, \n' },
        ],
      },
      sent([
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'No.' },
        { role: 'user', content: 'b' },
        { role: 'assistant', content: 'Well,' },
      ]),
      ['messages.name'],
    ],
    [
      'an empty prefilled answer',
      { messages: [...HELLO, { role: 'assistant', content: ' \n' }] },
      sent(HELLO),
    ],
    [
      'images',
      user([
        { type: 'image_url', image_url: { url: png, detail: 'high' }, ...MARK },
        { type: 'image_url', image_url: { url: 'https://a.example/i.png', detail: 'auto' } },
      ]),
      sent([
        {
          role: 'user',
          content: [
            { type: 'image', source, ...MARK },
            { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' } },
          ],
        },
      ]),
      ['image_url.detail'],
    ],
    [
      'files',
      user([
        {
          type: 'file',
          file: { file_data: 'data:application/pdf;base64,JVBERg==', filename: 'a.pdf' },
          ...MARK,
        },
        { type: 'file', file: { file_data: 'https://a.example/b.pdf' } },
        { type: 'file', file: { file_data: 'JVBERg==' } },
        { type: 'file', file: { file_data: 'data:text/plain,caf%C3%A9' } },
        { type: 'file', file: { file_data: png } },
        { type: 'file', file: { file_data: 'data:application/zip;base64,UEs=' } },
      ]),
      sent([
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
              title: 'a.pdf',
              ...MARK,
            },
            { type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'café' } },
            { type: 'image', source },
          ],
        },
      ]),
      ['content.file'],
    ],
    [
      'content that the dialect does not have',
      user([
        { type: 'text', text: 'Hello' },
        { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
        { type: 'video_url', video_url: { url: 'https://a.example/v' } },
        { type: 'hologram' },
      ]),
      {},
      ['content.input_audio', 'content.video_url', 'content.hologram'],
    ],
    [
      'calls and their results',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'I look.',
            tool_calls: [call('a:1', '{"x":1}'), call('b', 'null'), call('c', '{"x')],
          },
          { role: 'tool', tool_call_id: 'a:1', content: 'one' },
          {
            role: 'tool',
            tool_call_id: 'b',
            content: [
              { type: 'text', text: 'two', ...MARK },
              { type: 'image_url', image_url: { url: png } },
            ],
          },
          { role: 'tool', tool_call_id: 'c', content: '', is_error: true, ...MARK },
          { role: 'user', content: 'And?' },
        ],
      },
      sent([
        ...HELLO,
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'a_1', name: 'f', input: { x: 1 } },
            { type: 'tool_use', id: 'b', name: 'f', input: {} },
            { type: 'tool_use', id: 'c', name: 'f', input: { INVALID_JSON: '{"x' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a_1', content: 'one' },
            {
              type: 'tool_result',
              tool_use_id: 'b',
              content: [
                { type: 'text', text: 'two' },
                { type: 'image', source },
              ],
              ...MARK,
            },
            { type: 'tool_result', tool_use_id: 'c', is_error: true, ...MARK },
            { type: 'text', text: 'And?' },
          ],
        },
      ]),
    ],
    [
      'a cache_control marker on a message',
      { messages: [{ role: 'user', content: 'Hello', ...MARK }] },
      sent([{ role: 'user', content: [{ type: 'text', text: 'Hello', ...MARK }] }]),
    ],
    [
      'thoughts: complete, in pieces, redacted, without a text',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'Done.',
            reasoning: 'hm so',
            reasoning_details: [
              {
                type: 'reasoning.text',
                text: 'hm',
                signature: 's0',
                format: 'anthropic-claude-v1',
                index: 0,
              },
              { type: 'reasoning.text', text: 's', format: 'anthropic-claude-v1', index: 1 },
              { type: 'reasoning.text', text: 'o', format: 'anthropic-claude-v1', index: 1 },
              { type: 'reasoning.text', signature: 's1', format: 'anthropic-claude-v1', index: 1 },
              { type: 'reasoning.encrypted', data: 'zzz', format: 'anthropic-claude-v1', index: 2 },
              { type: 'reasoning.text', signature: 's3', index: 3 },
            ],
          },
          { role: 'user', content: 'Go on' },
        ],
      },
      sent([
        ...HELLO,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's0' },
            { type: 'thinking', thinking: 'so', signature: 's1' },
            { type: 'redacted_thinking', data: 'zzz' },
            { type: 'thinking', thinking: '', signature: 's3' },
            { type: 'text', text: 'Done.' },
          ],
        },
        { role: 'user', content: 'Go on' },
      ]),
    ],
    [
      'thoughts of other providers',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'Done.',
            reasoning_details: [
              { type: 'reasoning.encrypted', data: 'zzz', format: 'openai-responses-v1' },
              { type: 'reasoning.text', text: 'unsigned' },
            ],
          },
          { role: 'user', content: 'Go on' },
          { role: 'assistant', content: 'Well', reasoning: 'text alone' },
        ],
      },
      sent([
        ...HELLO,
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: 'Go on' },
        { role: 'assistant', content: 'Well' },
      ]),
      ['messages.reasoning_details', 'messages.reasoning'],
    ],
  ])

  test('a document by its id is behind a beta', () => {
    const { headers, body } = built(user([{ type: 'file', file: { file_id: 'file_1' } }]))
    expect(headers).toEqual({ 'anthropic-version': '2023-06-01', 'anthropic-beta': 'files-api-2025-04-14' })
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }] },
    ])
  })
})
