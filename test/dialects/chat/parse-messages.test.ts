import { expect, test } from 'bun:test'
import { parse } from './parsed.ts'

test('parts of every type, with their markers; unknown ones unchanged', () => {
  const cache = { cache_control: { type: 'ephemeral' } }
  const content = [
    { type: 'text', text: 'x', ...cache },
    { type: 'image_url', image_url: { url: 'https://a.example/i.png', detail: 'low' } },
    { type: 'image_url', image_url: 'https://a.example/j.png' },
    { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
    { type: 'file', file: { file_data: 'data:,x', filename: 'x.txt' }, ...cache },
    { type: 'file', file: { file_id: 'file_1' } },
    { type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } },
    { type: 'input_video', video_url: { url: 'https://a.example/w.mp4' } },
    { type: 'hologram', text: 5 },
  ]
  expect(parse({ messages: [{ role: 'user', content, name: 'Ann', mood: 'good' }] }).messages).toEqual([
    {
      role: 'user',
      name: 'Ann',
      extra: { mood: 'good' },
      content: [
        { type: 'text', text: 'x', extra: cache },
        { type: 'image', url: 'https://a.example/i.png', detail: 'low' },
        { type: 'image', url: 'https://a.example/j.png' },
        { type: 'audio', data: 'AA==', format: 'wav' },
        { type: 'file', data: 'data:,x', filename: 'x.txt', extra: cache },
        { type: 'file', fileId: 'file_1' },
        { type: 'video', url: 'https://a.example/v.mp4' },
        { type: 'video', url: 'https://a.example/w.mp4' },
        { type: 'unknown', data: { type: 'hologram', text: 5 } },
      ],
    },
  ])
})

test('a turn with tool calls, reasoning and its answer', () => {
  const details = [{ type: 'reasoning.encrypted', data: 'zzz' }]
  const messages = [
    { role: 'developer', content: 'be brief' },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'hm',
      reasoning_details: details,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'f', arguments: '{' }, extra_content: { a: 1 } },
        { id: 'c2', type: 'custom', custom: { name: 'g', input: 'x' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: '42' },
  ]
  expect(parse({ messages }).messages).toEqual([
    { role: 'developer', content: 'be brief' },
    {
      role: 'assistant',
      content: null,
      reasoning: 'hm',
      reasoningDetails: details,
      toolCalls: [
        { id: 'c1', name: 'f', arguments: '{', extra: { extra_content: { a: 1 } } },
        {
          id: 'c2',
          name: 'g',
          arguments: 'x',
          extra: { type: 'custom' },
        },
      ],
    },
    { role: 'tool', content: '42', toolCallId: 'c1' },
  ])
})

test('tools and their choice', () => {
  const fn = { type: 'function', function: { name: 'f', description: 'd', parameters: {}, strict: null } }
  const search = { type: 'web_search', parameters: { max_results: 3 } }
  const request = parse({ tools: [fn, search], tool_choice: { type: 'function', function: { name: 'f' } } })
  expect(request.tools).toEqual([
    { type: 'function', name: 'f', description: 'd', parameters: {} },
    { type: 'other', data: search },
  ])
  expect(request.toolChoice).toEqual({ type: 'function', name: 'f' })
  expect(parse({ tools: [fn], tool_choice: 'required' }).toolChoice).toBe('required')
  expect(parse({ tool_choice: 'auto' }).toolChoice).toBe('auto')
  expect(parse({ tool_choice: { type: 'web_search' } }).toolChoice).toEqual({
    type: 'other',
    data: { type: 'web_search' },
  })
})
