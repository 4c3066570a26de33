import { describe, expect, test } from 'bun:test'
import type { UpstreamFailure } from '../../../src/core/errors.ts'
import { readChat } from '../../../src/dialects/chat/decode.ts'
import { MAX_EVENT_CHARACTERS } from '../../../src/dialects/sse.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { outcomeOf } from './outcome.ts'
import { body, calls, chunk, data, eventsOf, expectFailure, stream, unary } from './replies.ts'

const TEXT = chunk({ content: 'Ahoy' })
const STOP = chunk({}, 'stop')
const ERROR = { error: { message: 'The mast broke', code: 'mast' } }

describe('complete replies', () => {
  const complete: [name: string, text: string, reason: string, native: string | null][] = [
    ['a finish reason, then the end', data(TEXT, STOP), 'stop', 'stop'],
    ['a finish reason beside the text', data(chunk({ content: 'Ahoy' }, 'length')), 'length', 'length'],
    ['the marker without a reason', data(TEXT, '[DONE]'), 'stop', null],
    [
      'the marker without a reason, after calls',
      data(
        chunk({ content: 'Ahoy', ...calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }) }),
        '[DONE]',
      ),
      'tool_calls',
      null,
    ],
    ['an empty reason and the marker', data(chunk({ content: 'Ahoy' }, ''), '[DONE]'), 'stop', null],
    ['a reason that comes twice', data(TEXT, STOP, chunk({ content: '' }, 'stop'), '[DONE]'), 'stop', 'stop'],
    [
      'a reason that a later null replaces',
      data(TEXT, STOP, chunk({ content: '' }, null), '[DONE]'),
      'stop',
      'stop',
    ],
    [
      'a native reason beside the usual one',
      data(chunk({ content: 'Ahoy' }, 'stop', {}, { native_finish_reason: 'end_turn' }), '[DONE]'),
      'stop',
      'end_turn',
    ],
    ['an unknown reason', data(TEXT, chunk({}, 'sunk'), '[DONE]'), 'stop', 'sunk'],
    [
      'text after the marker',
      data(TEXT, STOP, '[DONE]', chunk({ content: 'more' }), 'junk', ERROR),
      'stop',
      'stop',
    ],
    ['a ping', `event: ping\ndata: now\n\n${data(TEXT, STOP)}`, 'stop', 'stop'],
    ['a complete body in one event', data(JSON.parse(body({ content: 'Ahoy' })), '[DONE]'), 'stop', 'stop'],
  ]
  test.each(complete)('%s', async (_, text, reason, native) => {
    const outcome = await stream(text)
    expect(outcome.error).toBeUndefined()
    expect(outcome.text).toBe('Ahoy')
    expect(outcome.finishes.map((finish) => [finish.choice, String(finish.reason), finish.native])).toEqual([
      [0, reason, native],
    ])
    expect(outcome.events.at(-1)?.type).toBe('response-end')
  })

  const broken: [name: string, text: string, kind: UpstreamFailure, status?: number][] = [
    ['the end without a reason', data(TEXT), 'truncated'],
    [
      'a reason of one choice of two',
      data(chunk({ content: 'a' }, 'stop'), chunk({ content: 'b' }, null, {}, { index: 1 })),
      'truncated',
    ],
    ['half an event', `${data(TEXT)}data: {"id":"f`, 'truncated'],
    ['half an event after the finish reason', `${data(TEXT, STOP)}data: {"id":"f`, 'truncated'],
    ['half a marker', `${data(TEXT, STOP)}data: [DO`, 'truncated'],
    [
      'the marker after nothing but a role',
      data(chunk({ role: 'assistant', content: '' }), '[DONE]'),
      'truncated',
    ],
    ['an event that is not JSON', data(TEXT, 'ahoy there', STOP, '[DONE]'), 'malformed'],
    ['an event that is not JSON, after the reason', data(TEXT, STOP, 'ahoy', '[DONE]'), 'malformed'],
    ['a number', data(TEXT, '7', STOP, '[DONE]'), 'malformed'],
    ['a list', data(TEXT, '[]', STOP, '[DONE]'), 'malformed'],
    ['an error object', data(TEXT, ERROR), 'server'],
    ['an error object after the reason', data(TEXT, STOP, { ...TEXT, ...ERROR }, '[DONE]'), 'server'],
    ['an error as text', data(TEXT, { error: 'The mast broke' }), 'server'],
    ['an error in a choice', data(TEXT, chunk({ content: '' }, 'error', {}, ERROR)), 'server'],
    ['nothing but the reason `error`', data(TEXT, chunk({}, 'error'), '[DONE]'), 'server'],
    ['insufficient resources', data(TEXT, chunk({}, 'insufficient_system_resource'), '[DONE]'), 'overloaded'],
    ['an event named error', `${data(TEXT)}event: error\ndata: the mast broke\n\n`, 'server'],
    [
      'an error outside the framing',
      `${data(TEXT)}{"error": {\n  "message": "Too many", "code": 429}}\n\n${data(STOP, '[DONE]')}`,
      'rate-limit',
      429,
    ],
    [
      'a call without a name',
      data(TEXT, chunk(calls({ index: 0, id: 'a', function: { arguments: '{}' } }), 'tool_calls'), '[DONE]'),
      'malformed',
      undefined,
    ],
  ]
  test.each(broken)('not %s', async (name, text, kind, status = 200) => {
    const outcome = await stream(text)
    expectFailure(outcome.error, kind, name === 'a call without a name' ? null : status)
    expect(outcome.finishes).toEqual([])
    expect(eventsOf(outcome.events, 'response-end')).toEqual([])
  })

  test.each([{ object: 'error', message: 'The mast broke', code: 'mast' }, { detail: 'The mast broke' }])(
    'what %p says of itself is not passed on',
    async (error) => {
      const outcome = await stream(data(TEXT, error))
      expectFailure(outcome.error, 'server', 200)
      expect(JSON.stringify(outcome.events)).not.toContain('mast')
    },
  )

  test('not a reset before the reason; it is one after it', async () => {
    const before = await outcomeOf(readChat(upstreamReply(data(TEXT), { ending: 'reset' }), true))
    expectFailure(before.error, 'truncated', null)
    const silent = await outcomeOf(
      readChat(upstreamReply(data(chunk({ role: 'assistant' })), { ending: 'reset' }), true),
    )
    expectFailure(silent.error, 'connect', null)
    const after = await outcomeOf(
      readChat(upstreamReply(`${data(TEXT, STOP)}data: {"us`, { ending: 'reset' }), true),
    )
    expect(after.error).toBeUndefined()
    expect(after.finishes).toEqual([{ choice: 0, reason: 'stop', native: 'stop' }])
    expect(after.usage).toBeNull()
  })

  test('an abort is not a reset, even after the reason', async () => {
    const left = new DOMException('left', 'AbortError')
    async function* bytes() {
      yield new TextEncoder().encode(data(TEXT, STOP))
      throw left
    }
    const outcome = await outcomeOf(readChat({ ...upstreamReply(''), bytes: bytes() }, true))
    expect(outcome.error).toBe(left)
  })

  test.each([
    ['after the reason, the wait for the rest is bounded', data(TEXT, STOP), { lingerMs: 20 }],
    [
      'after the marker, the wait for the end of the body is bounded',
      data(TEXT, STOP, '[DONE]'),
      { drainMs: 20 },
    ],
  ])('%s', async (_, text, options) => {
    let left = 0
    const reply = upstreamReply(text, { ending: 'open', onLeave: () => left++ })
    const outcome = await outcomeOf(readChat(reply, true, options))
    expect(outcome.finishes).toHaveLength(1)
    expect(left).toBe(1)
  })

  test('usage that comes while it waits counts', async () => {
    const usage = chunk({}, null, { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } })
    const text = data(TEXT, STOP)
    const reply = upstreamReply(text + data(usage), { cuts: [text.length], ending: 'open' })
    const outcome = await outcomeOf(readChat(reply, true, { lingerMs: 20 }))
    expect(outcome.usage?.inputTokens).toBe(3)
    expect(outcome.finishes).toHaveLength(1)
  })

  test('a reader that stops closes the connection', async () => {
    let left = 0
    const reply = upstreamReply(data(TEXT, TEXT), { ending: 'open', onLeave: () => left++ })
    for await (const batch of readChat(reply, true)) {
      for (const frame of batch) expect(frame.events.length).toBeGreaterThan(0)
      break
    }
    expect(left).toBe(1)
  })
})

describe('a 200 that is not an answer', () => {
  const rows: [name: string, text: string, kind: UpstreamFailure, status?: number][] = [
    ['nothing', '', 'malformed'],
    ['blanks', ' \r\n\n ', 'malformed'],
    ['a page', '<!DOCTYPE html><title>Welcome</title>', 'malformed'],
    ['a page after blanks', '\ufeff\n  <html></html>', 'malformed'],
    ['an empty object', '{}', 'malformed'],
    ['an empty list', '[]', 'malformed'],
    ['no choices', '{"id":"fx","choices":[]}', 'malformed'],
    ['an empty choice', '{"id":"fx","choices":[{}]}', 'malformed'],
    ['choices that are null', '{"id":"fx","choices":null,"usage":{"prompt_tokens":1}}', 'malformed'],
    ['half a body', '{"id":"fx","choices":[{"index":0,"mess', 'malformed'],
    ['plain text', 'upstream connect error', 'malformed'],
    ['nothing but the marker', 'data: [DONE]\n\n', 'malformed'],
    ['nothing but comments', ': wait\n\n: wait\n\n', 'malformed'],
    [
      'a stream of nothing but usage',
      data(chunk({}, null, { choices: [], usage: { prompt_tokens: 1 } }), '[DONE]'),
      'malformed',
    ],
    [
      'an error object',
      '{"error":{"message":"Too many ships","type":"rate_limit_error","code":null}}',
      'rate-limit',
      429,
    ],
    [
      'an error object in a list',
      '[{"error":{"message":"Quota","code":429,"status":"RESOURCE_EXHAUSTED"}}]',
      'rate-limit',
      429,
    ],
    ['an error object beside choices', '{"choices":[],"error":{"message":"Down","code":503}}', 'server', 503],
    ['a message', '{"message":"Overloaded","type":"overloaded_error"}', 'overloaded', 529],
    ['a detail', '{"detail":"Not Found"}', 'server'],
    [
      'a filtered prompt',
      '{"error":{"message":"Filtered","code":"content_filter","status":400}}',
      'unsuitable',
      400,
    ],
    [
      'a choice that failed',
      body({ content: 'Half' }, 'error', {}).replace(
        '"message"',
        '"error":{"code":502,"message":"Gone"},"message"',
      ),
      'server',
      502,
    ],
  ]
  test.each(rows)('%s', async (_, text, kind, status = 200) => {
    for (const outcome of [await stream(text), await unary(text)]) {
      const error = expectFailure(outcome.error, kind, status)
      expect(error.reason).not.toBe('')
      expect(outcome.finishes).toEqual([])
    }
  })

  test('an event beyond the cap', async () => {
    const outcome = await stream(data(TEXT, chunk({ content: 'x'.repeat(MAX_EVENT_CHARACTERS) }), STOP))
    expectFailure(outcome.error, 'malformed', null)
    const picture = `data:image/png;base64,${'A'.repeat(2_000_000)}`
    const complete = await unary(body({ content: null, images: [{ image_url: { url: picture } }] }))
    expect(complete.images).toEqual([picture])
  })

  test('blanks without an end', async () => {
    const blanks = new Uint8Array(1024 * 1024).fill(0x20)
    let pulled = 0
    const bytes = {
      async *[Symbol.asyncIterator]() {
        for (; pulled < 100; pulled++) yield blanks
      },
    }
    const outcome = await outcomeOf(readChat({ ...upstreamReply(''), bytes }, true))
    expectFailure(outcome.error, 'malformed', null)
    expect(pulled).toBeLessThan(40)
  })
})
