import { describe, expect, test } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { completed, created, read, sse, streamed, usage } from './replies.ts'

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
    ['an HTML page', '<html><title>Oops</title></html>', 'malformed'],
    ['an empty output', '{"object":"response","status":"completed","output":[]}', 'malformed'],
    ['a queued response', '{"object":"response","status":"queued","output":[]}', 'truncated'],
    ['a stream that ends after its start', sse([created]), 'truncated'],
    [
      'a stream that breaks off',
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
    ['insufficient_quota', 'credential', 'payment_required'],
    ['invalid_prompt', 'unsuitable', 'content_policy_violation'],
    ['cyber_policy', 'unsuitable', 'content_policy_violation'],
    ['image_content_policy_violation', 'unsuitable', 'content_policy_violation'],
    ['invalid_image_url', 'caller', 'invalid_request'],
    ['failed_to_download_image', 'caller', 'invalid_request'],
    ['image_too_large', 'unsuitable', 'payload_too_large'],
    ['context_length_exceeded', 'unsuitable', 'context_length_exceeded'],
    ['vector_store_timeout', 'server', undefined],
    ['something_new', 'server', undefined],
  ])('the code %s of a failed response', async (code, kind, errorType) => {
    const failed = { status: 'failed', error: { code, message: 'The reason.' } }
    for (const outcome of [
      await streamed({ type: 'response.failed', response: failed }),
      await read(JSON.stringify({ object: 'response', output: [], ...failed }), false),
      await streamed({ type: 'error', code, message: 'The reason.', param: null }),
    ]) {
      expect(outcome.error).toMatchObject({ kind, errorType, code, reason: 'The reason.' })
    }
  })

  test('a failure without a message', async () => {
    const { error } = await streamed({ type: 'response.failed', response: { status: 'failed', error: null } })
    expect(error).toMatchObject({ kind: 'server', reason: 'the provider reports a failed response' })
  })

  test('usage before a failure is reported', async () => {
    const { usage: reported, error } = await streamed({
      type: 'response.failed',
      response: { status: 'failed', usage, error: { code: 'server_error', message: 'x' } },
    })
    expect(error).toBeInstanceOf(UpstreamError)
    expect(reported?.outputTokens).toBe(2)
  })
})
