import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import type { ProviderQuirks } from '../../../src/core/snapshot.ts'
import { buildChat } from '../../../src/dialects/chat/build.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'

const HELLO = [{ role: 'user', content: 'hello' }]

function attemptOf(
  quirks: ProviderQuirks = {},
  supportedParameters: string[] | null = null,
  outputBound?: number,
): Attempt {
  const endpoint = {
    id: 'acme/large',
    providerSlug: 'acme',
    modelId: 'acme/large',
    upstreamId: 'large-2026',
    contextLength: null,
    maxCompletionTokens: null,
    inputModalities: ['text'],
    outputModalities: ['text'],
    supportedParameters,
    pricing: null,
    quantization: null,
    isZdr: false,
  }
  const credential = { id: 'acme', secret: null }
  const bound = outputBound === undefined ? {} : { outputBound }
  return {
    model: {
      id: 'acme/large',
      canonicalSlug: 'acme/large',
      name: 'Large',
      created: 0,
      endpoints: [endpoint],
    },
    endpoint,
    provider: {
      slug: 'acme',
      name: 'Acme',
      kind: 'compatible',
      dialect: 'chat',
      baseUrl: 'https://api.acme.example/v1',
      credentials: [credential],
      timeouts: { firstByteMs: 1, betweenBytesMs: 1, totalMs: 1 },
      maxInFlight: 1,
      quirks,
      isLocal: false,
    },
    credential,
    dialect: 'chat',
    ...bound,
  }
}

const built = (fields: JsonObject, attempt = attemptOf()) =>
  buildChat(parseChat({ messages: HELLO, ...fields }, new Headers()), attempt)

test('the smallest request', () => {
  expect(built({ model: 'acme/large' })).toEqual({
    path: '/chat/completions',
    headers: {},
    body: { model: 'large-2026', messages: HELLO },
    dropped: [],
  })
})

test('fields for the gateway are not sent; all others are', () => {
  const kept = {
    temperature: 0.5,
    tools: [
      { type: 'function', function: { name: 'f', parameters: {} }, cache_control: { type: 'ephemeral' } },
    ],
    tool_choice: 'auto',
    response_format: { type: 'json_object' },
    cache_control: { type: 'ephemeral' },
    image_config: { aspect_ratio: '1:1' },
    prediction: { type: 'content', content: 'x' },
    user: 'u',
    metadata: { a: 'b' },
    top_secret_knob: { a: [null] },
  }
  const gateway = {
    model: 'a/b',
    models: ['c/d'],
    provider: { order: ['acme'] },
    plugins: [{ id: 'web', enabled: false }],
    preset: null,
    route: 'fallback',
    transforms: [],
    session_id: 's',
    trace: { trace_id: 't' },
    debug: { echo_upstream_body: true },
    usage: { include: true },
    include_reasoning: false,
    stop_server_tools_when: [{ type: 'step_count_is', step_count: 2 }],
  }
  expect(built({ ...kept, ...gateway })).toMatchObject({ dropped: [] })
  expect(built({ ...kept, ...gateway }).body).toEqual({ messages: HELLO, model: 'large-2026', ...kept })
})

test('a null of a known field is left out; a null of an unknown field is sent', () => {
  const { body } = built({ temperature: null, stop: null, tools: null, seed: null, stream: null, odd: null })
  expect(body).toEqual({ model: 'large-2026', messages: HELLO, odd: null })
})

describe('streams always ask for usage', () => {
  const rows: [JsonObject, ProviderQuirks, JsonObject][] = [
    [{ stream: true }, {}, { stream: true, stream_options: { include_usage: true } }],
    [
      { stream: true, stream_options: { include_usage: false, include_obfuscation: false } },
      {},
      { stream: true, stream_options: { include_usage: true, include_obfuscation: false } },
    ],
    [{ stream: true, stream_options: {} }, { streamOptions: false }, { stream: true }],
    [{ stream: false, stream_options: { include_usage: true } }, {}, { stream: false }],
    [{}, {}, {}],
  ]
  test.each(rows)('%j %j', (fields, quirks, expected) =>
    expect(built(fields, attemptOf(quirks)).body).toEqual({
      model: 'large-2026',
      messages: HELLO,
      ...expected,
    }),
  )
})

describe('one bound on the output', () => {
  const both = ['max_tokens', 'max_completion_tokens']
  const rows: [JsonObject, Attempt, JsonObject][] = [
    [{ max_tokens: 5 }, attemptOf(), { max_tokens: 5 }],
    [{ max_completion_tokens: 5 }, attemptOf(), { max_completion_tokens: 5 }],
    [{ max_tokens: 9, max_completion_tokens: 5 }, attemptOf(), { max_completion_tokens: 5 }],
    [
      { max_tokens: 5 },
      attemptOf({ outputBoundField: 'max_completion_tokens' }),
      { max_completion_tokens: 5 },
    ],
    [
      { max_tokens: 9, max_completion_tokens: 5 },
      attemptOf({ outputBoundField: 'max_tokens' }),
      { max_tokens: 5 },
    ],
    [{ max_completion_tokens: 5 }, attemptOf({}, ['max_tokens']), { max_tokens: 5 }],
    [{ max_completion_tokens: 5 }, attemptOf({}, both), { max_completion_tokens: 5 }],
    [{}, attemptOf({}, null, 7), { max_tokens: 7 }],
    [{}, attemptOf({ outputBoundField: 'max_completion_tokens' }, null, 7), { max_completion_tokens: 7 }],
    [{ max_tokens: 99 }, attemptOf({}, null, 7), { max_tokens: 7 }],
    [{ max_tokens: null }, attemptOf(), {}],
  ]
  test.each(rows)('%j', (fields, attempt, expected) =>
    expect(built(fields, attempt).body).toEqual({ model: 'large-2026', messages: HELLO, ...expected }),
  )
})

describe('reasoning', () => {
  const object: ProviderQuirks = { reasoningField: 'reasoning' }
  const rows: [JsonObject, Attempt, JsonObject, string[]][] = [
    [{ reasoning: { effort: 'high' } }, attemptOf(), { reasoning_effort: 'high' }, []],
    [{ reasoning_effort: 'low' }, attemptOf(), { reasoning_effort: 'low' }, []],
    [{ reasoning: { exclude: true } }, attemptOf(), {}, []],
    [{ reasoning: { enabled: true } }, attemptOf(), {}, ['reasoning.enabled']],
    [
      { reasoning: { enabled: true } },
      attemptOf({}, ['reasoning_effort']),
      { reasoning_effort: 'medium' },
      [],
    ],
    [{ reasoning: { enabled: false } }, attemptOf(), { reasoning_effort: 'none' }, []],
    [
      { reasoning: { max_tokens: 900, summary: 'auto', odd: 1 } },
      attemptOf(),
      {},
      ['reasoning.max_tokens', 'reasoning.summary', 'reasoning.odd'],
    ],
    [{ reasoning_effort: 'high' }, attemptOf(object), { reasoning: { effort: 'high' } }, []],
    [
      { reasoning: { max_tokens: 900, odd: { a: 1 } }, include_reasoning: false },
      attemptOf(object),
      { reasoning: { max_tokens: 900, odd: { a: 1 }, exclude: true } },
      [],
    ],
    [{ reasoning_effort: 'high' }, attemptOf({}, ['temperature']), {}, ['reasoning']],
    [{ reasoning_effort: 'none' }, attemptOf({}, ['temperature']), {}, []],
    [{ reasoning_effort: 'high' }, attemptOf({}, ['reasoning']), { reasoning_effort: 'high' }, []],
    [{ reasoning: null, reasoning_effort: null }, attemptOf(), {}, []],
  ]
  test.each(rows)('%j', (fields, attempt, expected, dropped) => {
    const call = built(fields, attempt)
    expect(call.body).toEqual({ model: 'large-2026', messages: HELLO, ...expected })
    expect(call.dropped).toEqual(dropped)
  })
})

test('the role developer becomes system at providers without it; the rest of the message is unchanged', () => {
  const messages = [{ role: 'developer', content: 'be brief', odd: 1 }, ...HELLO]
  expect(built({ messages }).body.messages).toEqual(messages)
  expect(built({ messages }, attemptOf({ developerRole: false })).body.messages).toEqual([
    { role: 'system', content: 'be brief', odd: 1 },
    ...HELLO,
  ])
})

test('parameters that an endpoint does not support are dropped by name; nothing else is', () => {
  const tuning = { temperature: 1, seed: 5, logit_bias: { '1': 1 }, top_logprobs: 2 }
  const kept = { tools: [{ type: 'x' }], response_format: { type: 'json_object' }, n: 2, odd: 1, user: 'u' }
  const call = built({ ...tuning, ...kept }, attemptOf({}, ['temperature']))
  expect(call.body).toEqual({ model: 'large-2026', messages: HELLO, temperature: 1, ...kept })
  expect(call.dropped).toEqual(['seed', 'logit_bias', 'top_logprobs'])
})

test('fast is sent as priority', () => {
  expect(built({ service_tier: 'fast' }).body.service_tier).toBe('priority')
  expect(built({ service_tier: 'flex' }).body.service_tier).toBe('flex')
})

test('unknown fields at every level reach the provider unchanged, and the request is not changed', () => {
  const unknown = fc.dictionary(
    fc.string({ maxLength: 8 }).map((name) => `x_${name}`),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 4 },
  )
  const level = fc.tuple(unknown, unknown, unknown, unknown, unknown, unknown, unknown)
  fc.assert(
    fc.property(level, fc.boolean(), ([top, message, part, url, tool, fn, format], stream) => {
      const sent = {
        ...top,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x', ...part },
              { type: 'image_url', image_url: { url: 'https://a.example/i', ...url } },
              { type: 'hologram', ...part },
            ],
            ...message,
          },
          {
            role: 'assistant',
            content: null,
            reasoning: 'r',
            reasoning_details: [{ type: 'a', ...fn }],
            tool_calls: [
              { id: 'c', type: 'function', function: { name: 'f', arguments: '', ...fn }, ...tool },
            ],
            ...message,
          },
          { role: 'tool', tool_call_id: 'c', content: 'y', ...message },
        ],
        tools: [
          { type: 'function', function: { name: 'f', parameters: fn, ...fn }, ...tool },
          { type: 'web_search', ...tool },
        ],
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema: fn, ...fn }, ...format },
        reasoning: { effort: 'low', ...format },
      }
      const before = structuredClone({ ...sent, stream })
      const body = { ...sent, stream }
      const request = parseChat(body, new Headers())
      const call = buildChat(request, attemptOf({ reasoningField: 'reasoning', developerRole: false }))
      const options = stream ? { stream_options: { include_usage: true } } : {}
      expect(call.body).toEqual({ ...sent, stream, ...options, model: 'large-2026' })
      expect(call.dropped).toEqual([])
      expect(body).toEqual(before)
    }),
    { numRuns: 300 },
  )
})
