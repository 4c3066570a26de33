import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { FUNCTION } from './parsed.ts'
import { parse } from './written.ts'

describe('fields', () => {
  const rows: [string, JsonObject, object][] = [
    ['text is one user message', { input: 'Hi' }, { messages: [{ role: 'user', content: 'Hi' }] }],
    [
      'instructions come first',
      { instructions: 'Be brief.', input: 'Hi' },
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    ['only a template', { prompt: { id: 'pmpt_1' } }, { messages: [], ownFields: ['prompt'] }],
    ['fallbacks', { input: 'x', models: ['m', 'n'] }, { models: ['m', 'n'] }],
    ['the bound', { input: 'x', max_output_tokens: 50 }, { maxOutputTokens: 50 }],
    [
      'sampling',
      { input: 'x', temperature: 2, top_p: 0, top_k: 5, frequency_penalty: -2, presence_penalty: 2 },
      { sampling: { temperature: 2, topP: 0, topK: 5, frequencyPenalty: -2, presencePenalty: 2 } },
    ],
    ['logprobs by number', { input: 'x', top_logprobs: 3 }, { sampling: { logprobs: true, topLogprobs: 3 } }],
    [
      'logprobs by include',
      { input: 'x', include: ['message.output_text.logprobs'] },
      { sampling: { logprobs: true } },
    ],
    ['no logprobs', { input: 'x', top_logprobs: 0 }, { sampling: {} }],
    [
      'reasoning',
      {
        input: 'x',
        reasoning: { effort: 'xhigh', summary: 'auto', enabled: true, max_tokens: 9, mode: 'pro' },
      },
      {
        reasoning: { effort: 'xhigh', summary: 'auto', enabled: true, maxTokens: 9, extra: { mode: 'pro' } },
      },
    ],
    [
      'a schema',
      {
        input: 'x',
        text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } },
      },
      {
        responseFormat: {
          type: 'json_schema',
          json_schema: { name: 'n', schema: { type: 'object' }, strict: true },
        },
      },
    ],
    [
      'JSON',
      { input: 'x', text: { format: { type: 'json_object' } } },
      { responseFormat: { type: 'json_object' } },
    ],
    ['a tier', { input: 'x', service_tier: 'fast' }, { serviceTier: 'fast' }],
    ['images out', { input: 'x', modalities: ['text', 'image'] }, { modalities: ['text', 'image'] }],
    [
      'user, session, metadata and trace',
      { input: 'x', user: 'u', session_id: 's', metadata: { a: 'b' }, trace: { trace_id: 't' } },
      { user: 'u', sessionId: 's', metadata: { a: 'b' }, trace: { trace_id: 't' } },
    ],
    [
      'preferences',
      { input: 'x', provider: { only: ['ACME'] }, route: 'sort' },
      { preferences: { only: ['acme'], sortPartition: 'none' } },
    ],
    [
      'the echo of the upstream body, in streams',
      { input: 'x', stream: true, debug: { echo_upstream_body: true } },
      { echoUpstreamBody: true },
    ],
    [
      'no echo without a stream',
      { input: 'x', debug: { echo_upstream_body: true } },
      { echoUpstreamBody: false },
    ],
    [
      'nulls are absent',
      {
        input: 'x',
        tools: null,
        tool_choice: null,
        temperature: null,
        reasoning: null,
        text: null,
        include: null,
        metadata: null,
        service_tier: null,
        truncation: null,
      },
      { tools: [], sampling: {}, parameters: [] },
    ],
    [
      'parameters by their names in the catalogue',
      {
        input: 'x',
        max_output_tokens: 1,
        tools: [FUNCTION],
        tool_choice: 'auto',
        reasoning: {},
        text: { verbosity: 'low', format: { type: 'json_object' } },
      },
      { parameters: ['max_tokens', 'response_format', 'tools', 'tool_choice', 'reasoning', 'verbosity'] },
    ],
    [
      'fields that only this dialect has',
      {
        input: 'x',
        safety_identifier: 's',
        truncation: 'auto',
        max_tool_calls: 2,
        include: ['reasoning.encrypted_content', 'web_search_call.results'],
        text: { verbosity: 'low' },
        plugins: [{ id: 'moderation', enabled: false }],
        brand_new: 1,
        store: true,
        previous_response_id: 'resp_1',
      },
      {
        ownFields: [
          'safety_identifier',
          'max_tool_calls',
          'brand_new',
          'truncation',
          'include.web_search_call.results',
          'text.verbosity',
        ],
      },
    ],
  ]
  test.each(rows)('%s', (_, body, wanted) => {
    const request = parse(body)
    expect(request).toMatchObject({ apiType: 'responses', dialect: 'responses', ...wanted })
    expect(request.body).toEqual({ model: 'm', ...body })
  })

  test("the body is the caller's object, unchanged", () => {
    const body = { model: 'm', input: [{ role: 'user', content: 'Hi', later: 1 }], new_field: { a: 1 } }
    const copy = structuredClone(body)
    const request = parse(body)
    expect(body).toEqual(copy)
    expect(request.body['new_field']).toEqual({ a: 1 })
  })

  test('the session of the header', () => {
    expect(parse({ input: 'x' }, new Headers({ 'x-session-id': 'h' })).sessionId).toBe('h')
  })

  test('clients that break on the events of the specification', () => {
    const strict = (agent: string) => parse({ input: 'x' }, new Headers({ 'user-agent': agent })).strictEvents
    expect(strict('OpenAI/JS 7.55.0')).toBe(true)
    expect(strict('speakeasy-sdk/typescript 1.3.19')).toBe(true)
    expect(strict('curl/8')).toBeUndefined()
  })
})

describe('tools', () => {
  const CUSTOM = { type: 'custom', name: 'patch', description: 'Edits' }
  const GRAMMAR = {
    type: 'custom',
    name: 'sum',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "1"' },
  }

  test('functions, free text and namespaces are functions; others are unchanged', () => {
    const search = { type: 'web_search', filters: {} }
    const { tools } = parse({
      input: 'x',
      tools: [
        { ...FUNCTION, strict: true, description: 'Tides', defer_loading: true },
        CUSTOM,
        GRAMMAR,
        { type: 'namespace', name: 'crm', tools: [{ ...FUNCTION, name: 'find' }] },
        search,
      ],
    })
    expect(tools).toMatchObject([
      { type: 'function', name: 'tide', strict: true, description: 'Tides', extra: { defer_loading: true } },
      { type: 'function', name: 'patch', parameters: { required: ['input'] } },
      {
        name: 'sum',
        parameters: { properties: { input: { description: expect.stringContaining('lark') } } },
      },
      { type: 'function', name: 'crm__find' },
      { type: 'other', data: search },
    ])
  })

  test('an item adds tools', () => {
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [FUNCTION] },
      { role: 'user', content: 'x' },
    ]
    expect(parse({ input, tool_choice: { type: 'function', name: 'tide' } })).toMatchObject({
      tools: [{ type: 'function', name: 'tide' }],
      toolChoice: { type: 'function', name: 'tide' },
    })
  })

  const choices: [unknown, unknown][] = [
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [
      { type: 'function', name: 'tide' },
      { type: 'function', name: 'tide' },
    ],
    [
      { type: 'custom', name: 'patch' },
      { type: 'function', name: 'patch' },
    ],
    [{ type: 'web_search' }, { type: 'other', data: { type: 'web_search' } }],
  ]
  test.each(choices)('choice %j', (choice, wanted) => {
    const request = parse({ input: 'x', tools: [FUNCTION, CUSTOM], tool_choice: choice })
    expect<unknown>(request.toolChoice).toEqual(wanted)
  })

  test('allowed tools remove all other tools', () => {
    const choice = {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'custom', name: 'patch' }, { type: 'web_search' }],
    }
    const tools = [FUNCTION, CUSTOM, { type: 'web_search' }, { type: 'file_search', vector_store_ids: ['v'] }]
    const request = parse({ input: 'x', tools, tool_choice: choice })
    expect(request.toolChoice).toBe('required')
    expect(request.tools.map((tool) => (tool.type === 'function' ? tool.name : tool.data['type']))).toEqual([
      'patch',
      'web_search',
    ])
  })
})
