import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { UpstreamError } from '../../../src/core/errors.ts'
import type { InferenceEvent, JsonObject } from '../../../src/core/events.ts'
import { responsesEgress } from '../../../src/dialects/responses/index.ts'
import { isResponsesNative, itemsOfDetails } from '../../../src/dialects/responses/items.ts'
import { FIXTURES } from '../../recordings.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { type Outcome, outcomeOf } from '../chat/outcome.ts'

const read = (body: string, isStream: boolean): Promise<Outcome> =>
  outcomeOf(responsesEgress.read(upstreamReply(body), isStream))
const fixture = async (file: string): Promise<Outcome> =>
  read(await Bun.file(join(FIXTURES, 'responses', file)).text(), file.endsWith('.sse'))

const sse = (events: readonly JsonObject[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const created = {
  type: 'response.created',
  response: { id: 'r', model: 'm', created_at: 7, status: 'in_progress' },
}
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const completed = (output: JsonObject[] = [], more: JsonObject = {}): JsonObject => ({
  type: 'response.completed',
  response: { id: 'r', object: 'response', status: 'completed', output, usage, ...more },
})
const whole = (output: JsonObject[], more: JsonObject = {}): Promise<Outcome> =>
  read(JSON.stringify({ id: 'r', object: 'response', status: 'completed', output, usage, ...more }), false)
const streamed = (...events: JsonObject[]): Promise<Outcome> => read(sse([created, ...events]), true)
const said = (text: string, more: JsonObject = {}): JsonObject => ({
  type: 'message',
  id: 'msg',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], ...more }],
})

const nativesOf = ({ events }: Outcome) =>
  events.flatMap((event) => {
    if (event.type !== 'native') return []
    if (event.dialect !== 'responses' || !isResponsesNative(event.data)) throw new Error('a strange native')
    return [event.data]
  })
const typesOf = (outcome: Outcome) =>
  nativesOf(outcome).map(({ event, response }) => event?.type ?? `response ${response?.status}`)

describe('native events for a writer of the same dialect', () => {
  test('every complete item of a stream, its own events, and the response', async () => {
    const outcome = await fixture('web-search.sse')
    expect(typesOf(outcome)).toEqual([
      'response in_progress',
      'response.output_item.added',
      'response.output_item.done',
      'response.output_item.added',
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_item.done',
      'response.output_item.added',
      'response.output_item.done',
      'response completed',
    ])
    expect(nativesOf(outcome)[7]?.event).toMatchObject({
      output_index: 1,
      item: { type: 'web_search_call', id: 'ws_1', action: { query: 'tide tables' } },
    })
    expect(nativesOf(outcome)[8]?.event).toMatchObject({ item: { phase: 'final_answer' } })
    expect(nativesOf(outcome).at(-1)?.response).toMatchObject({
      tool_usage: { web_search: { num_requests: 1 } },
    })
    expect(nativesOf(outcome).at(-1)?.response).not.toHaveProperty('output')
  })

  test('items enclose the events of their content', async () => {
    const { events } = await fixture('thinking-tools.sse')
    const order = events.flatMap((event): unknown[] => {
      if (event.type === 'tool-call-start') return [event.name]
      if (event.type !== 'native' || !isResponsesNative(event.data)) return []
      return event.data.event ? [event.data.event.type] : []
    })
    const [added, done] = ['response.output_item.added', 'response.output_item.done']
    expect(order).toEqual([added, done, added, done, added, 'tide_at', done, added, 'list_ports', done])
  })

  test('of a unary reply each item once, after its content', async () => {
    const outcome = await fixture('thinking-tools.json')
    expect(typesOf(outcome)).toEqual([
      'response.output_item.done',
      'response.output_item.done',
      'response.output_item.done',
      'response.output_item.done',
      'response completed',
    ])
    expect(nativesOf(outcome).map(({ event }) => event?.output_index)).toEqual([0, 1, 2, 3, undefined])
  })

  test('unknown events and fields', async () => {
    const strange = { type: 'response.weather.changed', sky: 'clear' }
    const last = { ...completed([]), meter: { ticks: 3 } }
    const outcome = await streamed(strange, { type: 'keepalive' }, last)
    expect(nativesOf(outcome)[1]).toEqual({ event: strange })
    expect(nativesOf(outcome)[2]?.response).toMatchObject({ id: 'r', meter: { ticks: 3 } })
    expect(outcome.events).toHaveLength(6)
  })
})

describe('usage', () => {
  test('in disjoint buckets, with the other reported fields', async () => {
    const outcome = await whole([said('x')], {
      service_tier: 'flex',
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30, image_tokens: 4 },
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 20, image_tokens: 10 },
        total_tokens: 150,
        cost: 0.5,
        sources: 3,
      },
    })
    expect(outcome.usage).toEqual({
      inputTokens: 6,
      cacheReadTokens: 60,
      cacheWriteTokens: 30,
      audioInputTokens: 0,
      imageInputTokens: 4,
      outputTokens: 20,
      reasoningTokens: 20,
      audioOutputTokens: 0,
      imageOutputTokens: 10,
      providerCostUsd: 0.5,
      native: { dialect: 'responses', fields: { sources: 3 } },
    })
    expect(outcome.events).toContainEqual(expect.objectContaining({ type: 'usage', serviceTier: 'flex' }))
  })

  test.each([
    ['OpenRouter', { usage: { ...usage, server_tool_use_details: { web_search_requests: 4 } } }, 4],
    ['xAI', { usage: { ...usage, server_side_tool_usage_details: { web_search_calls: 2 } } }, 2],
    ['OpenAI', { tool_usage: { web_search: { num_requests: 3 } } }, 3],
    ['nobody, so they are counted', {}, 1],
  ])('searches are told by %s', async (_, more, count) => {
    const searches = [
      { type: 'web_search_call', id: 'a', status: 'completed', action: { type: 'search', query: 'x' } },
      { type: 'web_search_call', id: 'b', status: 'completed', action: { type: 'open_page', url: 'u' } },
    ]
    expect((await whole(searches, more)).usage?.webSearchRequests).toBe(count)
  })

  test('a total that counts reasoning apart', async () => {
    const told = {
      input_tokens: 12,
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 340 },
      total_tokens: 354,
    }
    expect((await whole([said('x')], { usage: told })).usage).toMatchObject({
      outputTokens: 2,
      reasoningTokens: 340,
    })
  })
})

describe('ends', () => {
  const incomplete = (reason?: string): JsonObject => ({
    type: 'response.incomplete',
    response: { status: 'incomplete', usage, incomplete_details: reason ? { reason } : null },
  })
  test.each([
    ['max_output_tokens', 'length', 'max_output_tokens'],
    ['content_filter', 'content_filter', 'content_filter'],
    ['boredom', 'length', 'boredom'],
    [undefined, 'length', 'incomplete'],
  ] as const)('incomplete for %p', async (reason, word, native) => {
    const { finishes } = await streamed(incomplete(reason))
    expect(finishes).toEqual([{ choice: 0, reason: word, native }])
  })

  test.each([
    ['an object without anything', '{}', 'malformed'],
    ["another dialect's answer", '{"choices":[{"message":{"content":"x"}}]}', 'malformed'],
    ['a page', '<html><title>Oops</title></html>', 'malformed'],
    ['nothing at all', '{"object":"response","status":"completed","output":[]}', 'malformed'],
    ['a queue', '{"object":"response","status":"queued","output":[]}', 'truncated'],
    ['a stream that only began', sse([created]), 'truncated'],
    [
      'a stream that broke off',
      sse([created, { type: 'response.output_text.delta', delta: 'x' }]),
      'truncated',
    ],
    ['a bad line', `${sse([created])}data: {"type":\n\n${sse([completed()])}`, 'malformed'],
    [
      'a response that was cancelled',
      sse([{ type: 'response.cancelled', response: { status: 'cancelled' } }]),
      'server',
    ],
    ['an error without a type', sse([created, { error: { message: 'x', code: 502 } }]), 'server'],
    [
      'a call without a name',
      JSON.stringify({ output: [{ type: 'function_call', arguments: '{}' }] }),
      'malformed',
    ],
  ])('%s', async (_, body, kind) => {
    for (const isStream of [true, false]) {
      const { error, finishes } = await read(body, isStream)
      expect(finishes).toEqual([])
      expect(error).toBeInstanceOf(UpstreamError)
      expect(error).toMatchObject({ kind })
    }
  })

  test.each([
    ['server_error', 'server', undefined],
    ['rate_limit_exceeded', 'rate-limit', undefined],
    ['insufficient_quota', 'rate-limit', undefined],
    ['invalid_prompt', 'caller', 'content_policy_violation'],
    ['cyber_policy', 'caller', 'content_policy_violation'],
    ['image_content_policy_violation', 'caller', 'content_policy_violation'],
    ['invalid_image_url', 'caller', 'invalid_request'],
    ['failed_to_download_image', 'caller', 'invalid_request'],
    ['image_too_large', 'caller', 'payload_too_large'],
    ['context_length_exceeded', 'caller', 'context_length_exceeded'],
    ['vector_store_timeout', 'server', undefined],
    ['something_new', 'server', undefined],
  ])('the code %s of a failed response', async (code, kind, errorType) => {
    const failed = { status: 'failed', error: { code, message: 'It says why.' } }
    for (const outcome of [
      await streamed({ type: 'response.failed', response: failed }),
      await read(JSON.stringify({ object: 'response', output: [], ...failed }), false),
      await streamed({ type: 'error', code, message: 'It says why.', param: null }),
    ]) {
      expect(outcome.error).toMatchObject({ kind, errorType, code, reason: 'It says why.' })
    }
  })

  test('a failure without words', async () => {
    const { error } = await streamed({ type: 'response.failed', response: { status: 'failed', error: null } })
    expect(error).toMatchObject({ kind: 'server', reason: 'the provider reports a failed response' })
  })

  test('usage before a failure is reported', async () => {
    const { usage: told, error } = await streamed({
      type: 'response.failed',
      response: { status: 'failed', usage, error: { code: 'server_error', message: 'x' } },
    })
    expect(error).toBeInstanceOf(UpstreamError)
    expect(told?.outputTokens).toBe(2)
  })
})

describe('content', () => {
  const delta = (text: string, at = 0): JsonObject => ({
    type: 'response.output_text.delta',
    output_index: at,
    content_index: 0,
    delta: text,
  })

  test('text that deltas left out is emitted with the complete text', async () => {
    const done = (text: string): JsonObject => ({
      type: 'response.output_text.done',
      output_index: 0,
      content_index: 0,
      text,
    })
    const item = { type: 'response.output_item.done', output_index: 0, item: said('Hello there.') }
    const { events } = await streamed(delta('Hel'), done('Hello'), item, completed([said('Hello there.')]))
    expect(events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))).toEqual([
      'Hel',
      'lo',
      ' there.',
    ])
  })

  test('an item that was never done is completed by the last event', async () => {
    const added = {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'function_call', call_id: 'c', name: 'f', arguments: '' },
    }
    const whole = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' }
    expect((await streamed(added, completed([whole]))).calls).toEqual([
      { id: 'c', name: 'f', arguments: '{"a":1}' },
    ])
    expect((await streamed(added, completed([]))).calls).toEqual([{ id: 'c', name: 'f', arguments: '{}' }])
  })

  test('a call that was not announced', async () => {
    const { calls } = await streamed(
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a"' },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: ':1}' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' },
      },
      completed(),
    )
    expect(calls).toEqual([{ id: 'c', name: 'f', arguments: '{"a":1}' }])
  })

  test('a call keeps its type and unknown fields', async () => {
    const { events } = await whole([
      { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'SELECT 1', namespace: 'db' },
      { type: 'function_call', id: 'fc', name: 'f', arguments: { a: 1 } },
    ])
    expect(events.filter(({ type }) => type.startsWith('tool-call'))).toEqual([
      {
        type: 'tool-call-start',
        choice: 0,
        index: 0,
        id: 'c',
        name: 'sql',
        extra: { namespace: 'db', type: 'custom' },
      },
      { type: 'tool-call-delta', choice: 0, index: 0, json: 'SELECT 1' },
      { type: 'tool-call-start', choice: 0, index: 1, id: 'fc', name: 'f' },
      { type: 'tool-call-delta', choice: 0, index: 1, json: '{"a":1}' },
    ])
  })

  test('citations count from the start of the complete text, each emitted once', async () => {
    const { annotations } = await fixture('web-search.sse')
    expect(annotations).toEqual([
      { type: 'url_citation', url: 'https://tides.example/a', title: 'Tables', startIndex: 13, endIndex: 22 },
      { type: 'file_citation', file_id: 'file-1', filename: 't.pdf', index: 4 },
    ])
  })

  test('log probabilities are emitted once', async () => {
    const { events } = await fixture('logprobs.sse')
    const tokens = events.flatMap((event) => (event.type === 'logprobs' ? event.logprobs.content : []))
    expect(tokens).toMatchObject([{ token: 'Ebb' }, { token: '.' }])
    const unary = await whole([said('x', { logprobs: [{ token: 'x', logprob: 0 }] })])
    expect(unary.events).toContainEqual({
      type: 'logprobs',
      choice: 0,
      logprobs: { content: [{ token: 'x', logprob: 0 }] },
    })
  })

  test.each([
    ['iVBORw0KGgo=', undefined, 'data:image/png;base64,iVBORw0KGgo='],
    ['/9j/4AAQ', undefined, 'data:image/jpeg;base64,/9j/4AAQ'],
    ['UklGRh4A', undefined, 'data:image/webp;base64,UklGRh4A'],
    ['UklGRh4A', 'png', 'data:image/png;base64,UklGRh4A'],
    ['https://x.example/a.png', undefined, 'https://x.example/a.png'],
  ])('the picture %s of format %p', async (result, output_format, url) => {
    const item = { type: 'image_generation_call', id: 'i', status: 'completed', result, output_format }
    expect((await whole([item])).images).toEqual([url])
  })
})

describe('reasoning goes back as it came', () => {
  const detailsOf = ({ events }: Outcome) =>
    events.flatMap((event: InferenceEvent) => (event.type === 'reasoning-detail' ? [event.detail] : []))

  test.each(['thinking-tools.sse', 'thinking-tools.json'])('%s', async (file) => {
    expect(itemsOfDetails(detailsOf(await fixture(file)))).toEqual([
      {
        type: 'reasoning',
        id: 'rs_3',
        summary: [
          { type: 'summary_text', text: 'Two tides' },
          { type: 'summary_text', text: ', so two calls.' },
        ],
        encrypted_content: 'c2VhbGVkLXRob3VnaHQ=',
      },
    ])
  })

  test('several items of one id', async () => {
    const items = itemsOfDetails(detailsOf(await fixture('searches.json')))
    expect(items).toEqual([
      { type: 'reasoning', id: 'rs_x', summary: [], encrypted_content: 'b25l' },
      { type: 'reasoning', id: 'rs_x', summary: [], encrypted_content: 'dHdv' },
    ])
  })

  test('raw text, and the format and signature that gateways show', async () => {
    const item = {
      type: 'reasoning',
      id: 'r',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm.' }],
      format: 'anthropic-claude-v1',
      signature: 's',
    }
    const outcome = await whole([item, said('x')])
    expect(outcome.reasoning).toBe('Hm.')
    expect(itemsOfDetails(detailsOf(outcome))).toEqual([item])
  })

  test('a summary of bare strings', async () => {
    const outcome = await whole([{ type: 'reasoning', id: 'r', summary: ['One. ', 'Two.'] }, said('x')])
    expect(outcome.reasoning).toBe('One. Two.')
  })

  test('events of both names emit a text once; either name alone does too', async () => {
    const both = (text: string, order: 1 | -1): JsonObject[] =>
      [
        { type: 'response.reasoning.delta', output_index: 0, delta: text },
        { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: text },
      ].toSorted(() => order)
    for (const order of [1, -1] as const) {
      const { reasoning } = await streamed(...both('One ', order), ...both('two.', order), completed())
      expect(reasoning).toBe('One two.')
    }
    for (const at of [0, 1]) {
      const alone = [both('One ', 1)[at], both('two.', 1)[at]].filter((event) => event !== undefined)
      expect((await streamed(...alone, completed())).reasoning).toBe('One two.')
    }
  })
})
