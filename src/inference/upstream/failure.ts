import type { Attempt } from '../../core/attempt.ts'
import {
  type ErrorMetadata,
  type ErrorType,
  GatewayError,
  NEVER_RETRY,
  storageFailure,
  UpstreamError,
  type UpstreamFailure,
} from '../../core/errors.ts'
import type { AttemptOutcome } from '../../core/generation.ts'
import { DRAINING } from '../../core/refusal.ts'
import type { PublicError, RoutingMetadata } from '../../core/result.ts'
import type { Generation } from '../generation.ts'
import { ShutdownError } from './abort.ts'

/** True if the settlement failed with the error that the caller gets. */
export const isReported = (lost: unknown, reported: unknown): boolean =>
  lost === reported && lost instanceof GatewayError

/** What an attempt failed with. */
export interface Refusal {
  error: UpstreamError
  attempt: Attempt
  outcome: AttemptOutcome | undefined
}

/** False for invalid requests, which every endpoint would reject. */
export const mayFailOver = (error: UpstreamError): boolean => error.kind !== 'caller'

/** True if the same endpoint may be retried: it sent no reply. */
export const mayTryAgain = (error: UpstreamError): boolean =>
  error.kind === 'connect' || error.kind === 'server'

/** The kinds whose sentence is about the provider. The others are about the request. */
type AboutProvider = Exclude<UpstreamFailure, 'caller' | 'unsuitable'>

const statusOf: Record<AboutProvider, number> = {
  connect: 502,
  malformed: 502,
  truncated: 502,
  server: 502,
  credential: 502,
  timeout: 524,
  overloaded: 529,
  'rate-limit': 429,
  capacity: 503,
}

const errorTypeOf: Record<Exclude<UpstreamFailure, 'unsuitable'>, ErrorType> = {
  connect: 'provider_unavailable',
  malformed: 'provider_unavailable',
  truncated: 'provider_unavailable',
  server: 'provider_unavailable',
  credential: 'provider_unavailable',
  timeout: 'timeout',
  overloaded: 'provider_overloaded',
  'rate-limit': 'rate_limit_exceeded',
  capacity: 'provider_overloaded',
  caller: 'invalid_request',
}

const sentenceOf: Record<AboutProvider, (provider: string) => string> = {
  connect: (provider) => `${provider} could not be reached`,
  malformed: (provider) => `${provider} answered with something that is no completion`,
  truncated: (provider) => `${provider} ended the answer before it was complete`,
  server: (provider) => `${provider} answered with an error of its own`,
  credential: (provider) => `${provider} rejected this gateway's credential`,
  timeout: (provider) => `${provider} did not answer in time`,
  overloaded: (provider) => `${provider} is overloaded`,
  'rate-limit': (provider) => `${provider}'s rate limit is reached`,
  capacity: (provider) => `Too many requests to ${provider} are running`,
}

/** The lower, the more the caller can do about it: change the request, wait, or send it again. */
function usefulness({ kind, errorType, retryAfterMs }: UpstreamError): number {
  if (kind === 'caller') return 0
  if (kind === 'unsuitable') {
    // An unknown model is the operator's mistake: another endpoint's failure may pass.
    if (errorType === 'not_found') return 4
    return errorType === 'provider_overloaded' ? 2 : 0
  }
  if (kind === 'rate-limit') return retryAfterMs === null ? 2 : 1
  if (kind === 'overloaded' || kind === 'capacity') return 2
  return kind === 'credential' ? 5 : 3
}

/** The refusal that the caller gets if no endpoint is left; of several that are as useful the shortest wait, else the last. */
export const mostUseful = (refusals: readonly Refusal[]): Refusal | undefined =>
  refusals.reduce<Refusal | undefined>(
    (best, each) => (best && isMoreUseful(best.error, each.error) ? best : each),
    undefined,
  )

function isMoreUseful(one: UpstreamError, other: UpstreamError): boolean {
  const difference = usefulness(one) - usefulness(other)
  return difference < 0 || (difference === 0 && (one.retryAfterMs ?? 0) < (other.retryAfterMs ?? 0))
}

/**
 * The error that the caller gets for a provider's failure. Includes the provider's text only if it is about the request.
 * `previous` are the other attempts.
 */
export function publicError(
  error: UpstreamError,
  attempt: Attempt,
  previous: readonly AttemptOutcome[],
): GatewayError {
  const kind = shownKind(error)
  const metadata: ErrorMetadata = {
    error_type: (kind === null ? error.errorType : undefined) ?? errorTypeOf[kind ?? 'caller'],
    provider_name: attempt.provider.name,
  }
  if (error.code !== null && error.kind !== 'credential') metadata.provider_code = error.code
  if (previous.length > 0) {
    metadata.previous_errors = previous.map(({ providerName, code, status }) => ({
      provider: providerName,
      code,
      status,
    }))
  }
  const cause = redactedError(error, attempt)
  if (kind === null) return new GatewayError(callerStatus(error), cause.reason, { cause, metadata })
  const headers: Record<string, string> = {}
  // A failure of the credential persists until a person resolves it, whatever wait the provider names.
  if (kind === 'credential') Object.assign(headers, NEVER_RETRY)
  else if (error.retryAfterMs !== null)
    headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)))
  return new GatewayError(statusOf[kind], sentenceFor(error, kind, attempt), { cause, metadata, headers })
}

/** The kind that the caller sees; null: the provider's sentence is about the request. */
function shownKind({ kind, errorType }: UpstreamError): AboutProvider | null {
  if (kind === 'unsuitable' && errorType === 'provider_overloaded') return 'overloaded'
  return kind === 'caller' || kind === 'unsuitable' ? null : kind
}

/** Names who can resolve it: the operator, or the workspace that stored the BYOK key. */
function sentenceFor(
  error: UpstreamError,
  kind: AboutProvider,
  { provider: { name }, byokKey }: Attempt,
): string {
  if (error.errorType === 'payment_required')
    return `${byokKey ? "The workspace's own account" : "This gateway's account"} at ${name} has no balance left: add credits there`
  return kind === 'credential' && byokKey
    ? `${name} rejected the workspace's BYOK key: store a valid one, or disable it`
    : sentenceOf[kind](name)
}

/** Keys and tokens in vendors' formats. A provider may repeat one in its reason, and callers must not see it. */
const KEY_LIKE =
  /\b(?:(?:sk|pk|rk|gsk|xai|key|hf|r8)[-_]|AIza)[A-Za-z0-9_-]{12,}|\b(?:ya29\.|eyJ)[\w.-]{16,}/g

/** `http://user:password@`: the part before the `@`. */
const USER_INFO = /(?<=:\/\/)[^\s/@]+(?=@)/g
/** The operator's accounts at OpenAI, Groq, xAI (a UUID), Google and AWS. */
const ACCOUNT =
  /\b(?:org|proj)[-_][A-Za-z0-9]{8,}|(?<=\bteam )[0-9a-f-]{36}|(?<=\bprojects\/)[\w-]+|(?<=:)\d{12}(?=:)/g
/** A shorter prefix of a key at the end of a truncated reason is not removed. */
const LEAST_OF_A_KEY = 6

/** Removes keys, and the operator's accounts and addresses. */
function withoutSecrets(reason: string, { credential: { secret, aws, entra }, provider }: Attempt): string {
  const secrets = [secret, aws?.secretAccessKey, aws?.sessionToken, entra?.clientSecret]
  const masked = secrets.reduce<string>(
    (text, known) => (known ? withoutEnd(text.replaceAll(known, '…'), known) : text),
    reason,
  )
  return masked
    .replace(KEY_LIKE, '…')
    .replace(USER_INFO, '…')
    .replace(ACCOUNT, '…')
    .replaceAll(new URL(provider.baseUrl).origin, '…')
}

/** Removes a partial key at the end: reasons are truncated to a length. */
function withoutEnd(text: string, secret: string): string {
  for (let length = secret.length - 1; length >= LEAST_OF_A_KEY; length--) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}…`
  }
  return text
}

/** The same failure without keys that the provider repeats in its text, so that they are never logged. */
function redactedError(error: UpstreamError, attempt: Attempt): UpstreamError {
  const { kind, status, code, errorType, retryAfterMs, cause } = error
  const reason = withoutSecrets(error.reason, attempt)
  if (reason === error.reason) return error
  const more = {
    ...(status === null ? {} : { status }),
    ...(errorType === undefined ? {} : { errorType }),
  }
  return new UpstreamError(kind, reason, { code, retryAfterMs, cause, ...more })
}

const CALLER_STATUSES = [400, 403, 404, 413, 422]
/** Whatever the provider's status: a caller must not take a 403 for its own key, nor retry a 429. */
const USUAL_STATUS: Partial<Record<ErrorType, number>> = {
  permission_denied: 403,
  not_found: 404,
  payload_too_large: 413,
}
const callerStatus = ({ status, errorType }: UpstreamError): number =>
  (errorType && USUAL_STATUS[errorType]) ??
  (status !== null && CALLER_STATUSES.includes(status) ? status : 400)

/** The same error, for the error event of a stream. */
export const inStream = (error: GatewayError): PublicError => ({
  status: error.status,
  message: error.message,
  ...(error.metadata ? { metadata: { ...error.metadata } } : {}),
})

/** The error that the caller gets for any failure. Private causes stay in `cause`. */
export function errorForCaller(
  error: unknown,
  { cancellation, current, tries }: Pick<Generation, 'cancellation' | 'current' | 'tries'>,
): GatewayError {
  if (cancellation.reason instanceof ShutdownError) return shuttingDown(error)
  if (cancellation.reason instanceof GatewayError) return cancellation.reason
  if (error instanceof GatewayError) return error
  if (error instanceof UpstreamError && current) return publicError(error, current, tries.slice(0, -1))
  return storageFailure(error) ?? new GatewayError(500, 'Internal server error', { cause: error })
}

/** Retry-After is long enough for a replacement process to start. */
export const shuttingDown = (cause: unknown): GatewayError =>
  new GatewayError(503, 'The gateway is shutting down', {
    cause,
    headers: { 'retry-after': '5' },
    refusal: DRAINING,
  })

/** nginx's status for a client disconnect. It appears only in the log. */
const CLIENT_CLOSED_REQUEST = 499

export const callerClosed = (cause: unknown): GatewayError =>
  new GatewayError(CLIENT_CLOSED_REQUEST, 'The caller closed the connection', { cause })

/** The same error with the generation's routing metadata and further headers. */
export const withRouting = (
  { status, message, cause, headers, metadata, availability, refusal }: GatewayError,
  routing: RoutingMetadata | null,
  moreHeaders: Record<string, string> = {},
): GatewayError =>
  new GatewayError(status, message, {
    cause,
    headers: { ...headers, ...moreHeaders },
    ...(metadata ? { metadata } : {}),
    availability,
    routing,
    refusal,
  })

/** Null for errors that the provider did not cause: aborts and bugs. */
export const asUpstreamError = (error: unknown): UpstreamError | null =>
  error instanceof UpstreamError ? error : null

/** `status` and `code` are null for an attempt that a client disconnect or a shutdown ended. */
export const outcomeOf = (
  { endpoint, model, provider, byokKey }: Attempt,
  upstreamId: string | null,
  status: number | null,
  code: string | null,
  { startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number },
): AttemptOutcome => ({
  endpointId: endpoint.id,
  modelId: model.id,
  providerSlug: provider.slug,
  providerName: provider.name,
  upstreamId,
  status,
  code,
  latencyMs: endedAt - startedAt,
  startedAt,
  isByok: byokKey !== undefined,
})
