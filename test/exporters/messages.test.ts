import { expect, test } from 'bun:test'
import { plainMessages } from '../../src/exporters/messages.ts'

const call = { id: 'c1', name: 'weather', arguments: '{"city":"Paris"}' }
const plain = (role: string, content: string, more: object = {}) => ({
  role,
  content,
  toolCalls: [],
  toolCallId: undefined,
  ...more,
})

test('a prompt is the message of a user', () => {
  expect(plainMessages({ prompt: 'Hi' })).toEqual([plain('user', 'Hi')])
})

test.each([
  ['chat', { role: 'user', content: 'Hi' }, plain('user', 'Hi')],
  [
    'chat, in parts',
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', media_type: 'image/png', bytes: 9 },
      ],
    },
    plain('user', 'a\n{"type":"image","media_type":"image/png","bytes":9}'),
  ],
  [
    'chat, a call',
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
      ],
    },
    plain('assistant', '', { toolCalls: [call] }),
  ],
  [
    'chat, a result',
    { role: 'tool', tool_call_id: 'c1', content: 'rain' },
    plain('tool', 'rain', { toolCallId: 'c1' }),
  ],
  [
    'Messages, a call',
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Paris' } },
      ],
    },
    plain('assistant', 'I look.', { toolCalls: [call] }),
  ],
  [
    'Messages, a result',
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'rain' }] }],
    },
    plain('user', 'rain', { toolCallId: 'c1' }),
  ],
  [
    'Responses, a call',
    { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Paris"}' },
    plain('assistant', '', { toolCalls: [call] }),
  ],
  [
    'Responses, a result',
    { type: 'function_call_output', call_id: 'c1', output: 'rain' },
    plain('tool', 'rain', { toolCallId: 'c1' }),
  ],
  [
    'Gemini, a call',
    {
      role: 'model',
      parts: [{ text: 'I look.' }, { functionCall: { id: 'c1', name: 'weather', args: { city: 'Paris' } } }],
    },
    plain('model', 'I look.', { toolCalls: [call] }),
  ],
  ['a ranking', { query: 'q', documents: ['a'] }, plain('user', '{"query":"q","documents":["a"]}')],
  ['a text', 'Hi', plain('user', 'Hi')],
])('a message of %s', (_, message, expected) => {
  expect(plainMessages({ messages: [message] })).toEqual([expected])
})
