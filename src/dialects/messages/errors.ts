import type { ErrorType } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject, restOf } from '../../core/json.ts'
import type { PublicError } from '../../core/result.ts'

export { readErrorReply as readMessagesError } from '../read-error.ts'

/** Anthropic's words for kinds of failure. */
const TYPES: Readonly<Record<ErrorType, string>> = {
  authentication: 'authentication_error',
  permission_denied: 'permission_error',
  payment_required: 'billing_error',
  rate_limit_exceeded: 'rate_limit_error',
  context_length_exceeded: 'invalid_request_error',
  content_policy_violation: 'invalid_request_error',
  invalid_request: 'invalid_request_error',
  not_found: 'not_found_error',
  payload_too_large: 'request_too_large',
  unprocessable: 'invalid_request_error',
  provider_unavailable: 'api_error',
  provider_overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  server: 'api_error',
}

/** For failures that say no kind. */
const TYPES_BY_STATUS: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  524: 'timeout_error',
  529: 'overloaded_error',
}

/**
 * A failure in Anthropic's form, which its clients distinguish by `type`. The gateway's own metadata (which provider,
 * its code, earlier attempts) is added to it; what it calls `details` has a place of its own in Anthropic's form.
 */
export function viewError({ status, message, metadata }: PublicError, requestId: string | null): JsonObject {
  const kind = metadata?.['error_type']
  const details = metadata?.['details']
  return {
    type: 'error',
    error: {
      type: typeOf(kind) ?? TYPES_BY_STATUS[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'),
      message,
      ...(typeof kind === 'string' ? { error_type: kind } : {}),
      ...(isObject(details) ? { details } : {}),
      ...(metadata === undefined ? {} : { metadata: restOf(metadata, DETAILS) ?? {} }),
    },
    request_id: requestId,
  }
}

const DETAILS = new Set(['details'])

function typeOf(kind: unknown): string | undefined {
  const types: Readonly<Record<string, string>> = TYPES
  return typeof kind === 'string' && Object.hasOwn(types, kind) ? types[kind] : undefined
}
