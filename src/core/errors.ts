import type { Refusal } from './refusal.ts'
import type { RoutingMetadata } from './result.ts'

/** The kinds of failure that clients branch on; the API's vocabulary (`error.metadata.error_type`). */
export type ErrorType =
  | 'authentication'
  | 'permission_denied'
  | 'payment_required'
  | 'rate_limit_exceeded'
  | 'context_length_exceeded'
  | 'content_policy_violation'
  | 'invalid_request'
  | 'not_found'
  | 'payload_too_large'
  | 'unprocessable'
  | 'provider_unavailable'
  | 'provider_overloaded'
  | 'timeout'
  | 'server'

export interface ErrorMetadata {
  error_type?: ErrorType
  /** The provider's own error code, where it is safe to show. */
  provider_code?: string
  provider_name?: string
  previous_errors?: { provider: string; code: number | string | null; status: number | null }[]
  [key: string]: unknown
}

/** Why no endpoint serves a model now (api-surface §2), under `error.availability`. */
export interface Availability {
  code:
    | 'model_not_found'
    | 'wrong_endpoint'
    | 'no_endpoints'
    | 'privacy_restricted'
    | 'constraint_filtered'
    | 'free_variant_ended'
    | 'region_restricted'
    | 'capacity_exhausted'
    | 'temporarily_unavailable'
  retryable: boolean
  /** Seconds. */
  retry_after?: number
  requested_models: string[]
  /** Slugs. */
  affected_providers?: string[]
  /** The rules that exclude an endpoint, those of most endpoints first. */
  excluded_by?: string[]
  /** Models here that would serve this request. */
  fallback_models?: string[]
  /** The rule that excludes most endpoints. */
  constraint?: { field: string; detail: string }
  docs_url: string
}

/** `message` is public: a sentence for the caller. `cause` is private and goes to the log. */
export class GatewayError extends Error {
  readonly metadata: ErrorMetadata | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  /** How the request was routed, for a caller who opted in. */
  readonly routing: RoutingMetadata | undefined
  readonly availability: Availability | undefined
  /** Why the gateway refused the request, for the log and the metrics; undefined: it did not, or the caller's request is at fault. */
  readonly refusal: Refusal | undefined
  /** Where in the request the fault is, such as `messages[0].role`, for the log. */
  readonly param: string | undefined

  constructor(
    readonly status: number,
    message: string,
    options: {
      cause?: unknown
      metadata?: ErrorMetadata
      headers?: Record<string, string>
      routing?: RoutingMetadata | null
      availability?: Availability | undefined
      refusal?: Refusal | undefined
      param?: string | undefined
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'GatewayError'
    this.metadata = options.metadata
    this.headers = options.headers
    this.routing = options.routing ?? undefined
    this.availability = options.availability
    this.refusal = options.refusal
    this.param = options.param
  }
}

const LIMITS: readonly number[] = [402, 403, 429, 499]

/**
 * True if the caller is the reason: its budget or rate limit is used up, or it disconnected. False for what a provider or
 * the choice of an endpoint refuses.
 */
export const isCallersLimit = (error: unknown): boolean =>
  error instanceof GatewayError &&
  error.metadata?.provider_name === undefined &&
  error.availability === undefined &&
  LIMITS.includes(error.status)

/** `path` is where in the body, such as `messages[0].content[2].type`. */
export const badRequest = (message: string, path?: string): GatewayError =>
  new GatewayError(400, path === undefined ? message : `${path}: ${message}`, {
    metadata: { error_type: 'invalid_request' },
    param: path,
  })
/** OpenAI's and Anthropic's SDKs obey it before their own rule, which sends anything from 500 again. */
export const NEVER_RETRY = { 'x-should-retry': 'false' } as const
export const unauthorized = (message = 'Missing or invalid API key'): GatewayError =>
  new GatewayError(401, message, {
    headers: { 'www-authenticate': 'Bearer' },
    refusal: { reason: 'auth' },
  })
export const forbidden = (message: string, refusal?: Refusal): GatewayError =>
  new GatewayError(403, message, { refusal })
export const notFound = (message: string): GatewayError => new GatewayError(404, message)
export const conflict = (message: string): GatewayError => new GatewayError(409, message)
export const payloadTooLarge = (limitBytes: number): GatewayError =>
  new GatewayError(
    413,
    `The request body is larger than ${Math.floor(limitBytes / 1_000_000)} MB, the limit here`,
  )
export const unavailable = (message: string, retryAfterSeconds: number, refusal?: Refusal): GatewayError =>
  new GatewayError(503, message, { headers: { 'retry-after': String(retryAfterSeconds) }, refusal })

const NO_ROOM = /^(?:SQLITE_FULL|ENOSPC|EDQUOT)$/
const NOT_NOW = /^(?:SQLITE_(?:BUSY|LOCKED|IOERR|CANTOPEN|READONLY)(?:_|$)|EIO$|EROFS$)/
/** A disk that is full stays so for a while. */
const STORAGE_RETRY_SECONDS = 10

/**
 * The 503 for a request that could not be stored, so that callers retry it. Null for any other failure.
 */
export function storageFailure(thrown: unknown): GatewayError | null {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const code = 'code' in error ? String(error.code) : ''
    if (NO_ROOM.test(code)) return unwritten('There is no room left on the disk of the gateway', thrown)
    if (NOT_NOW.test(code)) return unwritten('The data of the gateway cannot be written or read', thrown)
  }
  return null
}

const unwritten = (what: string, cause: unknown): GatewayError =>
  new GatewayError(503, `${what} at the moment, so the request was not carried out. Send it again later`, {
    cause,
    headers: { 'retry-after': String(STORAGE_RETRY_SECONDS) },
    refusal: { reason: 'storage' },
  })

/**
 * Why an attempt at a provider failed, as far as routing must know.
 * - `connect`: refused, reset, DNS, TLS, a 3xx: nothing was answered
 * - `timeout`: no first byte, a stall, or the total time
 * - `rate-limit`: 429
 * - `overloaded`: 529, or 503 with a text about overload
 * - `server`: any other 5xx, 408, 409
 * - `credential`: our key was refused (401, 402, 403)
 * - `caller`: the request itself is at fault, at every endpoint
 * - `unsuitable`: this endpoint cannot serve the request; another may (unknown model, context length, its own moderation)
 * - `malformed`: 200 with something that is not an answer
 * - `truncated`: the reply ended without a finish
 * - `capacity`: our own bulkhead for this provider is full
 */
export type UpstreamFailure =
  | 'connect'
  | 'timeout'
  | 'rate-limit'
  | 'overloaded'
  | 'server'
  | 'credential'
  | 'caller'
  | 'unsuitable'
  | 'malformed'
  | 'truncated'
  | 'capacity'

export type Reach = 'endpoint' | 'account'

/** A provider failed us. `reason` is the provider's own text: shown only if `kind` is `caller` or `unsuitable`. */
export class UpstreamError extends Error {
  /** The HTTP status that upstream answered with; null where there was no answer. */
  readonly status: number | null
  /** The provider's own error code. */
  readonly code: string | null
  readonly errorType: ErrorType | undefined
  readonly retryAfterMs: number | null
  /** The requests that it holds for: all to this endpoint, or all with this credential; undefined: this one, or unknown. */
  readonly reach: Reach | undefined

  constructor(
    readonly kind: UpstreamFailure,
    readonly reason: string,
    options: {
      status?: number
      code?: string | null
      errorType?: ErrorType
      retryAfterMs?: number | null
      reach?: Reach | undefined
      cause?: unknown
    } = {},
  ) {
    super(`upstream ${kind}${options.status === undefined ? '' : ` ${options.status}`}: ${reason}`, {
      cause: options.cause,
    })
    this.name = 'UpstreamError'
    this.status = options.status ?? null
    this.code = options.code ?? null
    this.errorType = options.errorType
    this.retryAfterMs = options.retryAfterMs ?? null
    this.reach = options.reach
  }
}
