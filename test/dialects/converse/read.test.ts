import { describe, expect, test } from 'bun:test'
import type { InferenceEvent, JsonObject } from '../../../src/core/events.ts'
import { converseEgress } from '../../../src/dialects/converse/index.ts'
import {
  readRedacted,
  readToolName,
  writeCallId,
  writeRedacted,
  writeToolName,
} from '../../../src/dialects/converse/names.ts'
import { type ReplyForm, upstreamReply } from '../../upstream-reply.ts'
import { outcomeOf } from '../chat/outcome.ts'
import { frameOf, streamOf } from './frames.ts'

const START = { messageStart: { role: 'assistant' } }
const delta = (contentBlockIndex: number, fields: JsonObject) => ({
  contentBlockDelta: { contentBlockIndex, delta: fields, p: 'abc' },
})
const begin = (contentBlockIndex: number, start: JsonObject) => ({
  contentBlockStart: { contentBlockIndex, start },
})
const stop = (contentBlockIndex: number) => ({ contentBlockStop: { contentBlockIndex } })
const finish = (stopReason: string) => ({ messageStop: { stopReason } })
const USAGE = { metadata: { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } } }
const HI = delta(0, { text: 'Hi' })

const read = (events: readonly JsonObject[], form: ReplyForm = {}) =>
  outcomeOf(converseEgress.read(upstreamReply(streamOf(events), form), true))
const readBody = (body: unknown) =>
  outcomeOf(converseEgress.read(upstreamReply(typeof body === 'string' ? body : JSON.stringify(body)), false))
const whole = (content: JsonObject[], stopReason = 'end_turn') => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
})

const FRAME = ['response-start', 'usage', 'response-end']
const within = (events: readonly InferenceEvent[]) => events.filter(({ type }) => !FRAME.includes(type))

test('the frame of a reply', async () => {
  const { events } = await read([START, HI, stop(0), finish('end_turn'), USAGE])
  expect(events).toMatchObject([
    { type: 'response-start', upstreamId: null, model: null, created: null },
    { type: 'text-delta', choice: 0, text: 'Hi' },
    { type: 'usage', usage: { inputTokens: 3, outputTokens: 2 }, serviceTier: null },
    { type: 'response-end', finishes: [{ choice: 0, reason: 'stop', native: 'end_turn' }] },
  ])
})

describe('blocks, streamed and complete', () => {
  const text = (value: string): InferenceEvent => ({ type: 'text-delta', choice: 0, text: value })
  const call = (index: number, name = 'f'): InferenceEvent => ({
    type: 'tool-call-start',
    choice: 0,
    index,
    id: `t${index}`,
    name,
  })
  const json = (index: number, value: string): InferenceEvent => ({
    type: 'tool-call-delta',
    choice: 0,
    index,
    json: value,
  })
  const note = (annotation: JsonObject): InferenceEvent => ({ type: 'annotation', choice: 0, annotation })
  const SIGNED = { signature: 'c2ln', format: 'anthropic-claude-v1' }
  const detail = (fields: JsonObject): InferenceEvent => ({
    type: 'reasoning-detail',
    choice: 0,
    detail: { type: 'reasoning.text', ...fields },
  })
  const thought = (value: string): InferenceEvent => ({ type: 'reasoning-delta', choice: 0, text: value })
  const WEB = { location: { web: { url: 'https://a.example/x', domain: 'a.example' } } }
  const PAGE = {
    title: 'guide',
    location: { documentPage: { documentIndex: 1, start: 2, end: 3 } },
    sourceContent: [{ text: 'as ' }, { text: 'said' }],
  }
  const page = (start_index: number, end_index: number) =>
    note({
      type: 'page_location',
      start_page_number: 2,
      end_page_number: 3,
      document_index: 1,
      document_title: 'guide',
      cited_text: 'as said',
      start_index,
      end_index,
    })

  test.each<[what: string, streamed: JsonObject[], content: JsonObject[], expected: InferenceEvent[]]>([
    ['a text', [delta(0, { text: 'A' }), stop(0)], [{ text: 'A' }], [text('A')]],
    ['an empty text', [delta(0, { text: '' }), stop(0)], [{ text: '' }], []],
    [
      'a call without arguments',
      [begin(0, { toolUse: { toolUseId: 't0', name: 'f' } }), delta(0, { toolUse: { input: '' } }), stop(0)],
      [{ toolUse: { toolUseId: 't0', name: 'f', input: {} } }],
      [call(0), json(0, '{}')],
    ],
    [
      'parallel calls',
      [
        begin(0, { toolUse: { toolUseId: 't0', name: 'f' } }),
        begin(1, { toolUse: { toolUseId: 't1', name: 'a_x2e_b', type: 'tool_use' } }),
        delta(0, { toolUse: { input: '{"a":1}' } }),
        delta(1, { toolUse: { input: '{"b":2}' } }),
        stop(0),
        stop(1),
      ],
      [],
      [call(0), call(1, 'a.b'), json(0, '{"a":1}'), json(1, '{"b":2}')],
    ],
    [
      'the answer tool',
      [
        begin(0, { toolUse: { toolUseId: 't0', name: 'answer_in_json' } }),
        delta(0, { toolUse: { input: '{"a":1}' } }),
        stop(0),
      ],
      [{ toolUse: { toolUseId: 't0', name: 'answer_in_json', input: { a: 1 } } }],
      [text('{"a":1}')],
    ],
    [
      'a signed thought, of which the signature comes last',
      [
        delta(0, { reasoningContent: { text: 'Hm' } }),
        delta(0, { reasoningContent: { signature: 'c2ln' } }),
        stop(0),
      ],
      [],
      [thought('Hm'), detail({ text: 'Hm', index: 0 }), detail({ ...SIGNED, index: 0 })],
    ],
    [
      'a complete signed thought',
      [],
      [{ reasoningContent: { reasoningText: { text: 'Hm', signature: 'c2ln' } } }],
      [thought('Hm'), detail({ text: 'Hm', ...SIGNED, index: 0 })],
    ],
    [
      'two unsigned thoughts',
      [
        delta(0, { reasoningContent: { text: 'A' } }),
        stop(0),
        delta(1, { reasoningContent: { text: 'B' } }),
        stop(1),
      ],
      [
        { reasoningContent: { reasoningText: { text: 'A' } } },
        { reasoningContent: { reasoningText: { text: 'B' } } },
      ],
      [thought('A'), detail({ text: 'A', index: 0 }), thought('B'), detail({ text: 'B', index: 1 })],
    ],
    [
      'an encrypted thought',
      [
        delta(0, { reasoningContent: { redactedContent: Buffer.from('EkgSecret==').toString('base64') } }),
        stop(0),
      ],
      [{ reasoningContent: { redactedContent: Buffer.from('EkgSecret==').toString('base64') } }],
      [detail({ type: 'reasoning.encrypted', data: 'EkgSecret==', format: 'anthropic-claude-v1', index: 0 })],
    ],
    [
      'a citation before its text, and one of the web after it',
      [
        delta(0, { citation: PAGE }),
        delta(0, { text: 'It is so' }),
        stop(0),
        delta(1, { citation: WEB }),
        stop(1),
      ],
      [
        { citationsContent: { content: [{ text: 'It is so' }], citations: [PAGE] } },
        { citationsContent: { citations: [WEB] } },
      ],
      [
        text('It is so'),
        page(0, 8),
        {
          type: 'annotation',
          choice: 0,
          annotation: {
            type: 'url_citation',
            url: 'https://a.example/x',
            title: 'https://a.example/x',
            startIndex: 0,
            endIndex: 8,
          },
        },
      ],
    ],
    [
      'what runs at AWS',
      [
        begin(0, { toolUse: { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use' } }),
        delta(0, { toolUse: { input: '{"q":1}' } }),
        stop(0),
        begin(1, { toolResult: { toolUseId: 's', status: 'success' } }),
        delta(1, { toolResult: [{ text: 'r' }] }),
        stop(1),
      ],
      [
        { toolUse: { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use', input: { q: 1 } } },
        { toolResult: { toolUseId: 's', status: 'success', content: [{ text: 'r' }] } },
      ],
      [
        {
          type: 'native',
          dialect: 'converse',
          data: {
            toolUse: { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use', input: { q: 1 } },
          },
        },
        {
          type: 'native',
          dialect: 'converse',
          data: { toolResult: { toolUseId: 's', status: 'success', content: [{ text: 'r' }] } },
        },
      ],
    ],
    [
      'an image',
      [begin(0, { image: { format: 'webp' } }), delta(0, { image: { source: { bytes: 'AAAA' } } }), stop(0)],
      [{ image: { format: 'webp', source: { bytes: 'AAAA' } } }],
      [{ type: 'image', choice: 0, url: 'data:image/webp;base64,AAAA' }],
    ],
  ])('%s', async (_, streamed, content, expected) => {
    if (streamed.length > 0) {
      const { events, error } = await read([START, ...streamed, finish('end_turn'), USAGE])
      expect(error).toBeUndefined()
      expect(within(events)).toEqual(expected)
    }
    if (content.length > 0) expect(within((await readBody(whole(content))).events)).toEqual(expected)
  })
})

describe('ends', () => {
  const TOOL = begin(0, { toolUse: { toolUseId: 't', name: 'f' } })
  test.each<[native: string, events: JsonObject[], reason: string]>([
    ['end_turn', [HI], 'stop'],
    ['stop_sequence', [HI], 'stop'],
    ['max_tokens', [HI], 'length'],
    ['model_context_window_exceeded', [HI], 'length'],
    ['guardrail_intervened', [HI], 'content_filter'],
    ['content_filtered', [HI], 'content_filter'],
    ['tool_use', [TOOL, stop(0)], 'tool_calls'],
    ['tool_use', [HI], 'stop'],
    ['a_new_reason', [HI], 'stop'],
    ['a_new_reason', [TOOL, stop(0)], 'tool_calls'],
  ])('%s', async (native, events, reason) => {
    const { finishes } = await read([START, ...events, finish(native), USAGE])
    expect<unknown>(finishes).toEqual([{ choice: 0, reason, native }])
  })

  test('a call that the bound cut keeps what it has', async () => {
    const cut = [START, TOOL, delta(0, { toolUse: { input: '{"a":' } }), finish('max_tokens'), USAGE]
    expect((await read(cut)).calls).toEqual([{ id: 't', name: 'f', arguments: '{"a":' }])
    expect((await read([START, TOOL, finish('max_tokens'), USAGE])).calls).toEqual([
      { id: 't', name: 'f', arguments: '' },
    ])
  })

  test('without metadata an answer is complete, and has no usage', async () => {
    const { finishes, usage } = await read([START, HI, finish('end_turn')])
    expect([finishes.length, usage]).toEqual([1, null])
  })

  test('what comes after metadata is not waited for', async () => {
    let hasLeft = false
    const form: ReplyForm = { ending: 'open', onLeave: () => (hasLeft = true) }
    expect((await read([START, HI, finish('end_turn'), USAGE], form)).finishes).toHaveLength(1)
    expect(hasLeft).toBe(true)
  })

  test.each(['malformed_tool_use', 'malformed_model_output'])('%s is no answer', async (native) => {
    const { error, finishes } = await read([START, HI, finish(native), USAGE])
    expect(error).toMatchObject({ kind: 'malformed', code: native })
    expect(finishes).toEqual([])
    expect((await readBody(whole([{ text: 'x' }], native))).error).toMatchObject({ kind: 'malformed' })
  })
})

test('usage: cached tokens are apart, and what is not known travels on', async () => {
  const usage = {
    inputTokens: 10,
    outputTokens: 5,
    totalTokens: 1_125,
    cacheReadInputTokens: 1_000,
    cacheWriteInputTokens: 110,
    cacheDetails: [
      { ttl: '1h', inputTokens: 80 },
      { ttl: '5m', inputTokens: 30 },
    ],
  }
  const told = await read([
    START,
    HI,
    finish('end_turn'),
    { metadata: { usage, serviceTier: { type: 'priority' } } },
  ])
  expect(told.usage).toMatchObject({
    inputTokens: 10,
    cacheReadTokens: 1_000,
    cacheWriteTokens: 110,
    cacheWriteHourTokens: 80,
    outputTokens: 5,
    native: { dialect: 'converse', fields: { cacheDetails: usage.cacheDetails } },
  })
  expect(told.events).toContainEqual(expect.objectContaining({ type: 'usage', serviceTier: 'priority' }))
})

test.each<[what: string, told: JsonObject, hour: number | undefined]>([
  ['all of it', { cacheDetails: [{ ttl: '1h', inputTokens: 110 }] }, 110],
  [
    'at several points',
    {
      cacheDetails: [
        { ttl: '1h', inputTokens: 30 },
        { ttl: '1h', inputTokens: 40 },
      ],
    },
    70,
  ],
  ['more than was written', { cacheDetails: [{ ttl: '1h', inputTokens: 111 }] }, 110],
  ['none of it', { cacheDetails: [{ ttl: '5m', inputTokens: 110 }] }, undefined],
  ['nothing that can be read', { cacheDetails: ['1h', null, { ttl: '1h' }] }, undefined],
  ['no list', { cacheDetails: { ttl: '1h', inputTokens: 110 } }, undefined],
  ['no details', {}, undefined],
])('of 110 tokens, written to a cache for an hour: %s', async (_, told, hour) => {
  const usage = { inputTokens: 10, outputTokens: 5, cacheWriteInputTokens: 110, ...told }
  const streamed = await read([START, HI, finish('end_turn'), { metadata: { usage } }])
  const body = await readBody({ ...whole([{ text: 'x' }], 'end_turn'), usage })
  for (const found of [streamed.usage, body.usage]) {
    expect([found?.cacheWriteTokens, found?.cacheWriteHourTokens]).toEqual([110, hour])
  }
})

describe('exceptions in a stream', () => {
  test.each([
    ['throttlingException', 'rate-limit', 429],
    ['serviceUnavailableException', 'server', 503],
    ['internalServerException', 'server', 500],
    ['modelStreamErrorException', 'server', 424],
    ['modelTimeoutException', 'timeout', 408],
    ['validationException', 'caller', 400],
    ['accessDeniedException', 'credential', 403],
    ['aNewException', 'server', 500],
  ])('%s is %s', async (exception, kind, status) => {
    const { error, text, finishes } = await read([
      START,
      HI,
      { exception, message: 'It failed' },
      finish('end_turn'),
    ])
    expect(error).toMatchObject({ kind, status, code: exception, reason: 'It failed' })
    expect([text, finishes]).toEqual(['Hi', []])
  })

  test('too many connections are an overload; a prompt that is too long has its own error', async () => {
    const busy = { exception: 'serviceUnavailableException', message: 'Too many connections, please wait' }
    expect((await read([START, busy])).error).toMatchObject({ kind: 'overloaded' })
    const long = { exception: 'validationException', message: 'Input is too long for requested model.' }
    expect((await read([START, long])).error).toMatchObject({
      kind: 'caller',
      errorType: 'context_length_exceeded',
    })
  })
})

describe('what is no answer', () => {
  test.each<[what: string, body: unknown, kind: string]>([
    ['{}', {}, 'malformed'],
    ['the answer of another dialect', { choices: [{ message: { content: 'x' } }] }, 'malformed'],
    ['a page', '<html><title>Sign in</title></html>', 'malformed'],
    ['nothing', '', 'malformed'],
    ['an error with 200', { __type: 'com.amazon#ThrottlingException', message: 'Slow' }, 'rate-limit'],
    ['a message alone', { message: 'Something went wrong' }, 'server'],
    ['a message without a stop reason', { output: { message: { content: [{ text: 'x' }] } } }, 'truncated'],
    ['a call without a name', whole([{ toolUse: { toolUseId: 't', input: {} } }]), 'malformed'],
  ])('%s', async (_, body, kind) => {
    const { error, finishes } = await readBody(body)
    expect(error).toMatchObject({ kind })
    expect(finishes).toEqual([])
  })

  test.each<[what: string, events: JsonObject[]]>([
    ['a call of a stream without a start', [delta(0, { toolUse: { input: '{}' } })]],
    ['a call of a stream without a name', [begin(0, { toolUse: { toolUseId: 't' } })]],
  ])('%s', async (_, events) => {
    expect((await read([START, ...events, finish('tool_use')])).error).toMatchObject({ kind: 'malformed' })
  })

  test('a damaged frame, after what came before it', async () => {
    const damaged = frameOf(HI)
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 8) ^ 1, damaged.length - 8)
    const bytes = Buffer.concat([frameOf(START), frameOf(HI), damaged, frameOf(finish('end_turn'))])
    const { text, error } = await outcomeOf(converseEgress.read(upstreamReply(new Uint8Array(bytes)), true))
    expect(text).toBe('Hi')
    expect(error).toMatchObject({ kind: 'malformed' })
  })
})

describe('error replies', () => {
  const KEY = 'The security token included in the request is invalid.'
  test.each([
    [403, 'UnrecognizedClientException:http://internal.amazon.com/coral/', KEY, 'credential'],
    [403, 'AccessDeniedException', 'You do not have access to the model', 'credential'],
    [403, 'ExpiredTokenException', 'The security token is expired', 'credential'],
    [400, 'ValidationException', 'messages: roles must alternate', 'caller'],
    [404, 'ResourceNotFoundException', 'Could not resolve the foundation model', 'caller'],
    [408, 'ModelTimeoutException', 'Processing time exceeded', 'timeout'],
    [424, 'ModelErrorException', 'The model failed', 'server'],
    [429, 'ThrottlingException', 'Too many requests', 'rate-limit'],
    [429, 'ModelNotReadyException', 'Not ready', 'overloaded'],
    [400, 'ServiceQuotaExceededException', 'Quota', 'rate-limit'],
    [500, 'InternalServerException', 'Oops', 'server'],
    [503, 'ServiceUnavailableException', 'Bedrock is at capacity', 'overloaded'],
    [503, 'ServiceUnavailableException', 'Try again', 'server'],
  ])('%d %s', (status, type, message, kind) => {
    const headers = new Headers({ 'x-amzn-errortype': type })
    const error = converseEgress.readError(status, headers, JSON.stringify({ message }))
    expect(error).toMatchObject({ status, kind, reason: message, code: type.split(':')[0] })
    const inBody = JSON.stringify({ __type: `com.amazon.bedrock#${type.split(':')[0]}`, message })
    expect(converseEgress.readError(status, new Headers(), inBody)).toMatchObject({ kind, reason: message })
  })

  test('one without a type goes by its status', () => {
    const error = converseEgress.readError(429, new Headers({ 'retry-after': '2' }), '{"message":"Wait"}')
    expect(error).toMatchObject({ kind: 'rate-limit', code: null, retryAfterMs: 2_000 })
  })
})

describe('names and ids', () => {
  test.each(['f', 'files.read', 'a b', 'ümlaut', '🛠', 'foo_x41_bar', '_x_', 'a_x2e_b', 'x.y_x2e_z', 'A-1_b'])(
    '%s is written so that Converse takes it, and read back',
    (name) => {
      expect(writeToolName(name)).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(readToolName(writeToolName(name))).toBe(name)
    },
  )

  test('a plain name stays as it is', () => expect(writeToolName('get_weather-2')).toBe('get_weather-2'))

  test('an id that Converse takes stays; others are replaced, each by one of its own', () => {
    expect(writeCallId('tooluse_a-B_1')).toBe('tooluse_a-B_1')
    const ids = ['a.b', 'a_b', 'a/b', 'x'.repeat(65), 'x'.repeat(66)]
    const written = ids.map(writeCallId)
    expect(new Set(written).size).toBe(ids.length)
    for (const id of written) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(ids.map(writeCallId)).toEqual(written)
  })

  test.each([
    'RWtn',
    Buffer.from([1, 2, 3, 255]).toString('base64'),
    Buffer.from('bedrock:x').toString('base64'),
  ])('encrypted thoughts %s go back as they came', (base64) =>
    expect(writeRedacted(readRedacted(base64))).toBe(base64),
  )
})
