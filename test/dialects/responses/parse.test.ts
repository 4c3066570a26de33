import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { parse } from './frames.ts'

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const FUNCTION = { type: 'function', name: 'tide', parameters: { type: 'object', properties: {} } }

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
    ['a template alone', { prompt: { id: 'pmpt_1' } }, { messages: [], ownFields: ['prompt'] }],
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
      'the record',
      { input: 'x', user: 'u', session_id: 's', metadata: { a: 'b' }, trace: { trace_id: 't' } },
      { user: 'u', sessionId: 's', metadata: { a: 'b' }, trace: { trace_id: 't' } },
    ],
    [
      'preferences',
      { input: 'x', provider: { only: ['ACME'] }, route: 'sort' },
      { preferences: { only: ['acme'], sortPartition: 'none' } },
    ],
    [
      'echo, in streams',
      { input: 'x', stream: true, debug: { echo_upstream_body: true } },
      { echoUpstreamBody: true },
    ],
    ['no echo otherwise', { input: 'x', debug: { echo_upstream_body: true } }, { echoUpstreamBody: false }],
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
      'parameters in the words of the catalogue',
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
      'what only this dialect can carry',
      {
        input: 'x',
        safety_identifier: 's',
        truncation: 'auto',
        max_tool_calls: 2,
        include: ['reasoning.encrypted_content', 'web_search_call.results'],
        text: { verbosity: 'low' },
        plugins: [{ id: 'web' }, { id: 'moderation', enabled: false }],
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
          'plugins.web',
        ],
      },
    ],
  ]
  test.each(rows)('%s', (_, body, wanted) => {
    const request = parse(body)
    expect(request).toMatchObject({ apiType: 'responses', dialect: 'responses', ...wanted })
    expect(request.body).toEqual({ model: 'm', ...body })
  })

  test("the body is the caller's own, and stays as it was", () => {
    const body = { model: 'm', input: [{ role: 'user', content: 'Hi', later: 1 }], new_field: { a: 1 } }
    const copy = structuredClone(body)
    const request = parse(body)
    expect(body).toEqual(copy)
    expect(request.body['new_field']).toEqual({ a: 1 })
  })

  test('the session of the header', () => {
    expect(parse({ input: 'x' }, new Headers({ 'x-session-id': 'h' })).sessionId).toBe('h')
  })

  test('who breaks on the events of the specification', () => {
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

  test('functions, free text and namespaces are functions; others are as they came', () => {
    const search = { type: 'web_search', filters: {} }
    const { tools } = parse({
      input: 'x',
      tools: [
        { ...FUNCTION, strict: true, description: 'Tides', defer_loading: true },
        CUSTOM,
        GRAMMAR,
        { type: 'namespace', name: 'crm', tools: [{ ...FUNCTION, name: 'find' }] },
        search,
        { type: 'openrouter:web_search', parameters: {} },
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
      { type: 'other', data: { type: 'openrouter:web_search' } },
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

describe('refused', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
  const image = (image_url: unknown) => ({
    input: [{ role: 'user', content: [{ type: 'input_image', image_url }] }],
  })
  const rows: [string, JsonObject, RegExp][] = [
    ['no input', {}, /^input: is required/],
    ['an empty input', { input: [] }, /^input: is required/],
    ['a number as input', { input: 5 }, /^input: must be a string or a list/],
    ['an item that is none', { input: [5] }, /^input\[0\]/],
    [
      'an unknown item',
      { input: ['x', { type: 'thought' }].slice(1) },
      /^input\[0\]\.type: "thought" is no type/,
    ],
    [
      'an unknown role',
      { input: [{ role: 'boss', content: 'x' }] },
      /^input\[0\]\.role: must be one of "user"/,
    ],
    [
      'an unknown part',
      { input: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      /^input\[0\]\.content\[0\]\.type: must be one of/,
    ],
    [
      'a part without text',
      { input: [{ role: 'user', content: [{ type: 'input_text' }] }] },
      /^input\[0\]\.content\[0\]\.text: is required/,
    ],
    [
      'a call without an id',
      { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] },
      /^input\[0\]\.call_id: is required/,
    ],
    [
      'arguments as an object',
      { input: [{ ...call, arguments: {} }] },
      /^input\[0\]\.arguments: must be a string/,
    ],
    [
      'an output without its call',
      { input: [call, { type: 'function_call_output', call_id: 'd', output: 'x' }] },
      /^input\[1\]\.call_id: answers "d"/,
    ],
    [
      'an output before its call',
      { input: [{ type: 'custom_tool_call_output', call_id: 'c', output: 'x' }, call] },
      /^input\[0\]\.call_id/,
    ],
    [
      'a shell output without its call',
      { input: [{ type: 'shell_call_output', call_id: 'c', output: [] }] },
      /^input\[0\]\.call_id/,
    ],
    [
      'an output without output',
      { input: [call, { type: 'function_call_output', call_id: 'c' }] },
      /^input\[1\]\.output: is required/,
    ],
    [
      'a reference that nobody knows',
      { input: [{ type: 'item_reference', id: 'msg_9' }] },
      /^input\[0\]\.id: names "msg_9"/,
    ],
    ['an image without anything', image(undefined), /^input\[0\]\.content\[0\]\.image_url: is required/],
    [
      'an image by a path',
      image('/etc/passwd'),
      /^input\[0\]\.content\[0\]\.image_url: must be an https URL or a data URL/,
    ],
    [
      'text as an image',
      image('data:text/plain;base64,aGk='),
      /^input\[0\]\.content\[0\]\.image_url: must be a data URL of an image/,
    ],
    [
      'an image that is none',
      image('data:image/png;base64,aGVsbG8gd29ybGQ='),
      /^input\[0\]\.content\[0\]\.image_url: must be the base64 of an image/,
    ],
    [
      'an image of a tool that is none',
      {
        input: [
          call,
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [{ type: 'input_image', image_url: 'data:image/png;base64,aGk=' }],
          },
        ],
      },
      /^input\[1\]\.output\[0\]\.image_url/,
    ],
    [
      'a file without anything',
      { input: [{ role: 'user', content: [{ type: 'input_file' }] }] },
      /^input\[0\]\.content\[0\]: must have file_data/,
    ],
    [
      'a tool without a name',
      { input: 'x', tools: [{ type: 'function' }] },
      /^tools\[0\]\.name: is required/,
    ],
    ['a tool without a type', { input: 'x', tools: [{ name: 'f' }] }, /^tools\[0\]\.type: is required/],
    [
      'a choice that is not there',
      { input: 'x', tools: [FUNCTION], tool_choice: { type: 'function', name: 'ride' } },
      /^tool_choice\.name: names "ride"/,
    ],
    [
      'a choice without a name',
      { input: 'x', tools: [FUNCTION], tool_choice: { type: 'function' } },
      /^tool_choice\.name: is required/,
    ],
    ['a choice of nothing', { input: 'x', tool_choice: 'maybe' }, /^tool_choice/],
    [
      'allowed tools without tools',
      { input: 'x', tool_choice: { type: 'allowed_tools', mode: 'auto' } },
      /^tool_choice\.tools: is required/,
    ],
    [
      'include',
      { input: 'x', include: ['everything'] },
      /^include\[0\]: must be one of "file_search_call\.results"/,
    ],
    ['truncation', { input: 'x', truncation: 'middle' }, /^truncation: must be one of "auto", "disabled"/],
    ['modalities', { input: 'x', modalities: ['audio'] }, /^modalities\[0\]: must be one of "text", "image"/],
    ['effort', { input: 'x', reasoning: { effort: 'huge' } }, /^reasoning\.effort: must be one of/],
    [
      'effort of an update',
      {
        input: [
          { type: 'configuration_update', reasoning: { effort: 'huge' } },
          { role: 'user', content: 'x' },
        ],
      },
      /effort .* must be one of/,
    ],
    ['service_tier', { input: 'x', service_tier: 'gold' }, /^service_tier: must be one of/],
    ['route', { input: 'x', route: 'north' }, /^route: must be one of/],
    ['format', { input: 'x', text: { format: { type: 'yaml' } } }, /^text\.format\.type: must be one of/],
    [
      'a schema without a name',
      { input: 'x', text: { format: { type: 'json_schema', schema: {} } } },
      /^text\.format\.name: is required/,
    ],
    ['temperature', { input: 'x', temperature: 2.1 }, /^temperature: must be a number from 0 to 2/],
    ['top_p', { input: 'x', top_p: -1 }, /^top_p/],
    ['top_logprobs', { input: 'x', top_logprobs: 21 }, /^top_logprobs: must be a whole number from 0 to 20/],
    [
      'the bound',
      { input: 'x', max_output_tokens: 0 },
      /^max_output_tokens: must be a whole number of at least 1/,
    ],
    ['metadata', { input: 'x', metadata: { 'a[0]': 'b' } }, /^metadata: keys must not have square brackets/],
    [
      'too much metadata',
      { input: 'x', metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])) },
      /^metadata/,
    ],
    ['user', { input: 'x', user: 'u'.repeat(257) }, /^user: must be a string of at most 256/],
    ['stop conditions', { input: 'x', stop_server_tools_when: [] }, /^stop_server_tools_when/],
    [
      'both lists of handles',
      { input: 'x', x_search_filter: { allowed_x_handles: ['a'], excluded_x_handles: ['b'] } },
      /^x_search_filter: allowed_x_handles and/,
    ],
    ['an unknown plugin', { input: 'x', plugins: [{ id: 'magic' }] }, /^plugins\[0\]\.id: must be one of/],
  ]
  test.each(rows)('%s', (_, body, sentence) => {
    let error: unknown
    try {
      parse(body)
    } catch (caught) {
      error = caught
    }
    if (!(error instanceof GatewayError)) throw new Error(`not refused: ${String(error)}`)
    expect(error.status).toBe(400)
    expect(error.message).toMatch(sentence)
    expect(error.message.length).toBeLessThan(900)
  })

  test('a stored response has the call', () => {
    const input = [{ type: 'function_call_output', call_id: 'c', output: 'x' }]
    expect(parse({ input, previous_response_id: 'resp_1' }).messages).toEqual([
      { role: 'tool', toolCallId: 'c', content: 'x' },
    ])
  })

  test('an image is an image', () => {
    for (const url of [PIXEL, 'https://a.example/b.png', 'data:image/svg+xml;base64,PHN2Zy8+'])
      expect(parse(image(url)).messages[0]?.content).toMatchObject([{ type: 'image', url }])
  })
})
