import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import type { InferenceRequest } from '../../../src/core/request.ts'
import { parseMessages } from '../../../src/dialects/messages/parse.ts'
import { seal } from '../../../src/dialects/opaque.ts'

/** The first bytes of a PNG, and of a PDF. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB'
const PDF = 'JVBERi0xLjQK'

const parse = (more: JsonObject, headers: Record<string, string> = {}): InferenceRequest =>
  parseMessages(
    { model: 'acme/large', messages: [{ role: 'user', content: 'Hi' }], ...more },
    new Headers(headers),
  )
const user = (...content: JsonObject[]): JsonObject => ({ role: 'user', content })
const assistant = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content })
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { x: 1 } }

test('the least that can be asked', () => {
  const body = { model: 'acme/large', messages: [{ role: 'user', content: 'Hi' }] }
  expect(parseMessages(body, new Headers())).toEqual({
    apiType: 'messages',
    dialect: 'messages',
    body,
    models: ['acme/large'],
    stream: false,
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [],
    sampling: {},
    preferences: { allowFallbacks: true, requireParameters: false },
    echoUpstreamBody: false,
    parameters: [],
  })
})

describe('parameters', () => {
  const rows: [what: string, body: JsonObject, expected: Partial<InferenceRequest>][] = [
    [
      'sampling and bounds',
      { max_tokens: 7, temperature: 0.5, top_p: 0.9, top_k: 3, stop_sequences: ['END'], stream: true },
      {
        maxOutputTokens: 7,
        stream: true,
        sampling: { temperature: 0.5, topP: 0.9, topK: 3, stop: ['END'] },
        parameters: ['temperature', 'top_p', 'top_k', 'max_tokens', 'stop'],
      },
    ],
    ['a bound of nothing warms a cache', { max_tokens: 0 }, { maxOutputTokens: 0 }],
    [
      'null is absent',
      { temperature: null, tools: null, system: null, thinking: null },
      { sampling: {}, tools: [] },
    ],
    ['the service tier of Anthropic', { service_tier: 'standard_only' }, { serviceTier: 'default' }],
    ['the service tier of others', { service_tier: 'flex' }, { serviceTier: 'flex' }],
    ['who asks', { metadata: { user_id: 'u' } }, { user: 'u' }],
    ['who asks, in the words of the gateway', { metadata: { user_id: 'u' }, user: 'v' }, { user: 'v' }],
    [
      'models in order, each once',
      { models: ['b', 'acme/large'], fallbacks: [{ model: 'c' }, { model: 'b' }] },
      { models: ['acme/large', 'b', 'c'] },
    ],
    ['a session', { session_id: 's' }, { sessionId: 's' }],
    ['a trace', { trace: { trace_id: 't' } }, { trace: { trace_id: 't' } }],
    [
      'routing',
      { provider: { only: ['Lab'], require_parameters: true }, route: 'sort' },
      {
        preferences: { only: ['lab'], allowFallbacks: true, requireParameters: true, sortPartition: 'none' },
      },
    ],
  ]
  test.each(rows)('%s', (_, body, expected) => {
    expect(parse(body)).toMatchObject(expected)
  })
})

describe('thinking', () => {
  const rows: [what: string, body: JsonObject, expected: InferenceRequest['reasoning']][] = [
    ['none', {}, undefined],
    ['a budget', { thinking: { type: 'enabled', budget_tokens: 2048 } }, { enabled: true, maxTokens: 2048 }],
    ['off', { thinking: { type: 'disabled' } }, { enabled: false }],
    ['adaptive', { thinking: { type: 'adaptive' } }, { enabled: true }],
    [
      'adaptive with an effort, not shown',
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'xhigh' } },
      { enabled: true, effort: 'xhigh', exclude: true },
    ],
    ['an effort alone', { output_config: { effort: 'low' } }, { effort: 'low' }],
    ['shown in short', { thinking: { type: 'adaptive', display: 'summarized' } }, { enabled: true }],
  ]
  test.each(rows)('%s', (_, body, expected) => {
    expect(parse(body).reasoning).toEqual(expected)
  })

  test('a budget beyond one answer, with the beta for it', () => {
    const body = { max_tokens: 2048, thinking: { type: 'enabled', budget_tokens: 4096 } }
    const headers = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' }
    expect(parse(body, headers).reasoning).toMatchObject({ maxTokens: 4096 })
  })
})

describe('tools', () => {
  const tool = { name: 'f', description: 'F', input_schema: { type: 'object' }, strict: true }
  test('custom tools and those of the provider', () => {
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 }
    const marked = {
      ...tool,
      name: 'g',
      type: 'custom',
      cache_control: { type: 'ephemeral' },
      defer_loading: true,
    }
    const { tools, ownFields } = parse({ tools: [tool, search, marked] })
    expect(tools).toEqual([
      { type: 'function', name: 'f', description: 'F', parameters: { type: 'object' }, strict: true },
      { type: 'other', data: search },
      {
        type: 'function',
        name: 'g',
        description: 'F',
        parameters: { type: 'object' },
        strict: true,
        extra: { cache_control: { type: 'ephemeral' }, defer_loading: true },
      },
    ])
    expect(ownFields).toEqual(['tools.defer_loading'])
  })

  test.each<[JsonObject, Partial<InferenceRequest>]>([
    [{ type: 'auto' }, { toolChoice: 'auto' }],
    [{ type: 'any' }, { toolChoice: 'required' }],
    [{ type: 'none' }, { toolChoice: 'none' }],
    [{ type: 'tool', name: 'f' }, { toolChoice: { type: 'function', name: 'f' } }],
    [
      { type: 'any', disable_parallel_tool_use: true },
      { toolChoice: 'required', parallelToolCalls: false },
    ],
  ])('the choice %p', (tool_choice, expected) => {
    expect(parse({ tools: [tool], tool_choice })).toMatchObject(expected)
  })

  test.each<[JsonObject, boolean]>([
    [{ type: 'object' }, true],
    [{ type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false }, true],
    [{ type: 'object', properties: { a: {} }, required: ['a'] }, false],
    [{ type: 'object', properties: { a: {} }, additionalProperties: false }, false],
    [{ type: 'array', items: { anyOf: [{ type: 'object', properties: { a: {} } }] } }, false],
  ])('%p as strict as OpenAI means it: %p', (input_schema, strict) => {
    const { tools, ownFields = [] } = parse({ tools: [{ ...tool, input_schema }] })
    expect(tools[0]).toMatchObject({ parameters: input_schema, ...(strict ? { strict } : {}) })
    expect(ownFields.includes('tools.strict')).toBe(!strict)
    const format = { type: 'json_schema', schema: input_schema }
    expect(parse({ output_config: { format } }).responseFormat).toMatchObject({ json_schema: { strict } })
  })

  test('a schema for the answer, by both of its names', () => {
    const format = { type: 'json_schema', schema: { type: 'object' } }
    const expected = {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
    }
    expect(parse({ output_config: { format } }).responseFormat).toEqual(expected)
    expect(parse({ output_format: format }).responseFormat).toEqual(expected)
  })
})

describe('messages', () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const rows: [what: string, messages: JsonObject[], expected: unknown[]][] = [
    [
      'text, with a mark and without',
      [user({ type: 'text', text: 'a' }), user({ type: 'text', text: 'b', ...mark })],
      [
        { role: 'user', content: 'a' },
        { role: 'user', content: [{ type: 'text', text: 'b', extra: mark }] },
      ],
    ],
    [
      'images',
      [
        user(
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
          { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' }, ...mark },
          { type: 'image', source: { type: 'file', file_id: 'file_1' } },
        ),
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'image', url: `data:image/png;base64,${PNG}` },
            { type: 'image', url: 'https://a.example/i.png', extra: mark },
            { type: 'file', fileId: 'file_1' },
          ],
        },
      ],
    ],
    [
      'documents',
      [
        user(
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: PDF },
            title: 'a.pdf',
            context: 'Old.',
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'T' }, title: 'A' },
          { type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } },
          { type: 'document', source: { type: 'file', file_id: 'file_1' } },
          { type: 'document', source: { type: 'content', content: 'C' } },
          {
            type: 'document',
            title: 'B',
            source: { type: 'content', content: [{ type: 'text', text: 'D' }] },
            ...mark,
          },
        ),
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Old.' },
            { type: 'file', data: `data:application/pdf;base64,${PDF}`, filename: 'a.pdf' },
            { type: 'text', text: 'A\n\nT' },
            { type: 'file', data: 'https://a.example/a.pdf' },
            { type: 'file', fileId: 'file_1' },
            { type: 'text', text: 'C' },
            { type: 'text', text: 'B' },
            { type: 'text', text: 'D', extra: mark },
          ],
        },
      ],
    ],
    [
      'what was found',
      [
        user({
          type: 'search_result',
          source: 'https://a.example',
          title: 'A',
          content: [{ type: 'text', text: 'found' }],
        }),
      ],
      [{ role: 'user', content: 'A\nhttps://a.example\nfound' }],
    ],
    [
      'calls and their results',
      [
        assistant({ type: 'text', text: 'I call.' }, CALL, { ...CALL, id: 'toolu_2', input: {} }),
        user(
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'one', is_error: true },
          {
            type: 'tool_result',
            tool_use_id: 'toolu_2',
            content: [
              { type: 'text', text: 'two' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            ],
            ...mark,
          },
          { type: 'text', text: 'And now?' },
        ),
      ],
      [
        {
          role: 'assistant',
          content: 'I call.',
          toolCalls: [
            { id: 'toolu_1', name: 'f', arguments: '{"x":1}' },
            { id: 'toolu_2', name: 'f', arguments: '{}' },
          ],
        },
        { role: 'tool', content: 'one', toolCallId: 'toolu_1', extra: { is_error: true } },
        {
          role: 'tool',
          content: [
            { type: 'text', text: 'two' },
            { type: 'image', url: `data:image/png;base64,${PNG}` },
          ],
          toolCallId: 'toolu_2',
          extra: mark,
        },
        { role: 'user', content: 'And now?' },
      ],
    ],
    [
      'a result of nothing',
      [assistant(CALL), user({ type: 'tool_result', tool_use_id: 'toolu_1' })],
      [
        { role: 'assistant', content: null, toolCalls: [{ id: 'toolu_1', name: 'f', arguments: '{"x":1}' }] },
        { role: 'tool', content: '', toolCallId: 'toolu_1' },
      ],
    ],
    [
      'thoughts of Claude',
      [
        assistant(
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'redacted_thinking', data: 'zz' },
          { type: 'text', text: 'Hi' },
        ),
      ],
      [
        {
          role: 'assistant',
          content: 'Hi',
          reasoning: 'hm',
          reasoningDetails: [
            { type: 'reasoning.text', text: 'hm', signature: 's', format: 'anthropic-claude-v1', index: 0 },
            { type: 'reasoning.encrypted', data: 'zz', format: 'anthropic-claude-v1', index: 1 },
          ],
        },
      ],
    ],
    [
      'sealed thoughts, and what a client did to one',
      [
        assistant(
          {
            type: 'thinking',
            thinking: 'hm',
            signature: seal({ detail: { type: 'reasoning.summary', format: 'x', index: 4 } }),
          },
          {
            type: 'redacted_thinking',
            data: seal({ type: 'reasoning.encrypted', data: 'd', format: 'x', id: 'c' }),
          },
          { type: 'redacted_thinking', data: 'sluice.v1.broken' },
          { type: 'thinking', thinking: ' bare', signature: seal({}) },
        ),
      ],
      [
        {
          role: 'assistant',
          content: null,
          reasoning: 'hm bare',
          reasoningDetails: [
            { type: 'reasoning.summary', summary: 'hm', format: 'x', index: 4 },
            { type: 'reasoning.encrypted', data: 'd', format: 'x', id: 'c' },
          ],
        },
      ],
    ],
    [
      'what runs at the provider',
      [assistant({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} })],
      [
        {
          role: 'assistant',
          content: [
            { type: 'unknown', data: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} } },
          ],
        },
      ],
    ],
    [
      'instructions in the midst',
      [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Be brief.' },
      ],
      [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Be brief.' },
      ],
    ],
  ]
  test.each(rows)('%s', (_, messages, expected) => {
    expect<unknown>(parse({ messages }).messages).toEqual(expected)
  })

  test.each<[unknown, unknown]>([
    ['Be brief.', 'Be brief.'],
    [[{ type: 'text', text: 'Be brief.' }], 'Be brief.'],
    [
      [
        { type: 'text', text: 'a', ...mark },
        { type: 'text', text: 'b' },
      ],
      [
        { type: 'text', text: 'a', extra: mark },
        { type: 'text', text: 'b' },
      ],
    ],
  ])('the system %p', (system, content) => {
    expect<unknown>(parse({ system }).messages[0]).toEqual({ role: 'system', content })
  })

  test.each([[''], [[]]])('no system: %p', (system) => {
    expect(parse({ system }).messages).toEqual([{ role: 'user', content: 'Hi' }])
  })
})

test('what only this dialect can carry is named, once each', () => {
  const { ownFields, headers } = parse(
    {
      system: [{ type: 'text', text: 'a', lean: 1 }],
      messages: [
        user(
          { type: 'text', text: 'a', lean: 1, cache_control: { type: 'ephemeral' } },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'T' },
            citations: { enabled: true },
          },
        ),
        assistant(CALL),
        user({ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true }),
      ],
      speed: 'fast',
      thinking: { type: 'adaptive', lean: 1 },
      tools: [{ name: 'f', input_schema: {}, lean: 1 }],
      tool_choice: { type: 'auto', lean: 1 },
      container: 'c',
      mcp_servers: [{ type: 'url', url: 'https://a.example' }],
      output_config: { task_budget: { type: 'tokens', total: 1 } },
      metadata: { user_id: 'u', lean: 1 },
      fallbacks: 'default',
      plugins: [{ id: 'web' }, { id: 'moderation', enabled: false }],
      inference_geo: null,
    },
    { 'anthropic-beta': ' some-beta ', 'anthropic-version': '2023-06-01' },
  )
  expect(ownFields?.toSorted()).toEqual([
    'anthropic-beta',
    'container',
    'fallbacks',
    'mcp_servers',
    'messages.content.citations',
    'messages.content.lean',
    'metadata.lean',
    'output_config.task_budget',
    'plugins.web',
    'speed',
    'thinking.lean',
    'tool_choice.lean',
    'tools.lean',
  ])
  expect(headers).toEqual({ 'anthropic-beta': 'some-beta' })
})
