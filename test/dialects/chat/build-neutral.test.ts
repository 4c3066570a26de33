import { expect, test } from 'bun:test'
import type { InferenceRequest } from '../../../src/core/request.ts'
import { neutralBody, type Taken } from '../../../src/dialects/chat/build-neutral.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'
import { dropsInto } from '../../../src/dialects/dropped.ts'

const bodyOf = (request: InferenceRequest, taken: Taken, dropped: string[]) =>
  neutralBody(request, taken, dropsInto(dropped))

const PLAIN = { takesReasoning: false, takesMarks: false, takesImages: true }

const request: InferenceRequest = {
  apiType: 'messages',
  dialect: 'messages',
  body: { system: 'theirs' },
  models: ['a/b'],
  stream: false,
  messages: [
    { role: 'system', content: 'be brief' },
    {
      role: 'user',
      name: 'Ann',
      content: [
        { type: 'text', text: 'x', extra: { cache_control: {} } },
        { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' },
        { type: 'audio', data: 'AA', format: 'wav' },
        { type: 'file', data: 'data:,f', filename: 'f.txt' },
        { type: 'file', fileId: 'file_1' },
        { type: 'video', url: 'https://a.example/v' },
        { type: 'unknown', data: { type: 'search_result' } },
        { type: 'unknown', data: { type: 'search_result' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      reasoning: 'hm',
      reasoningDetails: [{ type: 'reasoning.text', text: 'hm', signature: 's' }],
      toolCalls: [{ id: 'c', name: 'f', arguments: '{}', extra: { odd: 1 } }],
    },
    { role: 'tool', toolCallId: 'c', content: '42' },
  ],
  tools: [
    { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
    { type: 'other', data: { type: 'web_search_20250305' } },
  ],
  toolChoice: { type: 'function', name: 'f' },
  parallelToolCalls: false,
  sampling: { temperature: 0, topP: 1, topK: 3, stop: ['x'], seed: 0 },
  maxOutputTokens: 5,
  preferences: { allowFallbacks: true, requireParameters: false },
  echoUpstreamBody: false,
  parameters: [],
}

const written = {
  messages: [
    { role: 'system', content: 'be brief' },
    {
      role: 'user',
      name: 'Ann',
      content: [
        { type: 'text', text: 'x' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
        { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
        { type: 'file', file: { file_data: 'data:,f', filename: 'f.txt' } },
        { type: 'file', file: { file_id: 'file_1' } },
        { type: 'video_url', video_url: { url: 'https://a.example/v' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: '42' },
  ],
  tools: [
    {
      type: 'function',
      function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
    },
  ],
  tool_choice: { type: 'function', function: { name: 'f' } },
  parallel_tool_calls: false,
  temperature: 0,
  top_p: 1,
  top_k: 3,
  stop: ['x'],
  seed: 0,
}

test('a request of another dialect, with the names of dropped fields', () => {
  const dropped: string[] = []
  expect(bodyOf(request, PLAIN, dropped)).toEqual(written)
  expect(dropped.toSorted()).toEqual([
    'cache_control',
    'content.search_result',
    'messages.reasoning',
    'tools.web_search_20250305',
  ])
})

test('earlier reasoning is sent to providers that accept it', () => {
  const dropped: string[] = []
  const { messages } = bodyOf(request, { ...PLAIN, takesReasoning: true }, dropped)
  expect(messages).toMatchObject([{}, {}, { reasoning: 'hm', reasoning_details: [{ signature: 's' }] }, {}])
  expect(dropped).not.toContain('messages.reasoning')
})

test('a tool choice is not sent if no tool can be', () => {
  const tools: InferenceRequest['tools'] = [{ type: 'other', data: { type: 'bash' } }]
  const body = bodyOf({ ...request, tools }, PLAIN, [])
  expect(Object.keys(body)).not.toContain('tools')
  expect(Object.keys(body)).not.toContain('tool_choice')
  expect(Object.keys(body)).not.toContain('parallel_tool_calls')
})

test('a chat request that is parsed and built again is unchanged', () => {
  const { messages, tools, tool_choice } = written
  const body = {
    messages,
    tools,
    tool_choice,
    temperature: 0.5,
    response_format: { type: 'json_object' },
    n: 2,
  }
  expect(bodyOf(parseChat(body, new Headers()), PLAIN, [])).toEqual(body)
})

test('a turn without any remaining content is left out', () => {
  const unknown = { type: 'unknown' as const, data: { type: 'web_search_call' } }
  const dropped: string[] = []
  const { messages } = bodyOf(
    {
      ...request,
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [unknown] },
        { role: 'assistant', content: null, reasoning: 'hm' },
        { role: 'assistant', content: [unknown], toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
        { role: 'assistant', content: '' },
      ],
    },
    PLAIN,
    dropped,
  )
  expect(messages).toEqual([
    { role: 'user', content: 'a' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'assistant', content: '' },
  ])
  expect(dropped).toEqual(['tools.web_search_20250305', 'content.web_search_call', 'messages.reasoning'])
})

test('images of tools follow the results of all tools', () => {
  const image = { type: 'image' as const, url: 'data:image/png;base64,AA' }
  const dropped: string[] = []
  const { messages } = bodyOf(
    {
      ...request,
      tools: [],
      messages: [
        { role: 'tool', toolCallId: 'a', content: [{ type: 'text', text: 'see' }, image] },
        { role: 'tool', toolCallId: 'b', content: [image], extra: { is_error: true } },
        { role: 'tool', toolCallId: 'c', content: 'plain' },
        { role: 'user', content: 'So?' },
        { role: 'tool', toolCallId: 'd', content: [image] },
      ],
    },
    PLAIN,
    dropped,
  )
  const shown = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }
  const elsewhere = 'The result is in the next message.'
  expect(messages).toEqual([
    { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'see' }] },
    { role: 'tool', tool_call_id: 'b', content: elsewhere },
    { role: 'tool', tool_call_id: 'c', content: 'plain' },
    { role: 'user', content: [shown, shown] },
    { role: 'user', content: 'So?' },
    { role: 'tool', tool_call_id: 'd', content: elsewhere },
    { role: 'user', content: [shown] },
  ])
  expect(dropped).toEqual(['messages.is_error'])
})

test('a user name that is too long for providers stays distinct', () => {
  const dropped: string[] = []
  const userOf = (user: string) => bodyOf({ ...request, user }, PLAIN, dropped).user
  expect(userOf('u'.repeat(64))).toBe('u'.repeat(64))
  expect(dropped).not.toContain('user')
  const long = `user_${'a'.repeat(64)}_account__session_1`
  expect(userOf(long)).toMatch(/^[0-9a-f]{64}$/)
  expect(userOf(long)).toBe(userOf(long))
  expect(userOf(long)).not.toBe(userOf(`${long}2`))
  expect(dropped).toContain('user')
})

test('cache_control markers, to a provider that accepts them', () => {
  const mark = { type: 'ephemeral', ttl: '1h' }
  const extra = { cache_control: mark }
  const dropped: string[] = []
  const { messages, tools, cache_control } = bodyOf(
    {
      ...request,
      body: { cache_control: mark },
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'long', extra }] },
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: null,
          toolCalls: [
            { id: 'c', name: 'f', arguments: '{}' },
            { id: 'd', name: 'f', arguments: '{}' },
          ],
        },
        { role: 'tool', toolCallId: 'c', content: '42', extra },
        {
          role: 'tool',
          toolCallId: 'd',
          content: [
            { type: 'text', text: 'seen' },
            { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' },
          ],
          extra,
        },
      ],
      tools: [{ type: 'function', name: 'f', extra }],
    },
    { ...PLAIN, takesMarks: true },
    dropped,
  )
  const text = (value: string) => ({ type: 'text', text: value, cache_control: mark })
  expect(messages).toMatchObject([
    { role: 'system', content: [text('long')] },
    { role: 'user', content: 'hi' },
    { role: 'assistant' },
    { role: 'tool', tool_call_id: 'c', content: [text('42')] },
    { role: 'tool', tool_call_id: 'd', content: [text('seen')] },
    { role: 'user', content: [{ type: 'image_url' }] },
  ])
  expect(tools).toEqual([{ type: 'function', function: { name: 'f' }, cache_control: mark }])
  expect(cache_control).toEqual(mark)
  expect(dropped).toEqual([])
})

test('a cache_control marker without a text is dropped by name', () => {
  const dropped: string[] = []
  const image = {
    type: 'image',
    url: 'data:image/png;base64,iVBORw0KGgo=',
    extra: { cache_control: {} },
  } as const
  bodyOf(
    { ...request, messages: [{ role: 'user', content: [image] }], tools: [] },
    { ...PLAIN, takesMarks: true },
    dropped,
  )
  expect(dropped).toEqual(['cache_control'])
})

test('an image of a tool, to a model without image input', () => {
  const image = { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' } as const
  const dropped: string[] = []
  const { messages } = bodyOf(
    {
      ...request,
      messages: [
        { role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'c', content: [{ type: 'text', text: 'a.png' }, image] },
        { role: 'tool', toolCallId: 'd', content: [image] },
        { role: 'user', content: [image] },
      ],
      tools: [],
    },
    { ...PLAIN, takesImages: false },
    dropped,
  )
  const text = (value: string) => ({ type: 'text', text: value })
  expect(messages).toMatchObject([
    { role: 'assistant' },
    { role: 'tool', content: [text('a.png'), text('(An image, which this model cannot see.)')] },
    { role: 'tool', content: '(An image, which this model cannot see.)' },
    { role: 'user', content: [{ type: 'image_url' }] },
  ])
  expect(dropped).toEqual(['content.image_url'])
})
