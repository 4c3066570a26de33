import { describe, expect, test } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { NO_USAGE, promptTokens } from '../../../src/core/usage.ts'
import { messagesEgress } from '../../../src/dialects/messages/index.ts'
import type { ReplyForm } from '../../upstream-reply.ts'
import { block, finish, HI, read, START, STOP, stream } from './stream-events.ts'

const sumOf = (written: number): JsonObject => ({ cache_creation_input_tokens: written })

const OVERLOADED = {
  type: 'error',
  error: { type: 'overloaded_error', message: 'Overloaded' },
  request_id: 'r',
}

test('usage is the last report of each figure', async () => {
  const start = {
    type: 'message_start',
    message: {
      id: 'm',
      content: [],
      usage: { input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 1, service_tier: 'standard' },
    },
  }
  const more = {
    input_tokens: 50,
    cache_read_input_tokens: null,
    output_tokens: 20,
    output_tokens_details: { thinking_tokens: 12 },
  }
  const { events } = await read(stream([start, HI, finish('end_turn', more), STOP]))
  expect(events.findLast(({ type }) => type === 'usage')).toEqual({
    type: 'usage',
    usage: { ...NO_USAGE, inputTokens: 50, cacheReadTokens: 7, outputTokens: 8, reasoningTokens: 12 },
    serviceTier: 'default',
  })
})

describe('cache writes for an hour', () => {
  const wrote = (all: unknown, minutes: unknown, hour: unknown): JsonObject => ({
    cache_creation_input_tokens: all,
    cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour },
  })
  const rows: [
    what: string,
    start: JsonObject,
    end: JsonObject,
    written: number,
    hour: number | undefined,
  ][] = [
    ['reported at the start', wrote(30, 10, 20), {}, 30, 20],
    ['reported at the start, their sum again at the end', wrote(30, 10, 20), sumOf(30), 30, 20],
    ['reported only at the end', {}, wrote(30, 10, 20), 30, 20],
    ['reported with new figures at the end', wrote(30, 10, 20), wrote(70, 25, 45), 70, 45],
    ['nothing at the end is nothing new', wrote(30, 10, 20), { cache_creation: null }, 30, 20],
    ['a larger sum later: the rest is for minutes', wrote(30, 10, 20), sumOf(50), 50, 20],
    ['a smaller sum later: at most that', wrote(30, 10, 20), sumOf(5), 5, 5],
    ['more than the sum', wrote(30, 0, 31), {}, 30, 30],
    ['without the sum', { cache_creation: { ephemeral_1h_input_tokens: 20 } }, {}, 0, undefined],
    ['none', wrote(30, 30, 0), {}, 30, undefined],
    ['no number', wrote(30, 10, '20'), {}, 30, undefined],
    ['less than none', wrote(30, 10, -20), {}, 30, undefined],
    ['not reported', sumOf(30), {}, 30, undefined],
    ['a list', { ...sumOf(30), cache_creation: [20] }, {}, 30, undefined],
  ]
  test.each(rows)('%s', async (_, start, end, written, hour) => {
    const usage = { input_tokens: 5, output_tokens: 1, ...start }
    const streamed = stream([
      { ...START, message: { ...START.message, usage } },
      HI,
      finish('end_turn', { output_tokens: 9, ...end }),
      STOP,
    ])
    const reported = (await read(streamed)).usage
    expect([reported?.cacheWriteTokens, reported?.cacheWriteHourTokens]).toEqual([written, hour])
    expect(reported && promptTokens(reported)).toBe(5 + written)
  })

  test('in a unary reply', async () => {
    const content = [{ type: 'text', text: 'Hi' }]
    const usage: JsonObject = { input_tokens: 5, output_tokens: 1, ...wrote(30, 10, 20) }
    const message = { ...START.message, content, stop_reason: 'end_turn', usage }
    expect((await read(JSON.stringify(message), {}, false)).usage).toMatchObject({
      cacheWriteTokens: 30,
      cacheWriteHourTokens: 20,
      native: { dialect: 'messages', fields: { cache_creation: usage['cache_creation'] } },
    })
  })
})

test.each<[string, string, ReplyForm]>([
  ['the terminal marker', stream([START, HI, finish('end_turn'), STOP]), {}],
  ['a stop reason and a clean end', stream([START, HI, finish('end_turn')]), {}],
  ['a stop reason and a reset', stream([START, HI, finish('end_turn')]), { ending: 'reset' }],
  ['the marker of gateways', stream([START, HI, finish('end_turn'), 'data: [DONE]']), {}],
  ['the terminal marker after an answer without a reason', stream([START, HI, STOP]), {}],
  ['no wait for the end of the body', stream([START, HI, finish('end_turn'), STOP]), { ending: 'open' }],
])('complete: %s', async (_, body, form) => {
  const { text, finishes, error } = await read(body, form)
  expect(error).toBeUndefined()
  expect([text, finishes[0]?.reason]).toEqual(['Hi', 'stop'])
})

test.each<[string, string, string, boolean]>([
  ['nothing', '', 'malformed', true],
  ['an empty object', '{}', 'malformed', true],
  ['an empty object, not streamed', '{}', 'malformed', false],
  ['a page', '<html><title>Bad gateway</title></html>', 'malformed', true],
  [
    "another dialect's stream",
    stream([{ choices: [{ delta: { content: 'Hi' } }] }, 'data: [DONE]']),
    'malformed',
    true,
  ],
  ['a start alone', stream([START]), 'truncated', true],
  ['no finish', stream([START, HI]), 'truncated', true],
  ['a terminal marker and nothing else', stream([START, STOP]), 'truncated', true],
  ['an event cut in two', `${stream([START, HI])}data: {"type":"message_de`, 'truncated', true],
  [
    'an event that is not JSON',
    stream([START, HI, 'data: {oh', finish('end_turn'), STOP]),
    'malformed',
    true,
  ],
  [
    'a call without a name',
    stream([START, block(0, { type: 'tool_use', id: 'a' }), finish('tool_use'), STOP]),
    'malformed',
    true,
  ],
  ['an error event', stream([START, HI, OVERLOADED]), 'overloaded', true],
  [
    'an error event after the finish',
    stream([START, HI, finish('end_turn'), OVERLOADED, STOP]),
    'overloaded',
    true,
  ],
  ['an error for a body', JSON.stringify(OVERLOADED), 'overloaded', false],
  [
    'a server error',
    stream([START, { type: 'error', error: { type: 'api_error', message: 'Oh' } }]),
    'server',
    true,
  ],
  ['an error event that is not JSON', `${stream([START])}event: error\ndata: oh\n\n`, 'server', true],
])('not complete: %s', async (_, body, kind, streamed) => {
  const { error, finishes } = await read(body, {}, streamed)
  expect(finishes).toEqual([])
  if (!(error instanceof UpstreamError)) throw new Error(`no UpstreamError but ${String(error)}`)
  expect(String(error.kind)).toBe(kind)
})

describe('error replies', () => {
  const rows: [status: number, type: string, message: string, kind: string, errorType?: string][] = [
    [400, 'invalid_request_error', 'messages: at least one message is required', 'caller', 'invalid_request'],
    [
      400,
      'invalid_request_error',
      'prompt is too long: 9 tokens > 8 maximum',
      'unsuitable',
      'context_length_exceeded',
    ],
    [
      400,
      'invalid_request_error',
      'Your credit balance is too low to access the API',
      'credential',
      'payment_required',
    ],
    [401, 'authentication_error', 'invalid x-api-key', 'credential'],
    [402, 'billing_error', 'Pay', 'credential', 'payment_required'],
    [403, 'permission_error', 'Not for this key', 'credential'],
    [404, 'not_found_error', 'model: c', 'unsuitable', 'not_found'],
    [413, 'request_too_large', 'Too large', 'unsuitable', 'payload_too_large'],
    [429, 'rate_limit_error', 'Slower', 'rate-limit'],
    [500, 'api_error', 'Oh', 'server'],
    [529, 'overloaded_error', 'Overloaded', 'overloaded'],
  ]
  test.each(rows.map((row) => [`${row[0]} ${row[2]}`, row] as const))(
    '%s',
    (_, [status, type, message, kind, errorType]) => {
      const text = JSON.stringify({ type: 'error', error: { type, message }, request_id: 'r' })
      const error = messagesEgress.readError(status, new Headers({ 'retry-after': '3' }), text)
      const { kind: found, errorType: foundType, reason, code } = error
      expect([String(found), String(foundType), reason, code, error.status]).toEqual([
        kind,
        String(errorType),
        message,
        type,
        status,
      ])
      if (kind === 'rate-limit') expect(error.retryAfterMs).toBe(3000)
    },
  )
})
