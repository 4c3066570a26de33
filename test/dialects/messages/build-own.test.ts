import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { messagesEgress } from '../../../src/dialects/messages/index.ts'
import { parseMessages } from '../../../src/dialects/messages/parse.ts'
import { seal } from '../../../src/dialects/opaque.ts'
import { attemptOf } from './attempt.ts'

/** From a caller of this dialect to a provider of it. */

interface Options {
  model?: string
  facts?: Partial<EndpointRecord>
  outputBound?: number
  headers?: Record<string, string>
}
const HI = { role: 'user', content: 'Hi' }

function build(more: JsonObject, { model, facts, outputBound, headers }: Options = {}) {
  const body = { model: 'acme/large', max_tokens: 100, messages: [HI], ...more }
  const before = JSON.stringify(body)
  const built = messagesEgress.build(
    parseMessages(body, new Headers(headers)),
    attemptOf(model, facts, outputBound),
  )
  expect(JSON.stringify(body)).toBe(before)
  return built
}

test('the body is sent unchanged', () => {
  const body = {
    max_tokens: 77,
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Hi', lean: [1] }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's', lean: 2 },
          { type: 'thinking', thinking: 'of one who does not sign', signature: '' },
          { type: 'redacted_thinking', data: 'zz' },
          { type: 'server_tool_use', id: 'srv', name: 'web_search', input: { q: 1 } },
          { type: 'text', text: 'Hm', citations: [{ type: 'page_location', start_page_number: 1 }] },
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x', lean: 3 }] },
    ],
    tools: [{ name: 'f', input_schema: { type: 'object' }, input_examples: [{}] }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 2048, lean: 4 },
    output_config: { effort: 'high', task_budget: { type: 'tokens', total: 1 } },
    service_tier: 'standard_only',
    metadata: { user_id: 'u', lean: 5 },
    stop_sequences: ['END'],
    fallbacks: 'default',
    container: null,
    lean: null,
  }
  const headers = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' }
  const { container, ...sent } = body
  expect(build(body, { headers })).toEqual({
    path: '/messages',
    headers: { 'anthropic-version': '2023-06-01', ...headers },
    body: { ...sent, model: 'claude-sonnet-4-5' },
    dropped: [],
  })
})

test('fields for the gateway are not sent', () => {
  const { body, dropped } = build({
    models: ['b'],
    fallbacks: [{ model: 'c' }],
    provider: { sort: 'price' },
    plugins: [{ id: 'web', enabled: false }],
    route: 'fallback',
    session_id: 's',
    trace: { trace_id: 't' },
    stop_server_tools_when: [{ type: 'has_tool_call', tool_name: 'f' }],
    user: 'u',
    stream: true,
  })
  expect(body).toEqual({
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    messages: [HI],
    stream: true,
    metadata: { user_id: 'u' },
  })
  expect(dropped).toEqual([])
})

describe('content of other providers', () => {
  const signature = seal({ detail: { type: 'reasoning.text', format: 'x' } })
  const foreign = [
    { type: 'thinking', thinking: 'hm', signature },
    { type: 'redacted_thinking', data: seal({ type: 'reasoning.encrypted', data: 'd', format: 'x' }) },
    { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' } },
  ]
  const own = { type: 'page_location', start_page_number: 1 }
  const sealed = { type: 'web_search_result_location', url: 'https://a.example', encrypted_index: seal({}) }

  test('is dropped by name', () => {
    const content = [
      ...foreign,
      { type: 'text', text: '\n\n' },
      { type: 'text', text: 'a', citations: [own, sealed] },
      { type: 'text', text: 'b', citations: [sealed] },
      { type: 'tool_use', id: 'call:1', name: 'f', input: {} },
    ]
    const { body, dropped } = build({
      messages: [
        HI,
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call:1', content: 'x' }] },
      ],
    })
    expect(body['messages']).toEqual([
      HI,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a', citations: [own] },
          { type: 'text', text: 'b' },
          { type: 'tool_use', id: 'call_1', name: 'f', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'x' }] },
    ])
    expect(dropped).toEqual([
      'messages.content.thinking',
      'messages.content.image',
      'messages.content.citations',
    ])
  })

  test('a message of nothing else is dropped with it', () => {
    const { body } = build({ messages: [HI, { role: 'assistant', content: foreign }, HI] })
    expect(body['messages']).toEqual([HI, HI])
  })

  test.each([
    [{ type: 'enabled', budget_tokens: 1024 }, undefined],
    [{ type: 'adaptive' }, { type: 'adaptive' }],
  ])('thinking on without the thoughts that led to a call: %p', (thinking, expected) => {
    const { body, dropped } = build({
      max_tokens: 2000,
      thinking,
      messages: [
        HI,
        { role: 'assistant', content: [...foreign, { type: 'tool_use', id: 'a', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] },
      ],
    })
    expect(body['thinking']).toEqual(expected)
    expect(dropped.includes('thinking')).toBe(expected === undefined)
  })
})

describe('bounds', () => {
  const thinking = { type: 'enabled', budget_tokens: 5000 }
  test.each<[string, JsonObject, Options, JsonObject]>([
    ['the caller’s bound', {}, { facts: { maxCompletionTokens: 9 } }, { max_tokens: 100 }],
    ['the model’s', { max_tokens: null }, { facts: { maxCompletionTokens: 9000 } }, { max_tokens: 9000 }],
    ['that of money', { max_tokens: null }, { outputBound: 2000 }, { max_tokens: 2000 }],
    ['no bound', { max_tokens: null }, {}, { max_tokens: 4096 }],
    ['no bound, with thoughts', { max_tokens: null, thinking }, {}, { max_tokens: 16_384, thinking }],
    [
      'that of money, below the budget',
      { max_tokens: null, thinking },
      { outputBound: 2000 },
      { max_tokens: 2000, thinking: { ...thinking, budget_tokens: 1999 } },
    ],
  ])('%s', (_, more, options, expected) => {
    expect(build(more, options).body).toEqual({ model: 'claude-sonnet-4-5', messages: [HI], ...expected })
  })

  test('one too small for thoughts', () => {
    const { body, dropped } = build({ max_tokens: null, thinking }, { outputBound: 1024 })
    expect(body['thinking']).toBeUndefined()
    expect(dropped).toEqual(['thinking.budget_tokens'])
  })
})

test('sampling that the model rejects is dropped', () => {
  const sampling = { temperature: 0.2, top_p: 0.9, top_k: 4 }
  expect(build(sampling).body).toMatchObject(sampling)
  const { body, dropped } = build(sampling, { model: 'claude-opus-4-8' })
  expect(body).toEqual({ model: 'claude-opus-4-8', max_tokens: 100, messages: [HI] })
  expect(dropped).toEqual(['temperature', 'top_p', 'top_k'])
})

test.each<[string, string | undefined]>([
  ['auto', 'auto'],
  ['standard_only', 'standard_only'],
  ['default', 'standard_only'],
  ['priority', 'auto'],
  ['flex', undefined],
])('the service tier %s', (service_tier, expected) => {
  const { body, dropped } = build({ service_tier })
  expect(body['service_tier']).toBe(expected)
  expect(dropped).toEqual(expected === undefined ? ['service_tier'] : [])
})

test.each<[type: string, fetched: string, source: JsonObject]>([
  ['image', 'data:image/png;base64,AAAA', { type: 'base64', media_type: 'image/png', data: 'AAAA' }],
  [
    'document',
    'data:application/pdf;base64,AAAA',
    { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
  ],
  ['document', 'data:text/plain;base64,SGk=', { type: 'text', media_type: 'text/plain', data: 'Hi' }],
])('an address of a %s whose content was fetched: %s', (type, fetched, source) => {
  const url = 'https://a.example/it'
  const body = (at: string) => ({
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: [{ type, source: { type: 'url', url: at } }] }],
  })
  const request = parseMessages(body(url), new Headers())
  const built = messagesEgress.build({ ...request, body: body(fetched) }, attemptOf())
  expect(built.body['messages']).toEqual([{ role: 'user', content: [{ type, source }] }])
})

describe('counting tokens', () => {
  const request = (more: JsonObject) =>
    parseMessages({ model: 'm', messages: [HI], ...more }, new Headers({ 'anthropic-beta': 'b' }))

  test('sends only the prompt', () => {
    const prompt = { system: 'Be brief.', thinking: { type: 'adaptive' }, lean: 1 }
    const answer = {
      max_tokens: 9,
      stream: true,
      temperature: 1,
      stop_sequences: ['x'],
      metadata: { user_id: 'u' },
    }
    expect(messagesEgress.countTokens.build(request({ ...prompt, ...answer }), attemptOf())).toMatchObject({
      path: '/messages/count_tokens',
      headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'b' },
      body: { model: 'claude-sonnet-4-5', messages: [HI], ...prompt },
    })
    const { body } = messagesEgress.countTokens.build(request(answer), attemptOf())
    expect(Object.keys(body).toSorted()).toEqual(['messages', 'model'])
  })

  test.each([
    [{ input_tokens: 7 }, 7],
    [{ input_tokens: 0, lean: 1 }, 0],
    [{ input_tokens: '7' }, null],
    [{ input_tokens: -1 }, null],
    [[], null],
    [undefined, null],
  ])('reads %p', (body, expected) => {
    expect(messagesEgress.countTokens.read(body)).toBe(expected)
  })
})

test('the variant :thinking is a budget for models that take one', () => {
  const reasoning = { efforts: null, takesBudget: true, mayBeOff: true }
  const asked = { model: 'acme/large:thinking', max_tokens: 4_000, thinking: { type: 'adaptive' } }
  expect(build(asked, { facts: { reasoning } }).body).toMatchObject({
    thinking: { type: 'enabled', budget_tokens: 2_000 },
  })
  const adaptive = { ...reasoning, takesBudget: false }
  expect(build(asked, { facts: { reasoning: adaptive } }).body).toMatchObject({
    thinking: { type: 'adaptive' },
  })
  expect(build({ ...asked, model: 'acme/large' }, { facts: { reasoning } }).body).toMatchObject({
    thinking: { type: 'adaptive' },
  })
})
