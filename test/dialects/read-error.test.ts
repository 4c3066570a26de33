import { describe, expect, test } from 'bun:test'
import type { UpstreamFailure } from '../../src/core/errors.ts'
import { errorInReply, isErrorBody, readErrorReply } from '../../src/dialects/read-error.ts'
import { openai } from './error-rows.ts'

describe('error replies', () => {
  test('a reason has at most 1,000 characters; a code of over 100 is dropped', () => {
    const error = readErrorReply(
      400,
      new Headers(),
      JSON.stringify(openai('x'.repeat(50_000), null, 'y'.repeat(500))),
    )
    expect(error.reason.length).toBe(1_000)
    expect(error.code).toBeNull()
  })

  test.each([
    '{',
    'null',
    '7',
    '"text"',
    '[]',
    '[7]',
    '{"error":null}',
    '{"error":[]}',
    '{"error":{"message":{"a":1},"code":{}}}',
    '{"error":{"metadata":{"raw":"{}"}}}',
  ])('have a reason even if the body is %s', (text) => {
    expect(readErrorReply(500, new Headers(), text).reason).not.toBe('')
  })
})

describe('error objects inside a 200', () => {
  const inside: [name: string, body: unknown, kind: UpstreamFailure, status: number][] = [
    ['a status', { error: { message: 'm', status_code: 400 } }, 'caller', 400],
    ['a code that is a status', { error: { message: 'm', code: 502 } }, 'server', 502],
    ['a code that is a status as text', { error: { message: 'm', code: '429' } }, 'rate-limit', 429],
    ['an overload', { type: 'error', error: { type: 'overloaded_error', message: 'm' } }, 'overloaded', 529],
    ['a rate', { error: { message: 'm', type: 'rate_limit_exceeded' } }, 'rate-limit', 429],
    ['a quota', openai('m', 'insufficient_quota', 'insufficient_quota'), 'credential', 429],
    ['a bad key', openai('m', 'authentication_error'), 'credential', 401],
    ['a bad request', openai('m', 'invalid_request_error'), 'caller', 400],
    ['a filter', { error: { message: 'm', code: 'content_filter' } }, 'unsuitable', 400],
    ['a moderation', { error: { message: 'm', metadata: { reasons: ['x'] } } }, 'unsuitable', 200],
    ['a server error', { error: { message: 'm', type: 'server_error' } }, 'server', 500],
    ['an unknown type', { error: { message: 'm', type: 'sunk' } }, 'server', 200],
    ['text', { error: 'm' }, 'server', 200],
  ]
  test.each(inside)('%s', (_, body, kind, status) => {
    expect(isErrorBody(body)).toBe(true)
    const error = errorInReply(body, 200)
    expect([error.kind, error.status, error.reason]).toEqual([kind, status, 'm'])
  })

  test.each([
    [null],
    [{}],
    [{ error: null }],
    [{ error: {} }],
    [{ error: '' }],
    [{ error: false }],
    [{ choices: [], message: 'm' }],
    ['text'],
    [[]],
  ])('%p is not an error body', (body) => {
    expect(isErrorBody(body)).toBe(false)
  })
})
