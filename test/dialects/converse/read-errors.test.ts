import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
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
import { frameOf } from './frames.ts'
import { begin, bodyOf, delta, finish, HI, read, readBody, START, stop, USAGE } from './stream-events.ts'

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

  test('a call truncated by max_tokens keeps its arguments', async () => {
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

  test('the reader does not wait for events after metadata', async () => {
    let hasLeft = false
    const form: ReplyForm = { ending: 'open', onLeave: () => (hasLeft = true) }
    expect((await read([START, HI, finish('end_turn'), USAGE], form)).finishes).toHaveLength(1)
    expect(hasLeft).toBe(true)
  })

  test.each(['malformed_tool_use', 'malformed_model_output'])('%s is not an answer', async (native) => {
    const { error, finishes } = await read([START, HI, finish(native), USAGE])
    expect(error).toMatchObject({ kind: 'malformed', code: native })
    expect(finishes).toEqual([])
    expect((await readBody(bodyOf([{ text: 'x' }], native))).error).toMatchObject({ kind: 'malformed' })
  })
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

  test('too many connections are an overload; a too long prompt has its own error', async () => {
    const busy = { exception: 'serviceUnavailableException', message: 'Too many connections, please wait' }
    expect((await read([START, busy])).error).toMatchObject({ kind: 'overloaded' })
    const long = { exception: 'validationException', message: 'Input is too long for requested model.' }
    expect((await read([START, long])).error).toMatchObject({
      kind: 'unsuitable',
      errorType: 'context_length_exceeded',
    })
  })
})

describe('not an answer', () => {
  test.each<[what: string, body: unknown, kind: string]>([
    ['{}', {}, 'malformed'],
    ['the answer of another dialect', { choices: [{ message: { content: 'x' } }] }, 'malformed'],
    ['a page', '<html><title>Sign in</title></html>', 'malformed'],
    ['nothing', '', 'malformed'],
    ['an error with 200', { __type: 'com.amazon#ThrottlingException', message: 'Slow' }, 'rate-limit'],
    ['a message alone', { message: 'Something went wrong' }, 'server'],
    ['a message without a stop reason', { output: { message: { content: [{ text: 'x' }] } } }, 'truncated'],
    ['a call without a name', bodyOf([{ toolUse: { toolUseId: 't', input: {} } }]), 'malformed'],
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
    [403, 'AccessDeniedException', 'Not authorized to perform bedrock:InvokeModel', 'credential'],
    [403, 'AccessDeniedException', 'You do not have access to the model', 'unsuitable'],
    [403, 'ExpiredTokenException', 'The security token is expired', 'credential'],
    [400, 'ValidationException', 'messages: roles must alternate', 'caller'],
    [404, 'ResourceNotFoundException', 'Could not resolve the foundation model', 'unsuitable'],
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

  test('a reply without an error type is read by its status', () => {
    const error = converseEgress.readError(429, new Headers({ 'retry-after': '2' }), '{"message":"Wait"}')
    expect(error).toMatchObject({ kind: 'rate-limit', code: null, retryAfterMs: 2_000 })
  })
})

describe('names and ids', () => {
  test.each(['f', 'files.read', 'a b', 'ümlaut', '🛠', 'foo_x41_bar', '_x_', 'a_x2e_b', 'x.y_x2e_z', 'A-1_b'])(
    '%s is encoded as Converse requires, and decoded',
    (name) => {
      expect(writeToolName(name)).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(readToolName(writeToolName(name))).toBe(name)
    },
  )

  test('a plain name stays as it is', () => expect(writeToolName('get_weather-2')).toBe('get_weather-2'))

  test('an id that Converse accepts stays; others are replaced by distinct ones', () => {
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
  ])('encrypted thoughts %s are sent back unchanged', (base64) =>
    expect(writeRedacted(readRedacted(base64))).toBe(base64),
  )
})
