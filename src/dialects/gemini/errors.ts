import type { JsonObject } from '../../core/events.ts'
import type { PublicError } from '../../core/result.ts'

/** Google's names of statuses (google.rpc.Code). */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  422: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  524: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
}

/**
 * An error in Google's form. The gateway's metadata is in an `ErrorInfo`; the wait is in a `RetryInfo`, which Google's
 * clients read instead of `Retry-After`. `error` must be the first field: some clients look only at the start of an
 * event.
 */
export function viewError({ status, message, metadata, headers }: PublicError): JsonObject {
  const retryAfterSeconds = headers?.['retry-after']
  const details = [
    ...(metadata === undefined ? [] : [infoOf(metadata)]),
    ...(retryAfterSeconds === undefined
      ? []
      : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSeconds}s` }]),
  ]
  return {
    error: {
      code: status,
      message,
      status: STATUSES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL'),
      ...(details.length === 0 ? {} : { details }),
      ...(metadata === undefined ? {} : { metadata }),
    },
  }
}

/** All values of an ErrorInfo are strings. */
function infoOf(metadata: JsonObject): JsonObject {
  const { error_type: type, ...rest } = metadata
  return {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: typeof type === 'string' ? type.toUpperCase() : 'UNKNOWN',
    domain: 'sluice',
    metadata: Object.fromEntries(
      Object.entries(rest).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ),
  }
}
