import { describe, expect, test } from 'bun:test'
import type { InferenceEvent, InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import type { Closing, ReplyContext } from '../../../src/core/result.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { writeChatStream } from '../../../src/dialects/chat/write-stream.ts'
import { isObject } from '../../../src/dialects/values.ts'

const REPLY: ReplyContext = {
  generationId: 'gen-1',
  created: 1_700_000_000,
  model: 'acme/large',
  providerName: 'Acme',
  hideReasoning: false,
}
const SHARED = {
  id: 'gen-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'acme/large',
  provider: 'Acme',
}
const CLOSING: Closing = {
  finishes: [{ choice: 0, reason: 'stop', native: 'end_turn' }],
  usage: { ...NO_USAGE, inputTokens: 7, cacheReadTokens: 3, outputTokens: 4, reasoningTokens: 1 },
  costNanoUsd: 1_500,
  promptCostNanoUsd: 1_000,
  completionCostNanoUsd: 500,
  isByok: false,
  serviceTier: 'default',
  serviceMetadata: null,
}

const frame = (...events: InferenceEvent[]): InferenceFrame => ({ events })
const text = (value: string, choice = 0): InferenceEvent => ({ type: 'text-delta', choice, text: value })

/** The events of SSE text; `[DONE]` stays a string. Anything that is not `data: …` and a blank line fails. */
function chunksOf(sse: string): (JsonObject | '[DONE]')[] {
  if (sse === '') return []
  expect(sse.endsWith('\n\n')).toBe(true)
  return sse
    .slice(0, -2)
    .split('\n\n')
    .map((event) => {
      expect(event.startsWith('data: ')).toBe(true)
      expect(event).not.toMatch(/[\n\r\u0085\u2028\u2029]/)
      const data = event.slice(6)
      if (data === '[DONE]') return data
      const chunk: unknown = JSON.parse(data)
      if (!isObject(chunk)) throw new Error(`not a chunk: ${data}`)
      expect(chunk).toMatchObject(SHARED)
      return chunk
    })
}

/** Writes frames and gives what each chunk says beside the shared fields. */
function written(frames: InferenceFrame[], reply = REPLY): unknown[] {
  const writer = writeChatStream(reply)
  return frames.map((each) => {
    const [chunk, ...more] = chunksOf(writer.write(each))
    expect(more).toEqual([])
    if (!isObject(chunk)) return null
    const { id, object, created, model, provider, ...rest } = chunk
    return rest
  })
}

const choice = (delta: JsonObject, more: JsonObject = {}) => ({
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
})

describe('one frame is one chunk', () => {
  const detail = { type: 'reasoning.text', text: 'hm', signature: 's', index: 2, format: 'x' }
  const rows: [string, InferenceFrame[], unknown[]][] = [
    [
      'text',
      [frame(text('a')), frame(text('b'), text('c'))],
      [choice({ role: 'assistant', content: 'a' }), choice({ content: 'bc' })],
    ],
    [
      'nothing to tell',
      [
        frame({ type: 'response-start', upstreamId: 'u', model: 'm', created: 1 }),
        frame(text('')),
        frame({ type: 'usage', usage: { ...NO_USAGE } }),
        frame({ type: 'response-end', finishes: CLOSING.finishes }),
        frame({ type: 'native', dialect: 'messages', data: { chunk: { a: 1 } } }),
        frame({ type: 'native', dialect: 'chat', data: 'odd' }),
      ],
      [null, null, null, null, null, null],
    ],
    [
      'reasoning as bare text',
      [frame({ type: 'reasoning-delta', choice: 0, text: 'hm' }), frame(text('a'))],
      [
        choice({
          role: 'assistant',
          content: '',
          reasoning: 'hm',
          reasoning_details: [{ type: 'reasoning.text', text: 'hm', format: 'unknown', index: 0 }],
        }),
        choice({ content: 'a' }),
      ],
    ],
    [
      'reasoning with the details of upstream, never doubled',
      [
        frame(
          { type: 'reasoning-delta', choice: 0, text: 'hm' },
          { type: 'reasoning-detail', choice: 0, detail },
        ),
        frame({ type: 'reasoning-delta', choice: 0, text: 'so' }),
        frame({ type: 'reasoning-detail', choice: 0, detail: { type: 'reasoning.encrypted', data: 'z' } }),
      ],
      [
        choice({ role: 'assistant', content: '', reasoning: 'hm', reasoning_details: [detail] }),
        choice({ content: '', reasoning: 'so' }),
        choice({ content: '', reasoning_details: [{ type: 'reasoning.encrypted', data: 'z' }] }),
      ],
    ],
    [
      'tool calls',
      [
        frame({ type: 'tool-call-start', choice: 0, index: 0, id: 'c1', name: 'f', extra: { x: 1 } }),
        frame({ type: 'tool-call-delta', choice: 0, index: 0, json: '{"a"' }),
        frame(
          { type: 'tool-call-delta', choice: 0, index: 0, json: ':1}' },
          { type: 'tool-call-start', choice: 0, index: 1, id: 'c2', name: 'g' },
          { type: 'tool-call-delta', choice: 0, index: 1, json: '{}' },
        ),
      ],
      [
        choice({
          role: 'assistant',
          content: '',
          tool_calls: [
            { x: 1, index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } },
          ],
        }),
        choice({ tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }),
        choice({
          tool_calls: [
            { index: 0, function: { arguments: ':1}' } },
            { index: 1, id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        }),
      ],
    ],
    [
      'calls of custom tools',
      [
        frame({
          type: 'tool-call-start',
          choice: 0,
          index: 0,
          id: 'c',
          name: 'f',
          extra: { type: 'custom' },
        }),
        frame({ type: 'tool-call-delta', choice: 0, index: 0, json: 'free' }),
      ],
      [
        choice({
          role: 'assistant',
          content: '',
          tool_calls: [{ index: 0, id: 'c', type: 'custom', custom: { name: 'f', input: '' } }],
        }),
        choice({ tool_calls: [{ index: 0, custom: { input: 'free' } }] }),
      ],
    ],
    [
      'refusal, image, audio, logprobs',
      [
        frame({ type: 'refusal-delta', choice: 0, text: 'no' }),
        frame({ type: 'image', choice: 0, url: 'data:,i' }),
        frame(
          { type: 'audio-delta', choice: 0, audio: { id: 'a', data: 'AA' } },
          { type: 'audio-delta', choice: 0, audio: { data: 'BB', transcript: 't' } },
        ),
        frame(text('x'), { type: 'logprobs', choice: 0, logprobs: { content: [{ token: 'x' }] } }),
      ],
      [
        choice({ role: 'assistant', content: '', refusal: 'no' }),
        choice({ images: [{ type: 'image_url', image_url: { url: 'data:,i' } }] }),
        choice({ audio: { id: 'a', data: 'AABB', transcript: 't' } }),
        choice({ content: 'x' }, { logprobs: { content: [{ token: 'x' }] } }),
      ],
    ],
    [
      'annotations',
      [
        frame({
          type: 'annotation',
          choice: 0,
          annotation: { type: 'url_citation', url: 'u', title: 't', startIndex: 1, endIndex: 2 },
        }),
        frame({ type: 'annotation', choice: 0, annotation: { type: 'file', file: { hash: 'h' } } }),
      ],
      [
        choice({
          role: 'assistant',
          content: '',
          annotations: [
            { type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 1, end_index: 2 } },
          ],
        }),
        choice({ annotations: [{ type: 'file', file: { hash: 'h' } }] }),
      ],
    ],
    [
      'several choices',
      [frame(text('a', 1), text('b', 0)), frame(text('c', 1))],
      [
        {
          choices: [
            { index: 1, delta: { role: 'assistant', content: 'a' }, finish_reason: null },
            { index: 0, delta: { role: 'assistant', content: 'b' }, finish_reason: null },
          ],
        },
        { choices: [{ index: 1, delta: { content: 'c' }, finish_reason: null }] },
      ],
    ],
    [
      'unknown fields stand where they stood, and never take the place of ours',
      [
        frame(text('a'), {
          type: 'native',
          dialect: 'chat',
          data: {
            chunk: { warmth: 3, id: 'theirs', usage: 1 },
            choices: [
              {
                index: 0,
                choice: { filter: 'ok', finish_reason: 'x' },
                message: { mood: 'm', content: 'x' },
              },
            ],
          },
        }),
        frame({ type: 'native', dialect: 'chat', data: { chunk: { prompt_filter_results: [] } } }),
      ],
      [
        {
          ...choice({ role: 'assistant', content: 'a', mood: 'm' }, { filter: 'ok' }),
          warmth: 3,
        },
        { choices: [], prompt_filter_results: [] },
      ],
    ],
  ]
  test.each(rows)('%s', (_name, frames, chunks) => expect(written(frames)).toEqual(chunks))
})

test('the system fingerprint, once told, is on every chunk', () => {
  const native: InferenceEvent = {
    type: 'native',
    dialect: 'chat',
    data: { chunk: { system_fingerprint: 'fp_1' } },
  }
  const fast: InferenceFrame = { ...frame(text('b')), plainText: { dialect: 'chat', json: 'b' } }
  const writer = writeChatStream(REPLY)
  expect(writer.write(frame(native))).toBe('')
  const chunks = chunksOf(writer.write(frame(text('a'), native)) + writer.write(fast) + writer.end(CLOSING))
  expect(chunks.map((chunk) => (isObject(chunk) ? chunk.system_fingerprint : chunk))).toEqual([
    'fp_1',
    'fp_1',
    'fp_1',
    'fp_1',
    '[DONE]',
  ])
})

test('hidden reasoning leaves no trace, under any name', () => {
  const frames = [
    frame({ type: 'reasoning-delta', choice: 0, text: 'secret' }),
    frame({ type: 'reasoning-detail', choice: 0, detail: { type: 'reasoning.text', text: 'secret' } }),
    frame({
      type: 'native',
      dialect: 'chat',
      data: { choices: [{ index: 0, message: { thinking: 'secret', reasoning_content: 'secret' } }] },
    }),
    frame(text('a'), { type: 'reasoning-delta', choice: 0, text: 'secret' }),
    frame({
      type: 'native',
      dialect: 'chat',
      data: {
        choices: [
          {
            index: 0,
            message: { content_parts: [{ type: 'redacted_thinking', data: 'secret' }, { type: 'map' }] },
          },
        ],
      },
    }),
  ]
  expect(written(frames, { ...REPLY, hideReasoning: true })).toEqual([
    null,
    null,
    null,
    choice({ role: 'assistant', content: 'a' }),
    choice({ content_parts: [{ type: 'map' }] }),
  ])
})

test('the end: finish, usage, metadata under both names, [DONE], and nothing after', () => {
  const serviceMetadata = {
    requested: 'acme/large',
    strategy: 'direct',
    summary: 's',
    attempt: 1,
    is_byok: false,
    region: null,
    endpoints: { total: 1, available: [] },
    attempts: [],
  }
  const writer = writeChatStream(REPLY)
  writer.write(frame(text('a')))
  const [finish, usage, done, ...more] = chunksOf(writer.end({ ...CLOSING, serviceMetadata }))
  expect(finish).toEqual({
    ...SHARED,
    choices: [{ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'end_turn' }],
  })
  expect(usage).toEqual({
    ...SHARED,
    choices: [],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 1, audio_tokens: 0 },
      cost: 0.0000015,
      is_byok: false,
      cost_details: {
        upstream_inference_cost: null,
        upstream_inference_prompt_cost: 0.000001,
        upstream_inference_completions_cost: 0.0000005,
      },
    },
    service_tier: 'default',
    service_metadata: serviceMetadata,
    openrouter_metadata: serviceMetadata,
  })
  expect([done, ...more]).toEqual(['[DONE]'])
  expect([
    writer.write(frame(text('b'))),
    writer.end(CLOSING),
    writer.fail({ status: 500, message: '' }),
  ]).toEqual(['', '', ''])
})

test('an empty answer still has a role, and each choice its finish', () => {
  const finishes = [
    { choice: 0, reason: 'stop' as const, native: null },
    { choice: 1, reason: 'length' as const, native: 'max' },
  ]
  const [first, second] = chunksOf(writeChatStream(REPLY).end({ ...CLOSING, finishes }))
  const delta = { role: 'assistant', content: '' }
  expect(first).toMatchObject({ choices: [{ index: 0, delta, finish_reason: 'stop' }] })
  expect(second).toMatchObject({ choices: [{ index: 1, delta, finish_reason: 'length' }] })
})

test('a failure: the error chunk, no [DONE], and nothing after', () => {
  const writer = writeChatStream(REPLY)
  writer.write(frame(text('a')))
  const metadata = { error_type: 'provider_unavailable', provider_name: 'Acme' }
  expect(chunksOf(writer.fail({ status: 502, message: 'It broke off', metadata }))).toEqual([
    {
      ...SHARED,
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      error: { code: 502, message: 'It broke off', metadata },
    },
  ])
  expect(
    writer.end(CLOSING) + writer.fail({ status: 500, message: '' }) + writer.write(frame(text('b'))),
  ).toBe('')
})

describe('a failure always names its kind', () => {
  const rows: [number, string][] = [
    [400, 'invalid_request'],
    [429, 'rate_limit_exceeded'],
    [500, 'server'],
    [502, 'provider_unavailable'],
    [503, 'provider_overloaded'],
    [524, 'timeout'],
    [529, 'provider_overloaded'],
  ]
  test.each(rows)('%d → %s', (status, errorType) => {
    const [chunk] = chunksOf(writeChatStream(REPLY).fail({ status, message: 'm' }))
    expect(chunk).toMatchObject({ error: { code: status, metadata: { error_type: errorType } } })
  })
})

test('the echo of the upstream body', () => {
  const body = { model: 'm', messages: [] }
  expect(chunksOf(writeChatStream(REPLY).echo(body))).toEqual([
    { ...SHARED, choices: [], debug: { echo_upstream_body: body } },
  ])
})

test('text cannot forge an event', () => {
  const evil = 'x\n\ndata: [DONE]\n\n\r\revent: error\r\n\u2028\u2029\u0085: y'
  const writer = writeChatStream({ ...REPLY, providerName: 'Acme' })
  const events: InferenceEvent[] = [
    text(evil),
    { type: 'reasoning-delta', choice: 0, text: evil },
    { type: 'tool-call-start', choice: 0, index: 0, id: evil, name: evil },
    { type: 'native', dialect: 'chat', data: { chunk: { [evil]: evil } } },
  ]
  const [chunk, ...more] = chunksOf(writer.write(frame(...events)))
  expect(more).toEqual([])
  expect(chunk).toMatchObject({ [evil]: evil, choices: [{ delta: { content: evil, reasoning: evil } }] })
  const fast: InferenceFrame = {
    ...frame(text(evil)),
    plainText: { dialect: 'chat', json: JSON.stringify(evil).slice(1, -1) },
  }
  expect(chunksOf(writer.write(fast))).toMatchObject([{ choices: [{ delta: { content: evil } }] }])
})
