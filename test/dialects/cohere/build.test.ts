import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { cohereEgress } from '../../../src/dialects/cohere/index.ts'
import { attemptOf } from './attempt.ts'

const USER = { role: 'user', content: 'Hi' }

function build(body: JsonObject, facts: Partial<EndpointRecord> = {}, outputBound?: number) {
  const request = chatIngress.parse({ model: 'm', messages: [USER], ...body }, new Headers())
  const before = JSON.stringify(request)
  const built = cohereEgress.build(request, attemptOf(facts, outputBound))
  expect(JSON.stringify(request)).toBe(before)
  return built
}

const BARE = { model: 'command-a', stream: false, messages: [USER] }

interface Row {
  name: string
  asked: JsonObject
  facts?: Partial<EndpointRecord>
  /** Over the bare body. */
  sent?: JsonObject
  dropped?: string[]
}

const fn = (name: string, more: JsonObject = {}) => ({ type: 'function', function: { name, ...more } })
const PLACE = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }
const EMPTY = { type: 'object', properties: {} }
const CALL = { id: 'c1', type: 'function', function: { name: 'tide', arguments: '{"place":"Brest"}' } }
const RESULT = { role: 'tool', tool_call_id: 'c1', content: '14:20' }
const assistant = (more: JsonObject) => ({ role: 'assistant', ...more })
const own = (type: string, more: JsonObject) => ({ type, format: 'cohere-v2', ...more })

function table(rows: Row[]): void {
  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, { asked, facts, sent, dropped }) => {
    const built = build(asked, facts)
    expect(built.path).toBe('/chat')
    expect(built.body).toEqual({ ...BARE, ...sent })
    expect(built.dropped.sort()).toEqual((dropped ?? []).sort())
  })
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
      name: 'sampling without a word',
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
      name: 'sampling that the endpoint does not take',
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
      name: 'what the gateway keeps',
      asked: { provider: { only: ['lab'] }, session_id: 's', usage: { include: true }, service_tier: 'auto' },
    },
    {
      name: "Cohere's own",
      asked: {
        documents: [{ data: { text: 'Rain.' } }],
        citation_options: { mode: 'FAST' },
        safety_mode: 'STRICT',
        strict_tools: true,
        priority: 3,
        thinking: { type: 'enabled', token_budget: 99 },
      },
      sent: {
        documents: [{ data: { text: 'Rain.' } }],
        citation_options: { mode: 'FAST' },
        safety_mode: 'STRICT',
        strict_tools: true,
        priority: 3,
        thinking: { type: 'enabled', token_budget: 99 },
      },
    },
  ])

  test('the bound of the money wins over the caller', () => {
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
      name: 'built-in tools, marks',
      asked: { tools: [{ type: 'web_search' }, { ...fn('now'), cache_control: { type: 'ephemeral' } }] },
      sent: { tools: [sent[1]] },
      dropped: ['tools.web_search', 'cache_control'],
    },
  ])
})

describe('messages', () => {
  const rows = (
    list: { name: string; asked: JsonObject[]; sent: JsonObject[]; more?: JsonObject; dropped?: string[] }[],
  ): Row[] =>
    list.map(({ name, asked, sent, more, dropped }) => ({
      name,
      asked: { messages: asked },
      sent: { messages: sent, ...more },
      ...(dropped ? { dropped } : {}),
    }))
  const thought = own('reasoning.text', { text: 'Tides. ', index: 1 })
  table(
    rows([
      {
        name: 'roles',
        asked: [{ role: 'system', content: 'S' }, USER, { role: 'developer', content: 'D' }],
        sent: [{ role: 'system', content: 'S' }, USER, { role: 'system', content: 'D' }],
      },
      {
        name: 'parts',
        asked: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?', cache_control: { type: 'ephemeral' } },
              { type: 'text', text: '' },
              { type: 'image_url', image_url: { url: 'https://x.example/a.png', detail: 'low' } },
              { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
              { type: 'video_url', video_url: { url: 'https://x.example/a.mp4' } },
              { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==' } },
              { type: 'hologram' },
            ],
          },
        ],
        sent: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?' },
              { type: 'image_url', image_url: { url: 'https://x.example/a.png', detail: 'low' } },
            ],
          },
        ],
        dropped: [
          'cache_control',
          'content.input_audio',
          'content.video_url',
          'content.file',
          'content.hologram',
        ],
      },
      {
        name: 'files of text are documents',
        asked: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Sum it up.' },
              { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,R3LDvMOfZQ==' } },
              { type: 'file', file: { file_data: 'data:application/json,%7B%7D' } },
            ],
          },
        ],
        sent: [{ role: 'user', content: [{ type: 'text', text: 'Sum it up.' }] }],
        more: { documents: [{ data: { text: 'Grüße', title: 'a.txt' } }, { data: { text: '{}' } }] },
      },
      {
        name: 'a turn of tools',
        asked: [USER, assistant({ content: null, tool_calls: [CALL] }), RESULT],
        sent: [USER, assistant({ tool_calls: [CALL] }), RESULT],
      },
      {
        name: 'calls without arguments, results in parts',
        asked: [
          USER,
          assistant({
            content: 'So.',
            tool_calls: [{ ...CALL, function: { name: 'now', arguments: '' } }],
          }),
          {
            ...RESULT,
            content: [
              { type: 'text', text: '12' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
            ],
          },
        ],
        sent: [
          USER,
          assistant({
            content: 'So.',
            tool_calls: [{ ...CALL, function: { name: 'now', arguments: '{}' } }],
          }),
          { ...RESULT, content: [{ type: 'text', text: '12' }] },
        ],
        dropped: ['content.image_url'],
      },
      {
        name: 'thoughts and plans of its own',
        asked: [
          USER,
          assistant({
            content: 'So.',
            reasoning: 'Tides. Brest. Then?',
            reasoning_details: [
              thought,
              { ...thought, text: 'Brest.' },
              { ...thought, text: 'Then?', index: 2 },
              own('reasoning.summary', { summary: 'Ask for ', index: 0 }),
              own('reasoning.summary', { summary: 'the tide.', index: 0 }),
            ],
            tool_calls: [CALL],
          }),
          RESULT,
        ],
        sent: [
          USER,
          assistant({
            content: [
              { type: 'thinking', thinking: 'Tides. Brest.' },
              { type: 'thinking', thinking: 'Then?' },
              { type: 'text', text: 'So.' },
            ],
            tool_plan: 'Ask for the tide.',
            tool_calls: [CALL],
          }),
          RESULT,
        ],
      },
      {
        name: 'unsigned thoughts, and signed ones of other models',
        asked: [
          assistant({ content: 'A', reasoning: 'Plain.' }),
          USER,
          assistant({
            content: 'B',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Open.', format: 'unknown', index: 0 },
              { type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1' },
              { type: 'reasoning.text', text: 'S', signature: 's', format: 'anthropic-claude-v1' },
            ],
          }),
          USER,
        ],
        sent: [
          assistant({
            content: [
              { type: 'thinking', thinking: 'Plain.' },
              { type: 'text', text: 'A' },
            ],
          }),
          USER,
          assistant({
            content: [
              { type: 'thinking', thinking: 'Open.' },
              { type: 'text', text: 'B' },
            ],
          }),
          USER,
        ],
        dropped: ['messages.reasoning_details'],
      },
      {
        name: 'an answer of which nothing can be carried is left out',
        asked: [USER, assistant({ content: [{ type: 'hologram', depth: 3 }] }), USER],
        sent: [USER, USER],
        dropped: ['content.hologram'],
      },
      {
        name: 'refusals, names, unknown fields',
        asked: [
          { ...USER, name: 'ann' },
          assistant({ content: null, refusal: 'No.', mood: 'calm' }),
          assistant({ content: null }),
        ],
        sent: [USER, assistant({ content: 'No.' }), assistant({ content: '' })],
        dropped: ['messages.name', 'messages.mood'],
      },
    ]),
  )

  test('a model that does not reason gets no thoughts', () => {
    const { body, dropped } = build(
      { messages: [assistant({ content: 'A', reasoning: 'Plain.' }), USER] },
      { supportedParameters: [] },
    )
    expect(body.messages).toEqual([assistant({ content: 'A' }), USER])
    expect(dropped).toEqual(['messages.reasoning'])
  })
})
