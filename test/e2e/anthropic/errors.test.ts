import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { API_KEY, MANAGEMENT_KEY } from '../../gateway.ts'
import { ask, expectError, MESSAGE, startForAnthropic } from './setup.ts'

/** Keys and errors as Anthropic’s own client sees them. */

const { upstream, gateway, client, clientOf } = await startForAnthropic()

describe('keys of the gateway', () => {
  test.each([
    ['x-api-key', { apiKey: API_KEY }],
    ['a bearer token', { authToken: API_KEY }],
  ])('are accepted as %s', async (_, keys) => {
    upstream.answers = [() => Response.json(MESSAGE)]
    expect((await clientOf(keys).messages.create(ask())).role).toBe('assistant')
  })

  test('are refused if x-api-key is wrong', async () => {
    await expectError(
      clientOf({ apiKey: 'x'.repeat(40) }).messages.create(ask()),
      401,
      'authentication_error',
    )
  })

  test.each([
    ['the bearer token wins over a foreign x-api-key', `Bearer ${API_KEY}`, 'sk-ant-foreign', 200],
    ['a wrong bearer token is refused beside a valid x-api-key', `Bearer ${'x'.repeat(40)}`, API_KEY, 401],
    ['so is an Authorization header of another scheme', `Basic ${API_KEY}`, API_KEY, 401],
  ])('%s', async (_, authorization, key, status) => {
    upstream.answers = [() => Response.json(MESSAGE)]
    const response = await gateway.call('/messages', ask(), { authorization, 'x-api-key': key })
    expect(response.status).toBe(status)
  })

  test('are accepted as x-api-key on other routes too', async () => {
    const response = await fetch(`${gateway.url}/api/v1/key`, { headers: { 'x-api-key': API_KEY } })
    expect(response.status).toBe(200)
  })
})

describe('errors have the form of Anthropic', () => {
  const upstreamError =
    (status: number, type: string, headers: Record<string, string> = {}) =>
    () =>
      Response.json({ type: 'error', error: { type, message: 'As sent.' } }, { status, headers })
  const rows: [what: string, run: () => Promise<unknown>, status: number, kind: ErrorKind, type: string][] = [
    [
      'a bad field',
      () => client.messages.create(ask({ max_tokens: -1 })),
      400,
      Anthropic.BadRequestError,
      'invalid_request_error',
    ],
    [
      'a management key',
      () => clientOf({ apiKey: MANAGEMENT_KEY }).messages.create(ask()),
      403,
      Anthropic.PermissionDeniedError,
      'permission_error',
    ],
    [
      'an unknown model',
      () => client.messages.create(ask({ model: 'none' })),
      404,
      Anthropic.NotFoundError,
      'not_found_error',
    ],
    ['an unknown method', () => client.get('/v1/messages'), 405, Anthropic.APIError, 'invalid_request_error'],
    [
      'an unknown path',
      () => client.get('/v1/messages/batches'),
      404,
      Anthropic.NotFoundError,
      'not_found_error',
    ],
    [
      'a body too large',
      () => client.messages.create(ask({ system: 'x'.repeat(20_000_001) })),
      413,
      Anthropic.APIError,
      'request_too_large',
    ],
  ]
  test.each(rows)('%s', async (_, run, status, kind, type) => {
    expect(await expectError(run(), status, type)).toBeInstanceOf(kind)
  })

  const fromUpstream: [number, string, number, ErrorKind, string][] = [
    [400, 'invalid_request_error', 400, Anthropic.BadRequestError, 'invalid_request_error'],
    [401, 'authentication_error', 502, Anthropic.InternalServerError, 'api_error'],
    [413, 'request_too_large', 413, Anthropic.APIError, 'request_too_large'],
    [500, 'api_error', 502, Anthropic.InternalServerError, 'api_error'],
    [529, 'overloaded_error', 529, Anthropic.InternalServerError, 'overloaded_error'],
    [429, 'rate_limit_error', 429, Anthropic.RateLimitError, 'rate_limit_error'],
  ]
  test.each(fromUpstream)(
    'a provider that answers %p %s',
    async (upstreamStatus, word, status, kind, type) => {
      const answer = upstreamError(
        upstreamStatus,
        word,
        upstreamStatus === 429 ? { 'retry-after': '20' } : {},
      )
      upstream.answers = [answer, answer]
      const error = await expectError(client.messages.create(ask({ model: 'shared' })), status, type)
      expect(error).toBeInstanceOf(kind)
      if (upstreamStatus === 429) expect(error.headers?.get('retry-after')).toBe('20')
    },
  )

  test('a spent limit is a billing_error', async () => {
    const { key } = await gateway.makeKey({ limit: 0 })
    await expectError(clientOf({ apiKey: key }).messages.create(ask()), 402, 'billing_error')
  })

  test('an image URL of a private network is refused by its place', async () => {
    const source = { type: 'url' as const, url: 'http://192.168.0.1/i.png' }
    const messages = [{ role: 'user' as const, content: [{ type: 'image' as const, source }] }]
    const refused = await expectError(client.messages.create(ask({ messages })), 400, 'invalid_request_error')
    expect(refused.message).toContain('messages[0].content[0].source.url: ')
  })

  test('malformed JSON is an invalid_request_error with the request’s id', async () => {
    const response = await gateway.call('/messages', '{"model":')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error' },
      request_id: response.headers.get('request-id'),
    })
  })
})

type ErrorKind = new (...args: never[]) => Error
