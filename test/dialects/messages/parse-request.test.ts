import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import type { InferenceRequest } from '../../../src/core/request.ts'
import { parseMessages } from '../../../src/dialects/messages/parse.ts'
import { REQUEST } from '../request.ts'
import { assistant, CALL, parse, user } from './parsed.ts'

test('the smallest request', () => {
  const body = { model: 'acme/large', messages: [{ role: 'user', content: 'Hi' }] }
  expect(parseMessages(body, new Headers())).toEqual({
    ...REQUEST,
    apiType: 'messages',
    dialect: 'messages',
    body,
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
    ['a bound of 0 warms a cache', { max_tokens: 0 }, { maxOutputTokens: 0 }],
    [
      'null is absent',
      { temperature: null, tools: null, system: null, thinking: null },
      { sampling: {}, tools: [] },
    ],
    ['the service tier of Anthropic', { service_tier: 'standard_only' }, { serviceTier: 'default' }],
    ['the service tier of others', { service_tier: 'flex' }, { serviceTier: 'flex' }],
    ['the user', { metadata: { user_id: 'u' } }, { user: 'u' }],
    ['the user, in the field of the gateway', { metadata: { user_id: 'u' }, user: 'v' }, { user: 'v' }],
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
  ])('%p is strict as OpenAI defines it: %p', (input_schema, strict) => {
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

test('fields that only this dialect has are dropped by name, once each', () => {
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
      plugins: [{ id: 'moderation', enabled: false }],
      inference_geo: null,
    },
    { 'anthropic-beta': ' some-beta ', 'anthropic-version': '2023-06-01' },
  )
  expect(ownFields?.toSorted()).toEqual([
    'anthropic-beta',
    'container',
    'fallbacks',
    'messages.content.citations',
    'messages.content.lean',
    'metadata.lean',
    'output_config.task_budget',
    'speed',
    'thinking.lean',
    'tool_choice.lean',
    'tools.lean',
  ])
  expect(headers).toEqual({ 'anthropic-beta': 'some-beta' })
})
