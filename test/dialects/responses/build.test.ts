import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { CHAT_ONLY, HELLO, type Row } from '../build-table.ts'
import { attemptOf, PLAIN, REASONER } from './attempt.ts'
import { built, ENCRYPTED, table } from './built.ts'

test('the smallest request', () => {
  expect(built({})).toEqual({
    path: '/responses',
    headers: {},
    body: { model: 'tide-1', input: HELLO, store: false },
    dropped: [],
  })
})

describe('parameters', () => {
  table([
    ['stream', { stream: true }, { stream: true }],
    ['the bound', { max_tokens: 70 }, { max_output_tokens: 70 }],
    ['its newer name', { max_completion_tokens: 80 }, { max_output_tokens: 80 }],
    [
      'the bound of the budget',
      { max_tokens: 9000 },
      { max_output_tokens: 2000 },
      [],
      attemptOf(undefined, {}, { outputBound: 2000 }),
    ],
    ['sampling', { temperature: 0.2, top_p: 0.5 }, { temperature: 0.2, top_p: 0.5 }],
    ['sampling that the model does not support', { temperature: 0 }, ENCRYPTED, ['temperature'], REASONER],
    [
      'log probabilities',
      { logprobs: true, top_logprobs: 3 },
      { top_logprobs: 3, include: ['message.output_text.logprobs'] },
    ],
    [
      'log probabilities that the model does not support',
      { logprobs: true, top_logprobs: 3 },
      {},
      ['logprobs', 'top_logprobs'],
      PLAIN,
    ],
    ['verbosity', { verbosity: 'low' }, { text: { verbosity: 'low' } }],
    ['user and metadata', { user: 'u', metadata: { a: 'b' } }, { user: 'u', metadata: { a: 'b' } }],
    [
      'caching and the user',
      {
        prompt_cache_key: 'k',
        prompt_cache_retention: '24h',
        prompt_cache_options: { mode: 'explicit' },
        safety_identifier: 's',
      },
      {
        prompt_cache_key: 'k',
        prompt_cache_retention: '24h',
        prompt_cache_options: { mode: 'explicit' },
        safety_identifier: 's',
      },
    ],
    ['a service tier', { service_tier: 'flex' }, { service_tier: 'flex' }],
    ["the gateway's name for one", { service_tier: 'fast' }, { service_tier: 'priority' }],
    [
      'parameters without an equivalent',
      {
        ...CHAT_ONLY,
        top_k: 4,
        stop: 'x',
        audio: { voice: 'alloy', format: 'mp3' },
      },
      {},
      [...Object.keys(CHAT_ONLY), 'top_k', 'stop', 'audio'],
    ],
    [
      'defaults, and fields for the gateway',
      { n: 1, modalities: ['text'], frequency_penalty: 0, provider: {}, session_id: 's' },
      {},
    ],
  ])
})

describe('the form of the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  table([
    ['text', { response_format: { type: 'text' } }, { text: { format: { type: 'text' } } }],
    [
      'JSON, with low verbosity',
      { response_format: { type: 'json_object' }, verbosity: 'low' },
      { text: { format: { type: 'json_object' }, verbosity: 'low' } },
    ],
    [
      'a schema',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', schema, strict: true, description: 'd' },
        },
      },
      { text: { format: { type: 'json_schema', name: 'n', description: 'd', schema, strict: true } } },
    ],
    ['a grammar', { response_format: { type: 'grammar', grammar: 'root ::= "a"' } }, {}, ['response_format']],
  ])
})

describe('tools', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const weather = { type: 'function', function: { name: 'weather', description: 'd', parameters } }
  const written = { type: 'function', name: 'weather', description: 'd', parameters, strict: false }
  const withWeather = (choice: unknown): JsonObject => ({ tools: [weather], tool_choice: choice })
  const grammar = { syntax: 'lark', definition: 'start: "a"' }
  table([
    ['a function', { tools: [weather] }, { tools: [written] }],
    [
      'a strict one',
      { tools: [{ type: 'function', function: { ...weather.function, strict: true } }] },
      { tools: [{ ...written, strict: true }] },
    ],
    [
      'one without parameters',
      { tools: [{ type: 'function', function: { name: 'now' } }] },
      {
        tools: [
          { type: 'function', name: 'now', parameters: { type: 'object', properties: {} }, strict: false },
        ],
      },
    ],
    [
      'a custom tool',
      { tools: [{ type: 'custom', custom: { name: 'sql', format: { type: 'grammar', grammar } } }] },
      { tools: [{ type: 'custom', name: 'sql', format: { type: 'grammar', ...grammar } }] },
    ],
    [
      'built-in tools',
      { tools: [{ type: 'web_search', search_context_size: 'low' }, { type: 'x_search' }] },
      { tools: [{ type: 'web_search', search_context_size: 'low' }, { type: 'x_search' }] },
    ],
    ['unknown tools', { tools: [{ type: 'teleport' }] }, {}, ['tools.teleport']],
    [
      'searches in the form of chat',
      {
        web_search_options: {
          search_context_size: 'high',
          user_location: { type: 'approximate', approximate: { country: 'DE' } },
        },
      },
      {
        tools: [
          {
            type: 'web_search',
            search_context_size: 'high',
            user_location: { type: 'approximate', country: 'DE' },
          },
        ],
      },
    ],
    ...['auto', 'none', 'required'].map(
      (choice): Row => [`choice: ${choice}`, withWeather(choice), { tools: [written], tool_choice: choice }],
    ),
    [
      'choice: one function',
      withWeather({ type: 'function', function: { name: 'weather' } }),
      { tools: [written], tool_choice: { type: 'function', name: 'weather' } },
    ],
    [
      'choice: one custom tool',
      withWeather({ type: 'custom', custom: { name: 'sql' } }),
      { tools: [written], tool_choice: { type: 'custom', name: 'sql' } },
    ],
    [
      'choice: some',
      withWeather({
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'weather' } }] },
      }),
      {
        tools: [written],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'weather' }] },
      },
    ],
    ['choice without tools', { tool_choice: 'auto', parallel_tool_calls: true }, {}],
    [
      'one call at a time',
      { tools: [weather], parallel_tool_calls: false },
      { tools: [written], parallel_tool_calls: false },
    ],
  ])
})
