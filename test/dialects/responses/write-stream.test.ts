import { describe, expect, test } from 'bun:test'
import type { InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import type { RoutingMetadata } from '../../../src/core/result.ts'
import { writeResponsesStream } from '../../../src/dialects/responses/write-stream.ts'
import { call, detail, frame, native, piece, text, thought } from './frames.ts'
import { checkStream } from './stream-order.ts'
import { BEGIN } from './streamed.ts'
import { CLOSING, ended, itemsOf, parse, reply, streamed, typesOf } from './written.ts'

test('the response repeats the request and has its cost', () => {
  const asked = {
    instructions: 'Be brief.',
    metadata: { a: 'b' },
    temperature: 0.5,
    tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }],
    tool_choice: 'none',
    reasoning: { effort: 'low' },
    text: { verbosity: 'low' },
    max_output_tokens: 9,
    user: 'u',
    store: true,
    prompt_cache_key: 'k',
  }
  const routing: RoutingMetadata = {
    requested: 'm',
    strategy: 'direct',
    summary: 's',
    attempt: 1,
    is_byok: false,
    region: null,
    endpoints: { total: 0, available: [] },
    attempts: [],
  }
  const { events, response } = streamed([frame(text('Hi'))], reply(asked), {
    ...CLOSING,
    serviceMetadata: routing,
  })
  expect(response).toEqual({
    ...asked,
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    completed_at: 1_700_000_009,
    status: 'completed',
    model: 'acme/large',
    provider: 'Acme',
    access_programs: null,
    background: false,
    error: null,
    frequency_penalty: null,
    incomplete_details: null,
    max_tool_calls: null,
    output: [
      {
        id: 'msg_1_0',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
      },
    ],
    output_text: 'Hi',
    parallel_tool_calls: true,
    presence_penalty: null,
    previous_response_id: null,
    prompt: null,
    reasoning: { effort: 'low', summary: null },
    safety_identifier: null,
    service_tier: 'default',
    text: { format: { type: 'text' }, verbosity: 'low' },
    tools: [{ type: 'function', name: 'f', parameters: null, strict: null }, { type: 'web_search' }],
    top_logprobs: 0,
    top_p: null,
    truncation: 'disabled',
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 15,
      cost: 0.0000015,
      is_byok: false,
      cost_details: {
        upstream_inference_cost: null,
        upstream_inference_input_cost: 0.000001,
        upstream_inference_output_cost: 0.0000005,
      },
    },
    service_metadata: routing,
    openrouter_metadata: routing,
  })
  expect(events[0]?.['response']).toMatchObject({
    status: 'in_progress',
    usage: null,
    completed_at: null,
    tool_choice: 'none',
  })
})

test.each([
  ['stop', 'completed', null, 'completed'],
  ['tool_calls', 'completed', null, 'completed'],
  ['length', 'incomplete', { reason: 'max_output_tokens' }, 'incomplete'],
  ['content_filter', 'incomplete', { reason: 'content_filter' }, 'incomplete'],
  ['error', 'failed', null, 'incomplete'],
] as const)('%s ends as %s', (reason, ending, details, status) => {
  const stream = streamed([frame(text('Hi'))], reply(), ended(reason))
  expect([stream.ending, stream.response['incomplete_details']]).toEqual([ending, details])
  expect(itemsOf(stream)).toMatchObject([{ status }])
  expect(stream.response['error'] === null).toBe(ending !== 'failed')
  expect(stream.response['completed_at'] !== null).toBe(ending === 'completed')
})

describe('failures', () => {
  const fail = (status: number, write: readonly InferenceFrame[], metadata?: JsonObject) => {
    const writer = writeResponsesStream(reply())
    const before = write.map((each) => writer.write(each)).join('')
    const stream = checkStream(
      before + writer.fail({ status, message: 'It broke.', ...(metadata ? { metadata } : {}) }),
    )
    expect([
      writer.write(frame(text('x'))),
      writer.end(CLOSING),
      writer.fail({ status, message: '' }),
      writer.echo({}),
    ]).toEqual(['', '', '', ''])
    expect(writer.reply?.()).toEqual(stream.response)
    return stream
  }

  test('open items are closed as incomplete', () => {
    const stream = fail(502, [frame(text('Hal')), frame(call(0, 'f')), frame(piece(0, '{"a'))], {
      error_type: 'provider_unavailable',
      provider_name: 'Acme',
    })
    expect(stream.ending).toBe('failed')
    expect(itemsOf(stream)).toMatchObject([
      { type: 'message', status: 'completed' },
      { type: 'function_call', status: 'incomplete', arguments: '{"a' },
    ])
    expect(stream.response).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'It broke.', metadata: { provider_name: 'Acme' } },
      error_type: 'provider_unavailable',
      output_text: 'Hal',
      completed_at: null,
      usage: null,
    })
  })

  test.each([
    [429, 'rate_limit_exceeded', 'rate_limit_exceeded'],
    [400, 'invalid_prompt', 'invalid_request'],
    [524, 'server_error', 'timeout'],
    [529, 'server_error', 'provider_overloaded'],
    [500, 'server_error', 'server'],
  ])('%d before any content', (status, code, type) => {
    const stream = fail(status, [])
    expect(typesOf(stream)).toEqual([...BEGIN, 'failed'])
    expect(stream.response).toMatchObject({ error: { code }, error_type: type, output: [] })
  })
})

test('the echo of the upstream body comes first, after the created event', () => {
  const writer = writeResponsesStream(reply())
  expect(writer.reply?.()).toBeNull()
  const stream = checkStream(
    writer.echo({ a: 1 }) + writer.echo({ b: 2 }) + writer.write(frame(text('x'))) + writer.end(CLOSING),
  )
  expect(stream.events.slice(0, 4)).toMatchObject([
    {},
    {},
    { type: 'response.debug', debug: { echo_upstream_body: { a: 1 } } },
    { debug: { echo_upstream_body: { b: 2 } } },
  ])
})

test('a client that breaks on the event of the specification does not get it', () => {
  const request = parse({ input: 'x' }, new Headers({ 'user-agent': 'OpenAI/JS 7.0.0' }))
  const types = typesOf(streamed([frame(thought('a'))], reply({}, { request })))
  expect(types).toContain('reasoning_text.delta')
  expect(types).not.toContain('reasoning.delta')
})

test('hidden reasoning is in no event', () => {
  const frames = [
    frame(thought('secret'), detail({ type: 'reasoning.text', text: 'secret', signature: 'sig', index: 0 })),
    frame(
      native({
        event: {
          type: 'response.output_item.added',
          output_index: 0,
          item: { type: 'reasoning', id: 'rs', summary: [] },
        },
      }),
    ),
    frame(native({ event: { type: 'response.reasoning_note', output_index: 0, note: 'secret' } })),
    frame(
      native({
        event: {
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'secret' },
        },
      }),
    ),
    frame(text('Hi')),
  ]
  const stream = streamed(frames, reply({}, { hideReasoning: true }))
  expect(JSON.stringify(stream)).not.toContain('secret')
  expect(itemsOf(stream)).toMatchObject([{ type: 'message' }])
})
