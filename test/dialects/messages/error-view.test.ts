import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { viewError } from '../../../src/dialects/messages/errors.ts'

/** Failures in Anthropic's form, by the gateway's error type and by their status. */
test.each<[status: number, kind: string | undefined, type: string]>([
  [400, undefined, 'invalid_request_error'],
  [400, 'invalid_request', 'invalid_request_error'],
  [400, 'context_length_exceeded', 'invalid_request_error'],
  [403, 'content_policy_violation', 'invalid_request_error'],
  [401, undefined, 'authentication_error'],
  [402, undefined, 'billing_error'],
  [402, 'payment_required', 'billing_error'],
  [403, undefined, 'permission_error'],
  [404, 'not_found', 'not_found_error'],
  [404, undefined, 'not_found_error'],
  [405, undefined, 'invalid_request_error'],
  [408, undefined, 'timeout_error'],
  [409, undefined, 'invalid_request_error'],
  [413, undefined, 'request_too_large'],
  [422, 'unprocessable', 'invalid_request_error'],
  [429, undefined, 'rate_limit_error'],
  [429, 'rate_limit_exceeded', 'rate_limit_error'],
  [500, undefined, 'api_error'],
  [502, 'provider_unavailable', 'api_error'],
  [503, undefined, 'api_error'],
  [503, 'provider_overloaded', 'overloaded_error'],
  [524, 'timeout', 'timeout_error'],
  [529, undefined, 'overloaded_error'],
  [500, 'toString', 'api_error'],
])('%p %p is %p', (status, kind, type) => {
  const metadata: JsonObject | undefined = kind === undefined ? undefined : { error_type: kind }
  const details = kind === undefined ? {} : { error_type: kind, metadata }
  expect(viewError({ status, message: 'M', ...(metadata && { metadata }) }, 'req-1')).toEqual({
    type: 'error',
    error: { type, message: 'M', ...details },
    request_id: 'req-1',
  })
})

test("the details of an error are where Anthropic's clients read them", () => {
  const metadata = { error_type: 'invalid_request', details: { error_code: 'thread_not_found' } }
  expect(viewError({ status: 404, message: 'M', metadata }, 'req-1')).toMatchObject({
    error: { details: { error_code: 'thread_not_found' }, metadata: { error_type: 'invalid_request' } },
  })
})
