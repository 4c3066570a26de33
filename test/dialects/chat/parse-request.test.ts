import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'
import { chatBody } from '../../../src/dialects/chat/schema.ts'

const HELLO = [{ role: 'user', content: 'hello' }]
const read = (fields: JsonObject = {}, headers: Record<string, string> = {}) =>
  parseChat({ messages: HELLO, ...fields }, new Headers(headers))

test('the least request', () => {
  const body = { messages: HELLO }
  const request = parseChat(body, new Headers())
  expect(request.body).toBe(body)
  expect(request).toEqual({
    apiType: 'completions',
    dialect: 'chat',
    body,
    models: [],
    stream: false,
    messages: [{ role: 'user', content: 'hello' }],
    tools: [],
    sampling: {},
    preferences: { allowFallbacks: true, requireParameters: false },
    echoUpstreamBody: false,
    parameters: [],
  })
})

/** The table of POST /chat/completions, and what real clients send besides. */
const SPEC_FIELDS =
  'messages model models stream stream_options max_tokens max_completion_tokens temperature top_p top_k top_a min_p frequency_penalty presence_penalty repetition_penalty seed stop logit_bias logprobs top_logprobs tools tool_choice parallel_tool_calls response_format reasoning reasoning_effort modalities plugins provider route service_tier session_id user metadata trace cache_control debug image_config stop_server_tools_when'
const CLIENT_FIELDS =
  'prediction prompt_cache_key prompt_cache_options preset transforms include_reasoning usage web_search_options verbosity'

test('the schema names every field, and null is accepted as absent wherever a field is optional', () => {
  const names = Object.keys(chatBody.properties)
  expect(names).toEqual(expect.arrayContaining(`${SPEC_FIELDS} ${CLIENT_FIELDS}`.split(' ')))
  expect(chatBody.required).toEqual(['messages'])
  const nulls = Object.fromEntries(names.filter((name) => name !== 'messages').map((name) => [name, null]))
  const { body: _nulls, ...request } = read(nulls)
  const { body: _plain, ...plain } = read()
  expect(request).toEqual(plain)
})

/** Python clients that serialize complete models send such nulls, and so do replayed replies. */
test('null is accepted as absent in parts, calls and formats too', () => {
  const withNulls = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'x', cache_control: null },
        {
          type: 'image_url',
          image_url: { url: 'https://a.example/i.png', detail: null },
          cache_control: null,
        },
        { type: 'file', file: { file_data: 'data:,x', file_id: null, filename: null } },
        { type: 'file', file: { file_data: null, file_id: 'file_1', filename: null } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: null, function: { name: 'f', arguments: '{}' }, custom: null },
        { id: 'c2', type: 'custom', function: null, custom: { name: 'g', input: 'x' } },
      ],
    },
  ]
  const without = JSON.parse(
    JSON.stringify(withNulls, (key, value) => (value === null && key !== 'content' ? undefined : value)),
  )
  expect(read({ messages: withNulls }).messages).toEqual(read({ messages: without }).messages)
  const format = { type: 'json_object', json_schema: null, grammar: null }
  expect(() => read({ response_format: format, tool_choice: { type: 'auto', function: null } })).not.toThrow()
  expect(() => read({ prediction: { type: 'content', content: null } })).not.toThrow()
})

test('every object of the schema lets unknown fields pass', () => {
  const closed: string[] = []
  const walk = (schema: unknown, at: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    const isRecord = 'patternProperties' in schema
    if ('type' in schema && schema.type === 'object' && !isRecord) {
      if (!('additionalProperties' in schema) || schema.additionalProperties !== true) closed.push(at)
    }
    for (const [key, value] of Object.entries(schema)) walk(value, `${at}/${key}`)
  }
  walk(chatBody, '')
  expect(closed).toEqual([])
})

describe('models', () => {
  const rows: [JsonObject, string[]][] = [
    [{ model: 'a/b' }, ['a/b']],
    [{ models: ['c/d', 'a/b', 'c/d'] }, ['c/d', 'a/b']],
    [{ model: 'a/b', models: ['c/d', 'a/b'] }, ['a/b', 'c/d']],
    [{ models: [] }, []],
  ]
  test.each(rows)('%j → %j', (fields, models) => expect(read(fields).models).toEqual(models))
})

test('parts of every type, with their marks; unknown ones as they came', () => {
  const cache = { cache_control: { type: 'ephemeral' } }
  const content = [
    { type: 'text', text: 'x', ...cache },
    { type: 'image_url', image_url: { url: 'https://a.example/i.png', detail: 'low' } },
    { type: 'image_url', image_url: 'https://a.example/j.png' },
    { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
    { type: 'file', file: { file_data: 'data:,x', filename: 'x.txt' }, ...cache },
    { type: 'file', file: { file_id: 'file_1' } },
    { type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } },
    { type: 'input_video', video_url: { url: 'https://a.example/w.mp4' } },
    { type: 'hologram', text: 5 },
  ]
  expect(read({ messages: [{ role: 'user', content, name: 'Ann', mood: 'good' }] }).messages).toEqual([
    {
      role: 'user',
      name: 'Ann',
      extra: { mood: 'good' },
      content: [
        { type: 'text', text: 'x', extra: cache },
        { type: 'image', url: 'https://a.example/i.png', detail: 'low' },
        { type: 'image', url: 'https://a.example/j.png' },
        { type: 'audio', data: 'AA==', format: 'wav' },
        { type: 'file', data: 'data:,x', filename: 'x.txt', extra: cache },
        { type: 'file', fileId: 'file_1' },
        { type: 'video', url: 'https://a.example/v.mp4' },
        { type: 'video', url: 'https://a.example/w.mp4' },
        { type: 'unknown', data: { type: 'hologram', text: 5 } },
      ],
    },
  ])
})

test('a turn with tool calls, reasoning and its answer', () => {
  const details = [{ type: 'reasoning.encrypted', data: 'zzz' }]
  const messages = [
    { role: 'developer', content: 'be brief' },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'hm',
      reasoning_details: details,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'f', arguments: '{' }, extra_content: { a: 1 } },
        { id: 'c2', type: 'custom', custom: { name: 'g', input: 'x' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: '42' },
  ]
  expect(read({ messages }).messages).toEqual([
    { role: 'developer', content: 'be brief' },
    {
      role: 'assistant',
      content: null,
      reasoning: 'hm',
      reasoningDetails: details,
      toolCalls: [
        { id: 'c1', name: 'f', arguments: '{', extra: { extra_content: { a: 1 } } },
        {
          id: 'c2',
          name: 'g',
          arguments: 'x',
          extra: { type: 'custom' },
        },
      ],
    },
    { role: 'tool', content: '42', toolCallId: 'c1' },
  ])
})

test('tools and their choice', () => {
  const fn = { type: 'function', function: { name: 'f', description: 'd', parameters: {}, strict: null } }
  const search = { type: 'openrouter:web_search', parameters: { max_results: 3 } }
  const request = read({ tools: [fn, search], tool_choice: { type: 'function', function: { name: 'f' } } })
  expect(request.tools).toEqual([
    { type: 'function', name: 'f', description: 'd', parameters: {} },
    { type: 'other', data: search },
  ])
  expect(request.toolChoice).toEqual({ type: 'function', name: 'f' })
  expect(read({ tools: [fn], tool_choice: 'required' }).toolChoice).toBe('required')
  expect(read({ tool_choice: 'auto' }).toolChoice).toBe('auto')
  expect(read({ tool_choice: { type: 'web_search' } }).toolChoice).toEqual({
    type: 'other',
    data: { type: 'web_search' },
  })
})

describe('reasoning', () => {
  const rows: [JsonObject, unknown][] = [
    [{ reasoning_effort: 'high' }, { effort: 'high' }],
    [{ reasoning_effort: 'high', reasoning: { effort: 'high' } }, { effort: 'high' }],
    [
      { reasoning_effort: 'xhigh', reasoning: { exclude: true } },
      { effort: 'xhigh', exclude: true },
    ],
    [{ reasoning_effort: null, reasoning: { effort: 'low' } }, { effort: 'low' }],
    [
      { reasoning: { max_tokens: 9, enabled: true, summary: 'auto', x: 1 } },
      {
        maxTokens: 9,
        enabled: true,
        summary: 'auto',
        extra: { x: 1 },
      },
    ],
    [{ include_reasoning: false }, { exclude: true }],
    [{ include_reasoning: false, reasoning: { exclude: false } }, { exclude: false }],
    [{ include_reasoning: true }, undefined],
    [{ reasoning: {} }, undefined],
  ]
  test.each(rows)('%j → %j', (fields, reasoning) =>
    expect<unknown>(read(fields).reasoning).toEqual(reasoning),
  )
})

describe('provider preferences', () => {
  const defaults = { allowFallbacks: true, requireParameters: false }
  const rows: [JsonObject, JsonObject][] = [
    [
      { provider: { order: ['OpenAI'], only: ['DeepInfra/FP8'], ignore: [] } },
      {
        order: ['openai'],
        only: ['deepinfra/fp8'],
      },
    ],
    [
      { provider: { allow_fallbacks: false, require_parameters: true } },
      {
        allowFallbacks: false,
        requireParameters: true,
      },
    ],
    [{ provider: { sort: 'price' } }, { sort: 'price' }],
    [
      { provider: { sort: { by: 'latency', partition: 'none' } } },
      { sort: 'latency', sortPartition: 'none' },
    ],
    [{ route: 'fallback' }, { sortPartition: 'model' }],
    [{ route: 'sort' }, { sortPartition: 'none' }],
    [{ route: 'sort', provider: { sort: { partition: 'model' } } }, { sortPartition: 'model' }],
    [
      { provider: { data_collection: 'deny', zdr: true, enforce_distillable_text: true } },
      {
        dataCollection: 'deny',
        zdr: true,
        enforceDistillableText: true,
      },
    ],
    [
      { provider: { max_price: { prompt: 0.5, completion: '2', image: 1e-7, request: 0 } } },
      {
        maxPrice: { prompt: '0.5', completion: '2', image: '0.0000001', request: '0' },
      },
    ],
    [
      { provider: { preferred_min_throughput: 40, preferred_max_latency: { p90: 2, p50: null } } },
      {
        preferredMinThroughput: { p50: 40 },
        preferredMaxLatency: { p90: 2 },
      },
    ],
    [{ provider: { order: null, sort: null, max_price: {} } }, {}],
  ]
  test.each(rows)('%j', (fields, preferences) =>
    expect(read(fields).preferences).toEqual({ ...defaults, ...preferences }),
  )
})

test('bounds: max_completion_tokens wins, and n is counted', () => {
  expect(read({ max_tokens: 20 }).maxOutputTokens).toBe(20)
  expect(read({ max_tokens: 20, max_completion_tokens: 10, n: 3 })).toMatchObject({
    maxOutputTokens: 10,
    choiceCount: 3,
  })
})

test('sampling and the names of what was set, in the words of the catalogue', () => {
  const request = read({
    temperature: 0,
    top_p: 1,
    stop: 'END',
    seed: null,
    logit_bias: { '5': -1 },
    tools: [],
    reasoning_effort: 'low',
    max_tokens: 3,
    response_format: { type: 'json_schema', json_schema: { name: 'a' } },
  })
  expect(request.sampling).toEqual({ temperature: 0, topP: 1, stop: ['END'], logitBias: { '5': -1 } })
  expect(request.parameters.toSorted()).toEqual(
    'logit_bias max_tokens reasoning_effort response_format stop structured_outputs temperature top_p'.split(
      ' ',
    ),
  )
})

test('session, user, metadata, trace', () => {
  const metadata = { team: 'a', '': 'empty key' }
  expect(
    read(
      { session_id: 's', user: 'u', metadata, trace: { trace_id: 't', own: { a: 1 } } },
      { 'x-session-id': 'h' },
    ),
  ).toMatchObject({ sessionId: 's', user: 'u', metadata, trace: { trace_id: 't', own: { a: 1 } } })
  expect(read({}, { 'x-session-id': 'h' }).sessionId).toBe('h')
  expect(read({ session_id: '' }, { 'x-session-id': 'h' }).sessionId).toBe('h')
  expect(read({ session_id: 's' }, { 'x-session-id': 'h'.repeat(257) }).sessionId).toBe('s')
})

test('the upstream body is echoed in streams only', () => {
  const debug = { echo_upstream_body: true }
  expect(read({ debug, stream: true }).echoUpstreamBody).toBe(true)
  expect(read({ debug }).echoUpstreamBody).toBe(false)
})

test('limits are inclusive', () => {
  const metadata = Object.fromEntries(
    Array.from({ length: 16 }, (_, i) => [`${i}`.padEnd(64, 'k'), 'v'.repeat(512)]),
  )
  const fields = {
    metadata,
    session_id: 's'.repeat(256),
    user: 'u'.repeat(256),
    stop: ['a', 'b', 'c', 'd'],
    temperature: 2,
    top_p: 0,
    frequency_penalty: -2,
    presence_penalty: 2,
    top_logprobs: 20,
    max_tokens: 1,
    plugins: [
      { id: 'web', max_results: 25 },
      { id: 'fusion', max_tool_calls: 16, enabled: false },
    ],
    service_tier: 'fast',
    stop_server_tools_when: [
      { type: 'step_count_is', step_count: 1 },
      { type: 'max_cost', max_cost_in_dollars: 0 },
    ],
  }
  expect(read(fields).body).toMatchObject(fields)
})

test('any JSON either is read or is refused with a 400', () => {
  const names = fc.constantFrom(...Object.keys(chatBody.properties))
  const body = fc
    .dictionary(names, fc.jsonValue({ maxDepth: 4 }))
    .map((fields) => ({ messages: HELLO, ...fields }))
  fc.assert(
    fc.property(body, (fields) => {
      try {
        expect(parseChat(fields, new Headers()).body).toBe(fields)
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError)
      }
    }),
    { numRuns: 1_000 },
  )
})
