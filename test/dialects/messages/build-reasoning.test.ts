import { describe } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { HELLO } from '../build-table.ts'
import { attemptOf } from './attempt.ts'
import { table } from './built.ts'

const ADAPTIVE = {
  reasoning: { efforts: ['low', 'medium', 'high', 'max'], takesBudget: false, mayBeOff: false },
}

describe('reasoning', () => {
  const budget = (tokens: number, bound: number) => ({
    max_tokens: bound,
    thinking: { type: 'enabled', budget_tokens: tokens },
  })
  const adaptive = attemptOf('claude-opus-4-7')
  const thinking = { type: 'adaptive', display: 'summarized' }
  const tools = [{ type: 'function', function: { name: 'f' } }]
  const written = [{ name: 'f', input_schema: { type: 'object', properties: {} } }]
  table([
    ['high', { reasoning: { effort: 'high' }, max_tokens: 10_000 }, budget(8000, 10_000)],
    ['low', { reasoning_effort: 'low', max_tokens: 10_000 }, budget(2000, 10_000)],
    [
      'minimal is the smallest budget',
      { reasoning: { effort: 'minimal' }, max_tokens: 2000 },
      budget(1024, 2000),
    ],
    ['on', { reasoning: { enabled: true } }, budget(8192, 16_384)],
    ['a budget', { reasoning: { max_tokens: 3000 }, max_tokens: 8000 }, budget(3000, 8000)],
    [
      'a budget above the bound',
      { reasoning: { max_tokens: 9000 }, max_tokens: 2000 },
      budget(1999, 2000),
      ['reasoning.max_tokens'],
    ],
    [
      'a bound too small for thoughts',
      { reasoning: { effort: 'high' }, max_tokens: 1000 },
      { max_tokens: 1000 },
      ['reasoning'],
    ],
    ['off', { reasoning: { effort: 'none' }, max_tokens: 9 }, { max_tokens: 9 }],
    ['nothing but exclude', { reasoning: { exclude: true }, max_tokens: 9 }, { max_tokens: 9 }],
    [
      'sampling is dropped',
      { reasoning: { max_tokens: 2000 }, max_tokens: 4000, temperature: 0.5, top_p: 0.5, top_k: 3 },
      budget(2000, 4000),
      ['temperature', 'top_p', 'top_k'],
    ],
    [
      'sampling that thoughts allow stays',
      { reasoning: { max_tokens: 2000 }, max_tokens: 4000, top_p: 0.97 },
      { ...budget(2000, 4000), top_p: 0.97 },
    ],
    [
      'is dropped for a forced tool',
      { reasoning: { effort: 'high' }, max_tokens: 4000, tools, tool_choice: 'required' },
      { max_tokens: 4000, tools: written, tool_choice: { type: 'any' } },
      ['reasoning'],
    ],
    [
      'is dropped if the thoughts of the turn are lost',
      {
        reasoning: { effort: 'high' },
        max_tokens: 4000,
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }],
            reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1' }],
          },
          { role: 'tool', tool_call_id: 'a', content: '1' },
        ],
      },
      {
        max_tokens: 4000,
        messages: [
          ...HELLO,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '1' }] },
        ],
      },
      ['reasoning', 'messages.reasoning_details'],
    ],
    [
      'a model that does not reason',
      { reasoning: { effort: 'high' }, max_tokens: 4000 },
      { max_tokens: 4000 },
      ['reasoning'],
      attemptOf('claude-3-haiku-20240307', { supportedParameters: ['tools'] }),
    ],
    [
      'fields without an equivalent',
      { reasoning: { effort: 'high', summary: 'detailed', odd: 1 }, max_tokens: 10_000 },
      budget(8000, 10_000),
      ['reasoning.summary', 'reasoning.odd'],
    ],
    [
      'adaptive by name',
      { reasoning: { effort: 'xhigh' }, max_tokens: 10 },
      { max_tokens: 10, thinking, output_config: { effort: 'xhigh' } },
      [],
      adaptive,
    ],
    [
      'adaptive by the facts, an effort that it lacks',
      { reasoning: { effort: 'xhigh' }, max_tokens: 10 },
      { max_tokens: 10, thinking, output_config: { effort: 'high' } },
      [],
      attemptOf('its-own-name', ADAPTIVE),
    ],
    [
      'adaptive and minimal',
      { reasoning: { effort: 'minimal' }, max_tokens: 10 },
      { max_tokens: 10, thinking, output_config: { effort: 'low' } },
      [],
      adaptive,
    ],
    [
      'adaptive with a budget, hidden',
      { reasoning: { max_tokens: 3000, exclude: true }, max_tokens: 4000 },
      { max_tokens: 4000, thinking: { type: 'adaptive', display: 'omitted' } },
      ['reasoning.max_tokens'],
      adaptive,
    ],
    [
      'adaptive and forced',
      { reasoning: { effort: 'low' }, max_tokens: 10, tools, tool_choice: 'required' },
      { max_tokens: 10, tools: written, tool_choice: { type: 'any' }, output_config: { effort: 'low' } },
      ['reasoning'],
      adaptive,
    ],
    ['adaptive and off', { reasoning: { enabled: false }, max_tokens: 10 }, { max_tokens: 10 }, [], adaptive],
    [
      'on by itself and off',
      { reasoning: { enabled: false }, max_tokens: 10 },
      { max_tokens: 10, thinking: { type: 'disabled' } },
      [],
      attemptOf('claude-sonnet-5', { reasoning: { efforts: null, takesBudget: false, mayBeOff: true } }),
    ],
  ])
})

describe('an answer in JSON', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const format = (given: unknown = schema, more: JsonObject = {}) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: given, ...more } },
  })
  const old = attemptOf('claude-sonnet-4-20250514')
  const answer = {
    name: 'answer_in_json',
    description: 'Answer with this tool, and with nothing else.',
    input_schema: schema,
  }
  const forced = { tools: [answer], tool_choice: { type: 'tool', name: 'answer_in_json' } }
  const f = { type: 'function', function: { name: 'f' } }
  const written = { name: 'f', input_schema: { type: 'object', properties: {} } }
  const native = (given: JsonObject) => ({
    output_config: { format: { type: 'json_schema', schema: given } },
  })
  const detailed = {
    type: 'object',
    description: 'An object.',
    minProperties: 1,
    properties: {
      list: { type: 'array', minItems: 2, items: { anyOf: [{ $ref: '#/$defs/x' }, { type: 'null' }] } },
    },
    $defs: { x: { type: 'object', properties: { n: { type: 'integer', minimum: 3 } } } },
  }
  table([
    ['text', { response_format: { type: 'text' } }, {}],
    ['without a schema', { response_format: { type: 'json_object' } }, {}, ['response_format']],
    ['native, closed', format(), native({ ...schema, additionalProperties: false })],
    [
      'native, rejected keywords are descriptions',
      format(detailed),
      native({
        type: 'object',
        properties: {
          list: {
            type: 'array',
            items: { anyOf: [{ $ref: '#/$defs/x' }, { type: 'null' }] },
            description: '{"minItems":2}',
          },
        },
        $defs: {
          x: {
            type: 'object',
            properties: { n: { type: 'integer', description: '{"minimum":3}' } },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
        description: 'An object. {"minProperties":1}',
      }),
    ],
    [
      'an open object cannot be native',
      format({
        type: 'object',
        properties: { a: { type: 'object', additionalProperties: { type: 'number' } } },
      }),
      {
        ...forced,
        tools: [
          {
            ...answer,
            input_schema: {
              type: 'object',
              properties: { a: { type: 'object', additionalProperties: { type: 'number' } } },
            },
          },
        ],
      },
    ],
    ['as a tool', format(), forced, [], old],
    [
      'as a tool, described',
      format(schema, { description: 'A thing.' }),
      { ...forced, tools: [{ ...answer, description: 'A thing.' }] },
      [],
      old,
    ],
    [
      'as a tool beside others',
      { ...format(), tools: [f], parallel_tool_calls: false },
      { tools: [written, answer], tool_choice: { type: 'any', disable_parallel_tool_use: true } },
      [],
      old,
    ],
    [
      'a tool that the caller forces takes precedence',
      { ...format(), tools: [f], tool_choice: 'required' },
      { tools: [written], tool_choice: { type: 'any' } },
      ['response_format'],
      old,
    ],
    ['a list has no tool', format({ type: 'array', items: {} }), {}, ['response_format'], old],
    [
      'another model whose facts say that it can',
      format(),
      native({ ...schema, additionalProperties: false }),
      [],
      attemptOf('other', { supportedParameters: ['structured_outputs'] }),
    ],
    [
      'native with an effort',
      { ...format(), reasoning: { effort: 'low' }, max_tokens: 9 },
      {
        max_tokens: 9,
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: {
          format: { type: 'json_schema', schema: { ...schema, additionalProperties: false } },
          effort: 'low',
        },
      },
      [],
      attemptOf('claude-opus-4-8'),
    ],
  ])
})
