import { describe, expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { messagesEgress } from '../../../src/dialects/messages/index.ts'
import { attemptOf } from './attempt.ts'

const HELLO = [{ role: 'user', content: 'Hello' }]
const ADAPTIVE = {
  reasoning: { efforts: ['low', 'medium', 'high', 'max'], takesBudget: false, mayBeOff: false },
}

const built = (fields: JsonObject, attempt: Attempt = attemptOf()) =>
  messagesEgress.build(
    chatIngress.parse({ model: 'lab/model', messages: HELLO, ...fields }, new Headers()),
    attempt,
  )

/** What a field of the request adds to the least body, and what is dropped for it. */
type Row = [what: string, fields: JsonObject, body: JsonObject, dropped?: string[], attempt?: Attempt]

function table(rows: Row[]): void {
  test.each(rows.map((row) => [row[0], row] as const))('%s', (_, [, fields, body, dropped, attempt]) => {
    const call = built(fields, attempt)
    const least = {
      model: attempt?.endpoint.upstreamId ?? 'claude-sonnet-4-5',
      max_tokens: 4096,
      messages: HELLO,
    }
    expect(call.body).toEqual({ ...least, ...body })
    expect([...call.dropped].sort()).toEqual([...(dropped ?? [])].sort())
  })
}

test('the least call', () => {
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
    ['the bound of money', { max_tokens: 9000 }, { max_tokens: 2000 }, [], attemptOf(undefined, {}, 2000)],
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
      'what has no word here',
      {
        min_p: 0.1,
        top_a: 0.1,
        frequency_penalty: 1,
        presence_penalty: 1,
        repetition_penalty: 1.1,
        seed: 1,
        logit_bias: { '1': 1 },
        logprobs: true,
        top_logprobs: 2,
        n: 2,
        modalities: ['text', 'image'],
        metadata: { a: 'b' },
        prediction: { type: 'content', content: 'x' },
        verbosity: 'low',
        web_search_options: {},
      },
      {},
      [
        'min_p',
        'top_a',
        'frequency_penalty',
        'presence_penalty',
        'repetition_penalty',
        'seed',
        'logit_bias',
        'logprobs',
        'top_logprobs',
        'n',
        'modalities',
        'metadata',
        'prediction',
        'verbosity',
        'web_search_options',
      ],
    ],
    ['what says nothing', { n: 1, modalities: ['text'], provider: {}, session_id: 's' }, {}],
  ])
})

describe('messages', () => {
  const said = (messages: JsonObject[], system?: unknown): JsonObject =>
    system === undefined ? { messages } : { messages, system }
  const png = 'data:image/png;base64,iVBORw0KGgo='
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
  const MARK = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const call = (id: string, json: string) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: json },
  })
  const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
  table([
    [
      'one instruction',
      { messages: [{ role: 'system', content: 'Be brief.' }, ...HELLO] },
      said(HELLO, 'Be brief.'),
    ],
    [
      'instructions wherever they stand',
      {
        messages: [
          { role: 'developer', content: [{ type: 'text', text: 'One.', ...MARK }] },
          ...HELLO,
          { role: 'system', content: 'Two.' },
        ],
      },
      said(HELLO, [
        { type: 'text', text: 'One.', ...MARK },
        { type: 'text', text: 'Two.' },
      ]),
    ],
    [
      'instructions alone',
      { messages: [{ role: 'system', content: 'Write.' }] },
      said([{ role: 'user', content: 'Write.' }]),
    ],
    [
      'turns of one role, and empty ones',
      {
        messages: [
          ...HELLO,
          { role: 'user', content: [{ type: 'text', text: '' }] },
          { role: 'assistant', content: '\n\n' },
          { role: 'user', content: [{ type: 'text', text: ' ' }] },
          { role: 'user', content: 'there' },
          { role: 'assistant', content: '' },
        ],
      },
      said([
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hello' },
            { type: 'text', text: 'there' },
          ],
        },
      ]),
    ],
    [
      'a begun answer, a name, a former refusal',
      {
        messages: [
          { role: 'user', name: 'Ann', content: 'a' },
          { role: 'assistant', refusal: 'No.' },
          { role: 'user', content: 'b' },
          { role: 'assistant', content: 'Well, \n' },
        ],
      },
      said([
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'No.' },
        { role: 'user', content: 'b' },
        { role: 'assistant', content: 'Well,' },
      ]),
      ['messages.name'],
    ],
    [
      'a begun answer of nothing',
      { messages: [...HELLO, { role: 'assistant', content: ' \n' }] },
      said(HELLO),
    ],
    [
      'images',
      user([
        { type: 'image_url', image_url: { url: png, detail: 'high' }, ...MARK },
        { type: 'image_url', image_url: { url: 'https://a.example/i.png', detail: 'auto' } },
      ]),
      said([
        {
          role: 'user',
          content: [
            { type: 'image', source, ...MARK },
            { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' } },
          ],
        },
      ]),
      ['image_url.detail'],
    ],
    [
      'files',
      user([
        {
          type: 'file',
          file: { file_data: 'data:application/pdf;base64,JVBERg==', filename: 'a.pdf' },
          ...MARK,
        },
        { type: 'file', file: { file_data: 'https://a.example/b.pdf' } },
        { type: 'file', file: { file_data: 'JVBERg==' } },
        { type: 'file', file: { file_data: 'data:text/plain,caf%C3%A9' } },
        { type: 'file', file: { file_data: png } },
        { type: 'file', file: { file_data: 'data:application/zip;base64,UEs=' } },
      ]),
      said([
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
              title: 'a.pdf',
              ...MARK,
            },
            { type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'café' } },
            { type: 'image', source },
          ],
        },
      ]),
      ['content.file'],
    ],
    [
      'what the dialect cannot hold',
      user([
        { type: 'text', text: 'Hello' },
        { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
        { type: 'video_url', video_url: { url: 'https://a.example/v' } },
        { type: 'hologram' },
      ]),
      {},
      ['content.input_audio', 'content.video_url', 'content.hologram'],
    ],
    [
      'calls and their results',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'I look.',
            tool_calls: [call('a:1', '{"x":1}'), call('b', ''), call('c', '{"x')],
          },
          { role: 'tool', tool_call_id: 'a:1', content: 'one' },
          {
            role: 'tool',
            tool_call_id: 'b',
            content: [
              { type: 'text', text: 'two', ...MARK },
              { type: 'image_url', image_url: { url: png } },
            ],
          },
          { role: 'tool', tool_call_id: 'c', content: '', is_error: true, ...MARK },
          { role: 'user', content: 'And?' },
        ],
      },
      said([
        ...HELLO,
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'a_1', name: 'f', input: { x: 1 } },
            { type: 'tool_use', id: 'b', name: 'f', input: {} },
            { type: 'tool_use', id: 'c', name: 'f', input: { INVALID_JSON: '{"x' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a_1', content: 'one' },
            {
              type: 'tool_result',
              tool_use_id: 'b',
              content: [
                { type: 'text', text: 'two' },
                { type: 'image', source },
              ],
              ...MARK,
            },
            { type: 'tool_result', tool_use_id: 'c', is_error: true, ...MARK },
            { type: 'text', text: 'And?' },
          ],
        },
      ]),
    ],
    [
      'a mark on a message',
      { messages: [{ role: 'user', content: 'Hello', ...MARK }] },
      said([{ role: 'user', content: [{ type: 'text', text: 'Hello', ...MARK }] }]),
    ],
    [
      'thoughts: whole, in pieces, redacted, without a text',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'Done.',
            reasoning: 'hm so',
            reasoning_details: [
              {
                type: 'reasoning.text',
                text: 'hm',
                signature: 's0',
                format: 'anthropic-claude-v1',
                index: 0,
              },
              { type: 'reasoning.text', text: 's', format: 'anthropic-claude-v1', index: 1 },
              { type: 'reasoning.text', text: 'o', format: 'anthropic-claude-v1', index: 1 },
              { type: 'reasoning.text', signature: 's1', format: 'anthropic-claude-v1', index: 1 },
              { type: 'reasoning.encrypted', data: 'zzz', format: 'anthropic-claude-v1', index: 2 },
              { type: 'reasoning.text', signature: 's3', index: 3 },
            ],
          },
          { role: 'user', content: 'Go on' },
        ],
      },
      said([
        ...HELLO,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's0' },
            { type: 'thinking', thinking: 'so', signature: 's1' },
            { type: 'redacted_thinking', data: 'zzz' },
            { type: 'thinking', thinking: '', signature: 's3' },
            { type: 'text', text: 'Done.' },
          ],
        },
        { role: 'user', content: 'Go on' },
      ]),
    ],
    [
      'thoughts of others',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'Done.',
            reasoning_details: [
              { type: 'reasoning.encrypted', data: 'zzz', format: 'openai-responses-v1' },
              { type: 'reasoning.text', text: 'unsigned' },
            ],
          },
          { role: 'user', content: 'Go on' },
          { role: 'assistant', content: 'Well', reasoning: 'text alone' },
        ],
      },
      said([
        ...HELLO,
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: 'Go on' },
        { role: 'assistant', content: 'Well' },
      ]),
      ['messages.reasoning_details', 'messages.reasoning'],
    ],
  ])

  test('a document by its id is behind a beta', () => {
    const { headers, body } = built(user([{ type: 'file', file: { file_id: 'file_1' } }]))
    expect(headers).toEqual({ 'anthropic-version': '2023-06-01', 'anthropic-beta': 'files-api-2025-04-14' })
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }] },
    ])
  })
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
      'minimal is the least budget',
      { reasoning: { effort: 'minimal' }, max_tokens: 2000 },
      budget(1024, 2000),
    ],
    ['on', { reasoning: { enabled: true } }, budget(8192, 16_384)],
    ['a budget', { reasoning: { max_tokens: 3000 }, max_tokens: 8000 }, budget(3000, 8000)],
    [
      'a budget beyond the bound',
      { reasoning: { max_tokens: 9000 }, max_tokens: 2000 },
      budget(1999, 2000),
      ['reasoning.max_tokens'],
    ],
    [
      'no room to think',
      { reasoning: { effort: 'high' }, max_tokens: 1000 },
      { max_tokens: 1000 },
      ['reasoning'],
    ],
    ['off', { reasoning: { effort: 'none' }, max_tokens: 9 }, { max_tokens: 9 }],
    ['only hidden', { reasoning: { exclude: true }, max_tokens: 9 }, { max_tokens: 9 }],
    [
      'sampling gives way',
      { reasoning: { max_tokens: 2000 }, max_tokens: 4000, temperature: 0.5, top_p: 0.5, top_k: 3 },
      budget(2000, 4000),
      ['temperature', 'top_p', 'top_k'],
    ],
    [
      'what does not hinder stays',
      { reasoning: { max_tokens: 2000 }, max_tokens: 4000, top_p: 0.97 },
      { ...budget(2000, 4000), top_p: 0.97 },
    ],
    [
      'gives way to a forced tool',
      { reasoning: { effort: 'high' }, max_tokens: 4000, tools, tool_choice: 'required' },
      { max_tokens: 4000, tools: written, tool_choice: { type: 'any' } },
      ['reasoning'],
    ],
    [
      'gives way where the thoughts of the turn are lost',
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
      'what has no word',
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
      'native, what it refuses is said',
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
      'a tool that the caller forces wins',
      { ...format(), tools: [f], tool_choice: 'required' },
      { tools: [written], tool_choice: { type: 'any' } },
      ['response_format'],
      old,
    ],
    ['a list has no tool', format({ type: 'array', items: {} }), {}, ['response_format'], old],
    [
      'another model that says it can',
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
