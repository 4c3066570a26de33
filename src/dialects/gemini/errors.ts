import { UpstreamError } from '../../core/errors.ts'
import type { FinishReason, JsonObject } from '../../core/events.ts'
import { asFilledText, isString } from '../../core/json.ts'
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

/**
 * Google's finish reasons. `error`: the model's output is unusable. OTHER, LANGUAGE and unknown reasons count as `stop`.
 * STOP also ends tool calls.
 */
const REASONS: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  MALFORMED_FUNCTION_CALL: 'error',
  UNEXPECTED_TOOL_CALL: 'error',
  TOO_MANY_TOOL_CALLS: 'error',
  MALFORMED_RESPONSE: 'error',
  MISSING_THOUGHT_SIGNATURE: 'error',
}

/** By number: some servers of Vertex write enums as numbers (`finishReason: 1`, recorded 2025). */
const NUMBERED = [
  'FINISH_REASON_UNSPECIFIED',
  'STOP',
  'MAX_TOKENS',
  'SAFETY',
  'RECITATION',
  'OTHER',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MALFORMED_FUNCTION_CALL',
  'MODEL_ARMOR',
] as const

/** The name of a candidate's `finishReason`; null if it has not ended. */
export function nativeReasonOf(raw: unknown): string | null {
  const word = typeof raw === 'number' ? NUMBERED[raw] : raw
  return isString(word) && word !== '' && word !== 'FINISH_REASON_UNSPECIFIED' ? word : null
}

export function finishReasonOf(native: string | null, hasCalls: boolean): FinishReason {
  const reason =
    native !== null && Object.hasOwn(REASONS, native) ? (REASONS[native] ?? 'stop') : ('stop' as const)
  return reason === 'stop' && hasCalls ? 'tool_calls' : reason
}

/** The error for a finish reason without a usable answer; null for all others. */
export function brokenOff(native: string, finishMessage: unknown, status: number): UpstreamError | null {
  if (finishReasonOf(native, false) !== 'error') return null
  const reason = asFilledText(finishMessage) ?? 'the model broke its answer off'
  return new UpstreamError('malformed', reason.slice(0, 1_000), { status, code: native })
}

/** The neutral reason as Google's; `native` if it is one of Google's own. Calls have no reason of their own. */
export function googleReasonOf(reason: FinishReason, native: string | null): string {
  if (native !== null && Object.hasOwn(REASONS, native) && REASONS[native] !== 'error') return native
  return GOOGLES[reason]
}

const GOOGLES: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
  error: 'OTHER',
}
