import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { BARE, build, table } from './built.ts'

const fn = (name: string, more: JsonObject = {}) => ({ type: 'function', function: { name, ...more } })

const PLACE = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }

const EMPTY = { type: 'object', properties: {} }

const COHERE_FIELDS = {
  documents: [{ data: { text: 'Rain.' } }],
  citation_options: { mode: 'FAST' },
  safety_mode: 'STRICT',
  strict_tools: true,
  priority: 3,
  thinking: { type: 'enabled', token_budget: 99 },
}

describe('parameters', () => {
  table([
    { name: 'nothing', asked: {} },
    {
      name: 'stream',
      asked: { stream: true, stream_options: { include_usage: true } },
      sent: { stream: true },
    },
    { name: 'max_tokens', asked: { max_tokens: 9 }, sent: { max_tokens: 9 } },
    { name: 'max_completion_tokens', asked: { max_completion_tokens: 9 }, sent: { max_tokens: 9 } },
    {
      name: 'sampling',
      asked: {
        temperature: 0.2,
        top_p: 0.5,
        top_k: 40,
        seed: 7,
        frequency_penalty: 0.1,
        presence_penalty: 0.2,
        stop: ['END'],
        logprobs: true,
      },
      sent: {
        temperature: 0.2,
        p: 0.5,
        k: 40,
        seed: 7,
        frequency_penalty: 0.1,
        presence_penalty: 0.2,
        stop_sequences: ['END'],
        logprobs: true,
      },
    },
    {
      name: 'sampling beyond its ranges',
      asked: { top_p: 1, frequency_penalty: -1, presence_penalty: 2 },
      sent: { p: 0.99, frequency_penalty: 0, presence_penalty: 1 },
      dropped: ['top_p', 'frequency_penalty', 'presence_penalty'],
    },
    {
      name: 'sampling without an equivalent',
      asked: {
        min_p: 0.1,
        top_a: 0.1,
        repetition_penalty: 1.1,
        logit_bias: { '1': 1 },
        logprobs: true,
        top_logprobs: 2,
      },
      sent: { logprobs: true },
      dropped: ['min_p', 'top_a', 'repetition_penalty', 'logit_bias', 'top_logprobs'],
    },
    {
      name: 'sampling that the endpoint does not support',
      asked: { temperature: 0.2, seed: 7, stop: 'END', logprobs: true },
      facts: { supportedParameters: ['temperature'] },
      sent: { temperature: 0.2 },
      dropped: ['seed', 'stop', 'logprobs'],
    },
    {
      name: 'content without a place in Cohere',
      asked: {
        n: 2,
        user: 'u',
        metadata: { a: 'b' },
        service_tier: 'flex',
        verbosity: 'low',
        web_search_options: {},
        made_up: 1,
      },
      dropped: ['n', 'user', 'metadata', 'service_tier', 'verbosity', 'web_search_options', 'made_up'],
    },
    {
      name: 'fields for the gateway',
      asked: { provider: { only: ['lab'] }, session_id: 's', usage: { include: true }, service_tier: 'auto' },
    },
    {
      name: "Cohere's own",
      asked: COHERE_FIELDS,
      sent: COHERE_FIELDS,
    },
  ])

  test('the bound of the budget replaces that of the caller', () => {
    expect(build({ max_tokens: 900 }, {}, 50).body).toEqual({ ...BARE, max_tokens: 50 })
  })
})

describe('response format', () => {
  const format = (schema?: JsonObject) =>
    schema
      ? { type: 'json_schema', json_schema: { name: 'n', strict: true, schema } }
      : { type: 'json_object' }
  table([
    { name: 'text', asked: { response_format: { type: 'text' } } },
    {
      name: 'json_object',
      asked: { response_format: format() },
      sent: { response_format: { type: 'json_object' } },
    },
    {
      name: 'json_schema',
      asked: { response_format: format(PLACE) },
      sent: { response_format: { type: 'json_object', json_schema: PLACE } },
    },
    {
      name: 'beside tools',
      asked: { response_format: format(PLACE), tools: [fn('now')] },
      sent: { tools: [fn('now', { parameters: EMPTY })] },
      dropped: ['response_format'],
    },
    {
      name: 'beside documents',
      asked: { response_format: format(), documents: ['Rain.'] },
      sent: { documents: ['Rain.'] },
      dropped: ['response_format'],
    },
    {
      name: 'a grammar',
      asked: { response_format: { type: 'grammar', grammar: 'x' } },
      dropped: ['response_format'],
    },
  ])
})

describe('reasoning', () => {
  const REASONER = { supportedParameters: ['reasoning', 'temperature'] }
  table([
    { name: 'off', asked: { reasoning: { enabled: false } }, sent: { thinking: { type: 'disabled' } } },
    { name: 'effort none', asked: { reasoning_effort: 'none' }, sent: { thinking: { type: 'disabled' } } },
    { name: 'on', asked: { reasoning: { enabled: true } }, sent: { thinking: { type: 'enabled' } } },
    {
      name: 'a budget',
      asked: { reasoning: { max_tokens: 700 } },
      facts: REASONER,
      sent: { thinking: { type: 'enabled', token_budget: 700 } },
    },
    ...(['high', 'xhigh', 'max'] as const).map((effort) => ({
      name: `effort ${effort}`,
      asked: { reasoning: { effort } },
      sent: { thinking: { type: 'enabled' } },
    })),
    ...[
      { effort: 'minimal', budget: 512 },
      { effort: 'low', budget: 1_024 },
      { effort: 'medium', budget: 8_192 },
    ].map(({ effort, budget }) => ({
      name: `effort ${effort}`,
      asked: { reasoning: { effort } },
      sent: { thinking: { type: 'enabled', token_budget: budget } },
    })),
    {
      name: 'an effort within a bound',
      asked: { reasoning: { effort: 'medium' }, max_tokens: 1_000 },
      sent: { max_tokens: 1_000, thinking: { type: 'enabled', token_budget: 500 } },
    },
    {
      name: 'a summary',
      asked: { reasoning: { enabled: true, summary: 'auto', exclude: true } },
      sent: { thinking: { type: 'enabled' } },
      dropped: ['reasoning.summary'],
    },
    {
      name: 'a model that does not reason',
      asked: { reasoning: { effort: 'high' } },
      facts: { supportedParameters: ['temperature'] },
      dropped: ['reasoning'],
    },
    {
      name: 'off, of a model that does not reason',
      asked: { reasoning: { enabled: false } },
      facts: { supportedParameters: ['temperature'] },
    },
  ])
})

describe('tools', () => {
  const tools = [fn('tide', { description: 'Tides.', parameters: PLACE }), fn('now')]
  const sent = [tools[0], fn('now', { parameters: EMPTY })]
  table([
    { name: 'functions', asked: { tools }, sent: { tools: sent } },
    { name: 'auto', asked: { tools, tool_choice: 'auto' }, sent: { tools: sent } },
    { name: 'none', asked: { tools, tool_choice: 'none' }, sent: { tools: sent, tool_choice: 'NONE' } },
    {
      name: 'required',
      asked: { tools, tool_choice: 'required' },
      sent: { tools: sent, tool_choice: 'REQUIRED' },
    },
    {
      name: 'one function',
      asked: { tools, tool_choice: { type: 'function', function: { name: 'now' } } },
      sent: { tools: [sent[1]], tool_choice: 'REQUIRED' },
    },
    {
      name: 'a choice without tools',
      asked: { tool_choice: 'auto' },
    },
    {
      name: 'one call at a time',
      asked: { tools, parallel_tool_calls: false },
      sent: { tools: sent },
      dropped: ['parallel_tool_calls'],
    },
    {
      name: 'strict, all of them',
      asked: { tools: [fn('tide', { parameters: PLACE, strict: true })] },
      sent: { tools: [fn('tide', { parameters: PLACE })], strict_tools: true },
    },
    {
      name: 'strict, some of them',
      asked: { tools: [fn('tide', { parameters: PLACE, strict: true }), fn('now')] },
      sent: { tools: [fn('tide', { parameters: PLACE }), sent[1]] },
      dropped: ['tools.strict'],
    },
    {
      name: 'strict without a required parameter',
      asked: { tools: [fn('now', { strict: true })] },
      sent: { tools: [sent[1]] },
      dropped: ['tools.strict'],
    },
    {
      name: 'built-in tools and markers',
      asked: { tools: [{ type: 'web_search' }, { ...fn('now'), cache_control: { type: 'ephemeral' } }] },
      sent: { tools: [sent[1]] },
      dropped: ['tools.web_search', 'cache_control'],
    },
  ])
})
