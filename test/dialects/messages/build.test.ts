import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { messagesEgress } from '../../../src/dialects/messages/index.ts'
import { CHAT_ONLY, HELLO } from '../build-table.ts'
import { attemptOf } from './attempt.ts'
import { built, table } from './built.ts'

test('the smallest request', () => {
  expect(built({})).toEqual({
    path: '/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    body: { model: 'claude-sonnet-4-5', max_tokens: 4096, messages: HELLO },
    dropped: [],
  })
})

describe('parameters', () => {
  table([
    ['stream', { stream: true }, { stream: true }],
    ['the bound', { max_tokens: 7 }, { max_tokens: 7 }],
    ['its newer name', { max_completion_tokens: 8 }, { max_tokens: 8 }],
    [
      "the model's bound",
      {},
      { max_tokens: 64_000 },
      [],
      attemptOf('claude-sonnet-4-5', { maxCompletionTokens: 64_000 }),
    ],
    [
      'the bound of the budget',
      { max_tokens: 9000 },
      { max_tokens: 2000 },
      [],
      attemptOf(undefined, {}, 2000),
    ],
    ['temperature', { temperature: 0.2 }, { temperature: 0.2 }],
    ['a temperature beyond the range', { temperature: 1.5 }, { temperature: 1 }, ['temperature']],
    ['top_p', { top_p: 0.5 }, { top_p: 0.5 }],
    ['both', { temperature: 0.2, top_p: 0.5 }, { temperature: 0.2 }, ['top_p']],
    ['top_k', { top_k: 4 }, { top_k: 4 }],
    [
      'sampling that the model refuses',
      { temperature: 0, top_p: 1, top_k: 1 },
      {},
      ['temperature', 'top_p', 'top_k'],
      attemptOf('claude-opus-4-7'),
    ],
    ['stop', { stop: 'x' }, { stop_sequences: ['x'] }],
    ['stops, one blank', { stop: ['a', '\n'] }, { stop_sequences: ['a'] }, ['stop']],
    ['user', { user: 'u-1' }, { metadata: { user_id: 'u-1' } }],
    ['service tiers', { service_tier: 'default' }, { service_tier: 'standard_only' }],
    ['a tier that is not there', { service_tier: 'flex' }, {}, ['service_tier']],
    ['automatic caching', { cache_control: { type: 'ephemeral' } }, { cache_control: { type: 'ephemeral' } }],
    [
      'parameters without an equivalent',
      {
        ...CHAT_ONLY,
        logprobs: true,
        top_logprobs: 2,
        metadata: { a: 'b' },
        verbosity: 'low',
        web_search_options: {},
      },
      {},
      [...Object.keys(CHAT_ONLY), 'logprobs', 'top_logprobs', 'metadata', 'verbosity', 'web_search_options'],
    ],
    [
      'defaults, and fields for the gateway',
      { n: 1, modalities: ['text'], provider: {}, session_id: 's' },
      {},
    ],
  ])
})

describe('tools', () => {
  const parameters = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }
  const f = (more: JsonObject = {}) => ({ type: 'function', function: { name: 'f', ...more } })
  const tools = [{ name: 'f', input_schema: { type: 'object', properties: {} } }]
  table([
    [
      'functions',
      {
        tools: [
          { ...f({ description: 'd', parameters, strict: true }), cache_control: { type: 'ephemeral' } },
        ],
      },
      {
        tools: [
          {
            name: 'f',
            description: 'd',
            input_schema: parameters,
            strict: true,
            cache_control: { type: 'ephemeral' },
          },
        ],
      },
    ],
    [
      'strict at a model without it',
      { tools: [f({ parameters, strict: true })] },
      { tools: [{ name: 'f', input_schema: parameters }] },
      ['tools.strict'],
      attemptOf('claude-3-5-haiku-20241022'),
    ],
    ['without parameters', { tools: [f()] }, { tools }],
    [
      "the provider's own, and others'",
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }, { type: 'web_search_preview' }] },
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      ['tools.web_search_preview'],
    ],
    ['auto', { tools: [f()], tool_choice: 'auto' }, { tools, tool_choice: { type: 'auto' } }],
    ['none', { tools: [f()], tool_choice: 'none' }, { tools, tool_choice: { type: 'none' } }],
    ['required', { tools: [f()], tool_choice: 'required' }, { tools, tool_choice: { type: 'any' } }],
    [
      'one by name',
      { tools: [f()], tool_choice: { type: 'function', function: { name: 'f' } } },
      { tools, tool_choice: { type: 'tool', name: 'f' } },
    ],
    ['another form', { tools: [f()], tool_choice: { type: 'allowed_tools' } }, { tools }, ['tool_choice']],
    [
      'one call at a time',
      { tools: [f()], parallel_tool_calls: false },
      { tools, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
    [
      'one call at a time, required',
      { tools: [f()], tool_choice: 'required', parallel_tool_calls: false },
      { tools, tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    ],
    ['several calls', { tools: [f()], parallel_tool_calls: true }, { tools }],
    ['a choice without tools', { tool_choice: 'auto', parallel_tool_calls: false }, {}],
  ])
})

test.each([
  ['claude-3-7-sonnet-20250219', 'enabled', false],
  ['claude-opus-4-20250514', 'enabled', false],
  ['claude-opus-4-1-20250805', 'enabled', true],
  ['claude-haiku-4-5-20251001', 'enabled', true],
  ['us.anthropic.claude-opus-4-6-v1', 'enabled', true],
  ['claude-sonnet-4.6', 'enabled', true],
  ['claude-opus-4-7', 'adaptive', true],
  ['claude-fable-5', 'adaptive', true],
  ['anthropic/claude-opus-5', 'adaptive', true],
  ['minimax-m3', 'enabled', false],
])('%s thinks %s', (name, type, isNative) => {
  const schema = { type: 'object', properties: {} }
  const format = { type: 'json_schema', json_schema: { name: 'n', schema } }
  const { thinking } = built({ reasoning: { effort: 'high' } }, attemptOf(name)).body
  expect(thinking).toMatchObject({ type })
  expect(built({ response_format: format }, attemptOf(name)).body.tools === undefined).toBe(isNative)
})

test('the request is not changed', () => {
  const request = chatIngress.parse(
    {
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }],
          cache_control: {},
        },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { properties: {} } } }],
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
    },
    new Headers(),
  )
  const before = JSON.stringify(request)
  messagesEgress.build(request, attemptOf())
  messagesEgress.build(request, attemptOf('claude-3-haiku-20240307'))
  expect(JSON.stringify(request)).toBe(before)
})
