import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/core/errors.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'
import { chatBody } from '../../../src/dialects/chat/schema.ts'
import { HELLO, parse } from './parsed.ts'

test('the smallest request', () => {
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

/** The fields of POST /chat/completions, and further ones that clients send. */
const SPEC_FIELDS =
  'messages model models stream stream_options max_tokens max_completion_tokens temperature top_p top_k top_a min_p frequency_penalty presence_penalty repetition_penalty seed stop logit_bias logprobs top_logprobs tools tool_choice parallel_tool_calls response_format reasoning reasoning_effort modalities plugins provider route service_tier session_id user metadata trace cache_control debug image_config stop_server_tools_when'

const CLIENT_FIELDS =
  'prediction prompt_cache_key prompt_cache_options preset transforms include_reasoning usage web_search_options verbosity'

test('the schema names every field, and null is accepted as absent wherever a field is optional', () => {
  const names = Object.keys(chatBody.properties)
  expect(names).toEqual(expect.arrayContaining(`${SPEC_FIELDS} ${CLIENT_FIELDS}`.split(' ')))
  expect(chatBody.required).toEqual(['messages'])
  const nulls = Object.fromEntries(names.filter((name) => name !== 'messages').map((name) => [name, null]))
  const { body: _nulls, ...request } = parse(nulls)
  const { body: _plain, ...plain } = parse()
  expect(request).toEqual(plain)
})

/** Python clients that serialize complete models send such nulls; so do replayed replies. */
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
  expect(parse({ messages: withNulls }).messages).toEqual(parse({ messages: without }).messages)
  const format = { type: 'json_object', json_schema: null, grammar: null }
  expect(() =>
    parse({ response_format: format, tool_choice: { type: 'auto', function: null } }),
  ).not.toThrow()
  expect(() => parse({ prediction: { type: 'content', content: null } })).not.toThrow()
})

test('every object of the schema accepts unknown fields', () => {
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

test('max_completion_tokens wins over max_tokens; n is the number of choices', () => {
  expect(parse({ max_tokens: 20 }).maxOutputTokens).toBe(20)
  expect(parse({ max_tokens: 20, max_completion_tokens: 10, n: 3 })).toMatchObject({
    maxOutputTokens: 10,
    choiceCount: 3,
  })
})

test('sampling, and the parameters that were set, by their names in the catalogue', () => {
  const request = parse({
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
    parse(
      { session_id: 's', user: 'u', metadata, trace: { trace_id: 't', own: { a: 1 } } },
      { 'x-session-id': 'h' },
    ),
  ).toMatchObject({ sessionId: 's', user: 'u', metadata, trace: { trace_id: 't', own: { a: 1 } } })
  expect(parse({}, { 'x-session-id': 'h' }).sessionId).toBe('h')
  expect(parse({ session_id: '' }, { 'x-session-id': 'h' }).sessionId).toBe('h')
  expect(parse({ session_id: 's' }, { 'x-session-id': 'h'.repeat(257) }).sessionId).toBe('s')
})

test('the upstream body is echoed in streams only', () => {
  const debug = { echo_upstream_body: true }
  expect(parse({ debug, stream: true }).echoUpstreamBody).toBe(true)
  expect(parse({ debug }).echoUpstreamBody).toBe(false)
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
      { id: 'web', max_results: 25, enabled: false },
      { id: 'fusion', max_tool_calls: 16, enabled: false },
    ],
    service_tier: 'fast',
    stop_server_tools_when: [
      { type: 'step_count_is', step_count: 1 },
      { type: 'max_cost', max_cost_in_dollars: 0 },
    ],
  }
  expect(parse(fields).body).toMatchObject(fields)
})

test('any JSON is either parsed or rejected with a 400', () => {
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
