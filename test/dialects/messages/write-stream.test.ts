import { describe, expect, test } from 'bun:test'
import type { InferenceEvent, InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import type { Closing, RoutingMetadata } from '../../../src/core/result.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { messagesIngress } from '../../../src/dialects/messages/index.ts'
import { unseal } from '../../../src/dialects/opaque.ts'
import { closingOf, eventsOf, MESSAGE_ID, readStream, replyOf } from './written.ts'

const choice = 0
const text = (said: string): InferenceEvent => ({ type: 'text-delta', choice, text: said })
const think = (said: string): InferenceEvent => ({ type: 'reasoning-delta', choice, text: said })
const detail = (fields: JsonObject & { type: string }): InferenceEvent => ({
  type: 'reasoning-detail',
  choice,
  detail: fields,
})
const call = (index: number, id: string, name = 'f'): InferenceEvent => ({
  type: 'tool-call-start',
  choice,
  index,
  id,
  name,
})
const args = (index: number, json: string): InferenceEvent => ({
  type: 'tool-call-delta',
  choice,
  index,
  json,
})
const native = (event: JsonObject): InferenceEvent => ({
  type: 'native',
  dialect: 'messages',
  data: { event },
})

/** Each list of events is a frame. */
function written(frames: InferenceEvent[][], closing: Partial<Closing> = {}, reply = replyOf()) {
  const writer = messagesIngress.writeStream(reply)
  const body = frames.map((events) => writer.write({ events })).join('')
  return eventsOf(body + writer.end(closingOf(closing)))
}

/** The blocks alone, shortened: `[type, ...]` of a start, the delta, or `stop`. */
function blocksOf(frames: InferenceEvent[][], reply = replyOf()): unknown[] {
  return written(frames, {}, reply).flatMap((event) => {
    if (event['type'] === 'content_block_start') return [event['content_block']]
    if (event['type'] === 'content_block_delta') return [event['delta']]
    return event['type'] === 'content_block_stop' ? ['stop'] : []
  })
}

const TEXT = { type: 'text', text: '' }
const THINKING = { type: 'thinking', thinking: '', signature: '' }
const said = (piece: string) => ({ type: 'text_delta', text: piece })
const thought = (piece: string) => ({ type: 'thinking_delta', thinking: piece })
const json = (partial_json: string) => ({ type: 'input_json_delta', partial_json })
const tool = (id: string, name = 'f') => ({ type: 'tool_use', id, name, input: {} })
const sealed = () => ({
  type: 'signature_delta',
  signature: expect.stringMatching(/^sluice\.v1\./),
})

test('the events of a stream, in order', () => {
  expect(
    written(
      [
        [{ type: 'response-start', upstreamId: 'up', model: 'm', created: 1 }],
        [text('Hel')],
        [text('lo')],
        [{ type: 'usage', usage: { ...NO_USAGE, inputTokens: 3, outputTokens: 2 } }],
      ],
      { usage: { ...NO_USAGE, inputTokens: 3, cacheReadTokens: 4, outputTokens: 2, reasoningTokens: 1 } },
    ),
  ).toEqual([
    {
      type: 'message_start',
      message: {
        id: MESSAGE_ID,
        type: 'message',
        role: 'assistant',
        model: 'acme/large',
        provider: 'Acme',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        usage: expect.objectContaining({ input_tokens: 0, output_tokens: 0, service_tier: null }),
      },
    },
    { type: 'ping' },
    { type: 'content_block_start', index: 0, content_block: TEXT },
    { type: 'content_block_delta', index: 0, delta: said('Hel') },
    { type: 'content_block_delta', index: 0, delta: said('lo') },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
      usage: {
        input_tokens: 3,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 4,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { thinking_tokens: 1 },
        server_tool_use: null,
        inference_geo: null,
        service_tier: null,
        cost: 0.0000015,
        is_byok: false,
        cost_details: {
          upstream_inference_cost: null,
          upstream_inference_prompt_cost: 0.000001,
          upstream_inference_completions_cost: 0.0000005,
        },
      },
    },
    { type: 'message_stop' },
  ])
})

test('cache writes are listed by lifetime, whichever dialect counted them', () => {
  const usage = { ...NO_USAGE, inputTokens: 3, cacheWriteTokens: 30, cacheWriteHourTokens: 20 }
  const told = {
    input_tokens: 3,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
  }
  const events = written([[{ type: 'usage', usage }, text('Hi')]], { usage })
  expect(events[0]).toMatchObject({ type: 'message_start', message: { usage: told } })
  expect(events.at(-2)).toMatchObject({ type: 'message_delta', usage: told })
  const natives: JsonObject = { ephemeral_5m_input_tokens: 9, ephemeral_1h_input_tokens: 20, ephemeral_1d: 1 }
  const native = { dialect: 'messages' as const, fields: { cache_creation: natives } }
  expect(written([[text('Hi')]], { usage: { ...usage, native } }).at(-2)).toMatchObject({
    usage: { cache_creation_input_tokens: 30, cache_creation: natives },
  })
})

test('an empty answer is a complete message', () => {
  expect(written([]).map(({ type }) => type)).toEqual([
    'message_start',
    'ping',
    'message_delta',
    'message_stop',
  ])
})

describe('blocks', () => {
  const CITED = {
    type: 'url_citation' as const,
    url: 'https://a.example',
    title: 'A',
    startIndex: 0,
    endIndex: 2,
  }
  const citation = {
    type: 'citations_delta',
    citation: {
      type: 'web_search_result_location',
      url: 'https://a.example',
      title: 'A',
      cited_text: '',
      encrypted_index: expect.stringMatching(/^sluice\.v1\./),
    },
  }
  const cite: InferenceEvent = { type: 'annotation', choice, annotation: CITED }
  const rows: [what: string, frames: InferenceEvent[][], expected: unknown[]][] = [
    [
      'a thought, then text',
      [[think('hm')], [think('m')], [text('Hi')]],
      [THINKING, thought('hm'), thought('m'), sealed(), 'stop', TEXT, said('Hi'), 'stop'],
    ],
    [
      'a thought of Claude keeps its signature',
      [
        [
          think('hm'),
          detail({ type: 'reasoning.text', text: 'hm', format: 'anthropic-claude-v1', index: 0 }),
        ],
        [detail({ type: 'reasoning.text', signature: 's', format: 'anthropic-claude-v1', index: 0 })],
        [detail({ type: 'reasoning.encrypted', data: 'zz', format: 'anthropic-claude-v1', index: 1 })],
        [text('Hi')],
      ],
      [
        THINKING,
        thought('hm'),
        { type: 'signature_delta', signature: 's' },
        'stop',
        { type: 'redacted_thinking', data: 'zz' },
        'stop',
        TEXT,
        said('Hi'),
        'stop',
      ],
    ],
    [
      'thoughts of two indexes are two',
      [
        [detail({ type: 'reasoning.summary', summary: 'a', format: 'x', index: 0 })],
        [detail({ type: 'reasoning.summary', summary: 'b', format: 'x', index: 0 })],
        [detail({ type: 'reasoning.summary', summary: 'c', format: 'x', index: 1 })],
      ],
      [THINKING, thought('a'), thought('b'), sealed(), 'stop', THINKING, thought('c'), sealed(), 'stop'],
    ],
    [
      'text of thoughts that comes twice, one frame after the other, is written once',
      [
        [think('a ')],
        [detail({ type: 'reasoning.summary', summary: 'a ', format: 'x', index: 0 })],
        [think('b')],
        [detail({ type: 'reasoning.summary', summary: 'b', format: 'x', index: 0 })],
      ],
      [THINKING, thought('a '), thought('b'), sealed(), 'stop'],
    ],
    [
      'calls: in pieces, whole, without arguments',
      [
        [call(0, 'a')],
        [args(0, '{"x":')],
        [args(0, '1}')],
        [call(1, 'b'), args(1, '{"y":2}')],
        [call(2, 'c'), args(2, '{}')],
        [call(3, 'd')],
      ],
      [
        tool('a'),
        json('{"x":'),
        json('1}'),
        'stop',
        tool('b'),
        json('{"y":2}'),
        'stop',
        tool('c'),
        json('{}'),
        'stop',
        tool('d'),
        'stop',
      ],
    ],
    [
      'calls that interleave come one after the other, and so does text between their pieces',
      [[call(0, 'a'), call(1, 'b')], [args(1, '{"y"')], [text('Hi')], [args(0, '{}')], [args(1, ':2}')]],
      [tool('a'), json('{}'), 'stop', tool('b'), json('{"y"'), json(':2}'), 'stop', TEXT, said('Hi'), 'stop'],
    ],
    [
      'thoughts come before the call that they led to',
      [
        [
          call(0, 'a'),
          detail({ type: 'reasoning.encrypted', data: 'd', format: 'x', id: 'a' }),
          args(0, '{}'),
        ],
      ],
      [
        { type: 'redacted_thinking', data: expect.stringMatching(/^sluice\.v1\./) },
        'stop',
        tool('a'),
        json('{}'),
        'stop',
      ],
    ],
    [
      'free text for a call is the one field of an object',
      [
        [
          {
            ...call(0, 'a'),
            type: 'tool-call-start',
            choice,
            index: 0,
            id: 'a',
            name: 'f',
            extra: { type: 'custom' },
          },
        ],
        [args(0, 'SELECT "')],
        [args(0, 'x"')],
        [text('Hi')],
      ],
      [tool('a'), json('{"input":"SELECT \\"'), json('x\\"'), json('"}'), 'stop', TEXT, said('Hi'), 'stop'],
    ],
    ['a refusal is text', [[{ type: 'refusal-delta', choice, text: 'No.' }]], [TEXT, said('No.'), 'stop']],
    ['a citation in its text', [[text('Hi')], [cite]], [TEXT, said('Hi'), citation, 'stop']],
    ['a citation before its text', [[cite], [text('Hi')]], [TEXT, citation, said('Hi'), 'stop']],
    ['a citation of nothing', [[cite]], [TEXT, citation, 'stop']],
    [
      'a citation of another kind of Anthropic, as it came',
      [
        [text('Hi')],
        [{ type: 'annotation', choice, annotation: { type: 'page_location', start_page_number: 2 } }],
      ],
      [
        TEXT,
        said('Hi'),
        { type: 'citations_delta', citation: { type: 'page_location', start_page_number: 2 } },
        'stop',
      ],
    ],
    [
      'a citation of a kind that Anthropic does not have is left out',
      [[text('Hi')], [{ type: 'annotation', choice, annotation: { type: 'file_citation', file_id: 'f' } }]],
      [TEXT, said('Hi'), 'stop'],
    ],
    [
      'images',
      [
        [{ type: 'image', choice, url: 'data:image/png;base64,AAAA' }],
        [{ type: 'image', choice, url: 'https://a.example/i.png' }],
      ],
      [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        'stop',
        { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' } },
        'stop',
      ],
    ],
    ['another choice is not asked for', [[{ ...text('no'), type: 'text-delta', text: 'no', choice: 1 }]], []],
  ]
  test.each(rows)('%s', (_, frames, expected) => {
    expect(blocksOf(frames)).toEqual(expected)
  })

  test('what is sealed in a signature is the detail without its text', () => {
    const blocks = blocksOf([
      [think('hm'), detail({ type: 'reasoning.text', text: 'hm', format: 'x', id: 'r', index: 3 })],
    ])
    const { signature } = JSON.parse(JSON.stringify(blocks[2]))
    expect(unseal(signature)).toEqual({ detail: { type: 'reasoning.text', format: 'x', id: 'r', index: 3 } })
  })

  test('hidden thoughts leave what the next turn needs', () => {
    const claudes = {
      type: 'reasoning.text',
      text: 'hm',
      signature: 's',
      format: 'anthropic-claude-v1',
      index: 0,
    }
    const others = { type: 'reasoning.text', text: 'so', format: 'x', index: 1 }
    const frames = [
      [think('plain')],
      [think('hm'), detail(claudes)],
      [think('so'), detail(others)],
      [text('Hi')],
    ]
    expect(blocksOf(frames, replyOf({ hideReasoning: true }))).toEqual([
      THINKING,
      { type: 'signature_delta', signature: 's' },
      'stop',
      THINKING,
      sealed(),
      'stop',
      TEXT,
      said('Hi'),
      'stop',
    ])
  })
})

describe('the end', () => {
  const delta = (closing: Partial<Closing>, frames: InferenceEvent[][] = [[text('Hi')]]) =>
    written(frames, closing).at(-2)?.['delta']
  test.each<[Closing['finishes'][number]['reason'], string | null, string]>([
    ['stop', 'stop', 'end_turn'],
    ['stop', 'stop_sequence', 'stop_sequence'],
    ['stop', 'pause_turn', 'pause_turn'],
    ['stop', 'tool_use', 'end_turn'],
    ['length', 'MAX_TOKENS', 'max_tokens'],
    ['length', 'model_context_window_exceeded', 'model_context_window_exceeded'],
    ['tool_calls', 'STOP', 'tool_use'],
    ['content_filter', 'SAFETY', 'refusal'],
  ])('%p (%p) is %p', (reason, word, expected) => {
    expect(delta({ finishes: [{ choice, reason, native: word }] })).toMatchObject({ stop_reason: expected })
  })

  test('a refusal has its explanation', () => {
    expect(delta({}, [[{ type: 'refusal-delta', choice, text: 'No.' }]])).toMatchObject({
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'No.' },
    })
  })

  test('an answer that the provider broke off is an error', () => {
    const events = written([[text('Hi')]], {
      finishes: [{ choice, reason: 'error', native: 'network_error' }],
    })
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    expect(events.map(({ type }) => type)).not.toContain('message_stop')
  })

  const routing: RoutingMetadata = {
    requested: 'm',
    strategy: 'direct',
    summary: '',
    attempt: 1,
    is_byok: false,
    region: null,
    endpoints: { total: 0, available: [] },
    attempts: [],
    params: { dropped_parameters: ['seed'] },
  }

  test('what the reply had and this dialect has not is named', () => {
    const frames: InferenceEvent[][] = [
      [text('Hi'), { type: 'logprobs', choice, logprobs: {} }],
      [{ type: 'audio-delta', choice, audio: {} }],
    ]
    expect(written(frames, { serviceMetadata: routing }).at(-1)).toEqual({
      type: 'message_stop',
      service_metadata: { ...routing, params: { dropped_parameters: ['seed', 'logprobs', 'audio'] } },
      openrouter_metadata: { ...routing, params: { dropped_parameters: ['seed', 'logprobs', 'audio'] } },
    })
  })

  test('a failure is an error event, with the routing, and nothing comes after it', () => {
    const writer = messagesIngress.writeStream(replyOf({ routing: () => routing }))
    writer.write({ events: [text('Hi')] })
    const failure = { status: 529, message: 'Busy', metadata: { error_type: 'provider_overloaded' } }
    expect(eventsOf(writer.fail(failure))).toEqual([
      {
        type: 'error',
        error: {
          type: 'overloaded_error',
          message: 'Busy',
          error_type: 'provider_overloaded',
          metadata: { error_type: 'provider_overloaded' },
        },
        request_id: null,
        service_metadata: routing,
        openrouter_metadata: routing,
      },
    ])
    expect([writer.write({ events: [text('more')] }), writer.end(closingOf()), writer.fail(failure)]).toEqual(
      ['', '', ''],
    )
  })
})

describe('relay', () => {
  const START = {
    type: 'message_start',
    message: { id: 'up', model: 'up', usage: {}, container: { id: 'c' } },
  }
  const NEW = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', lean: 1 } }

  test('events of the same dialect go through, and plain text is put in their midst', () => {
    const citation = {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'citations_delta', citation: {} },
    }
    const tomorrow = { type: 'content_block_spin', speed: 2 }
    const events = written([
      [native(START)],
      [native(NEW)],
      [text('Hi')],
      [native(citation)],
      [native(tomorrow)],
      [native({ type: 'content_block_stop', index: 0 })],
      [
        native({
          type: 'message_delta',
          delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
          context_management: { applied_edits: [] },
          usage: {},
        }),
      ],
      [native({ type: 'message_stop', lean: 2 })],
    ])
    expect(events[0]).toMatchObject({
      message: { id: MESSAGE_ID, model: 'acme/large', container: { id: 'c' }, content: [] },
    })
    expect(events.slice(2, -2)).toEqual([
      NEW,
      { type: 'content_block_delta', index: 0, delta: said('Hi') },
      citation,
      tomorrow,
      { type: 'content_block_stop', index: 0 },
    ])
    expect(events.slice(-2)).toMatchObject([
      {
        type: 'message_delta',
        delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
        context_management: { applied_edits: [] },
        usage: { cost: 0.0000015 },
      },
      { type: 'message_stop', lean: 2 },
    ])
  })

  test('a name that would break the stream is no event', () => {
    const events = written([[native(START)], [native({ type: 'a\ndata: {}' })], [native(NEW)]])
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'message_delta',
      'message_stop',
    ])
  })

  test('a complete message as events', () => {
    const message = {
      id: 'up',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'Hi', citations: [{ type: 'page_location' }] },
        { type: 'server_tool_use', id: 't', name: 'n', input: { q: 1 } },
        { type: 'web_search_tool_result', tool_use_id: 't', content: [] },
      ],
      stop_reason: 'pause_turn',
      usage: {},
    }
    const events = written([[{ type: 'native', dialect: 'messages', data: { message } }]])
    expect(events.flatMap((event) => event['content_block'] ?? event['delta'] ?? [])).toMatchObject([
      THINKING,
      thought('hm'),
      { type: 'signature_delta', signature: 's' },
      TEXT,
      said('Hi'),
      { type: 'citations_delta', citation: { type: 'page_location' } },
      { type: 'server_tool_use', id: 't', name: 'n', input: {} },
      json('{"q":1}'),
      { type: 'web_search_tool_result', tool_use_id: 't', content: [] },
      { stop_reason: 'pause_turn' },
    ])
  })
})

test('the client skips the comments of a long silence and reports an error after them', async () => {
  const silence = ': SLUICE PROCESSING\n\n'
  const writer = messagesIngress.writeStream(replyOf())
  const body = writer.write({ events: [text('Hi')] }) + silence + writer.end(closingOf())
  expect(await readStream(silence + body)).toMatchObject({ content: [{ type: 'text', text: 'Hi' }] })
  const failure = messagesIngress.writeStream(replyOf()).fail({ status: 524, message: 'Too late' })
  await expect(readStream(silence + failure)).rejects.toMatchObject({ type: 'timeout_error' })
})

test('no text can end an event', () => {
  const frame: InferenceFrame = { events: [text('a\u2028b\u0085\r\n\n')] }
  const body = messagesIngress.writeStream(replyOf()).write(frame)
  expect(body).not.toMatch(/[\u2028\u0085\r]/)
  expect(eventsOf(body).at(-1)).toMatchObject({ delta: said('a\u2028b\u0085\r\n\n') })
})
