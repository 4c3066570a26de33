import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { fieldsOf } from '../../core/json.ts'
import { bodyIn, type InferenceRequest } from '../../core/request.ts'
import { SAMPLING_PARAMETERS } from '../../core/sampling-parameters.ts'
import { withSystemRole } from '../caller-fields.ts'
import { GATEWAY_FIELDS } from '../caller-schema.ts'
import { applyDelegated } from '../delegated.ts'
import type { DialectCall } from '../dialect.ts'
import { dropsInto } from '../dropped.ts'
import { applyConversation } from './build-conversation.ts'
import { neutralBody, type Taken } from './build-neutral.ts'
import { applyQuirks, applyReasoning } from './build-quirks.ts'
import { chatBody } from './schema.ts'

/**
 * Fields for the gateway: never sent to a provider. `usage` and `include_reasoning` are sent in
 * other words (`stream_options`, `reasoning`).
 */
const NOT_SENT: ReadonlySet<string> = new Set([...GATEWAY_FIELDS, 'usage', 'include_reasoning'])

/** A null in a known field means the same as its absence; many providers reject the null. */
const NULL_IS_ABSENT: ReadonlySet<string> = new Set(Object.keys(chatBody.properties))

/** Parameters that only tune the answer: dropped and named if an endpoint is known not to take them. */
const TUNING = [...SAMPLING_PARAMETERS, 'prediction', 'verbosity'] as const

/**
 * The call to a provider of the chat dialect. The body of a caller of the same dialect is forwarded, unknown fields
 * at every level included, without the gateway's fields; other dialects are written from the neutral request.
 * Never changes `request`.
 */
export function buildChat(request: InferenceRequest, attempt: Attempt): DialectCall {
  const dropped: string[] = []
  const drop = dropsInto(dropped)
  const { quirks } = attempt.provider
  const own = bodyIn(request, 'chat')
  const body = own ? forwardedBody(own) : neutralBody(request, takenBy(attempt), drop)
  applyDelegated(body, request)
  body.model = attempt.endpoint.upstreamId
  applyStream(body, request, attempt)
  applyOutputBound(body, request, attempt)
  applyReasoning(body, request, attempt, dropped)
  applyRoles(body, attempt)
  applyServiceTier(body)
  leaveOutUnsupported(body, attempt, dropped)
  if (quirks.chat) {
    applyQuirks(body, quirks.chat, drop)
    applyConversation(body, attempt, quirks.chat, drop)
  }
  return { path: '/chat/completions', headers: {}, body, dropped }
}

function takenBy({ provider: { quirks }, endpoint: { inputModalities } }: Attempt): Taken {
  const { thinkingParts, thoughtsField } = quirks.chat ?? {}
  return {
    takesReasoning:
      quirks.reasoningField === 'reasoning' || thinkingParts === true || thoughtsField !== undefined,
    takesMarks: quirks.cacheMarks === true,
    takesImages: inputModalities.length === 0 || inputModalities.includes('image'),
  }
}

/** The body without the gateway's fields. Those are few, so the engine copies the body at once. */
function forwardedBody(body: JsonObject): JsonObject {
  const sent = { ...body }
  for (const name in body) {
    if (NOT_SENT.has(name) || (body[name] === null && NULL_IS_ABSENT.has(name))) delete sent[name]
  }
  return sent
}

/** Streams always request usage: without it the cost could only be estimated. */
function applyStream(body: JsonObject, request: InferenceRequest, { provider }: Attempt): void {
  const options = fieldsOf(body.stream_options)
  if (body.stream_options !== undefined) delete body.stream_options
  if (!request.stream) {
    if (body.stream !== undefined) body.stream = false
    return
  }
  body.stream = true
  if (provider.quirks.streamOptions !== false) body.stream_options = { ...options, include_usage: true }
}

const BOUND_FIELDS = ['max_tokens', 'max_completion_tokens'] as const

/**
 * One field carries the bound. Two are refused by some providers, and others heed only the one that they know, so
 * that the looser of two could win.
 */
function applyOutputBound(body: JsonObject, request: InferenceRequest, attempt: Attempt): void {
  const bound = attempt.outputBound ?? request.maxOutputTokens
  if (bound === undefined) return
  const field = boundFieldOf(body, attempt)
  for (const name of BOUND_FIELDS) if (name !== field && body[name] !== undefined) delete body[name]
  body[field] = bound
}

/** The provider's only name, else the only one that the endpoint is known to take, else the caller's. */
function boundFieldOf(body: JsonObject, { provider, endpoint }: Attempt): (typeof BOUND_FIELDS)[number] {
  if (provider.quirks.outputBoundField) return provider.quirks.outputBoundField
  const known = BOUND_FIELDS.filter((name) => endpoint.supportedParameters?.includes(name))
  if (known.length === 1 && known[0]) return known[0]
  return body.max_completion_tokens === undefined ? 'max_tokens' : 'max_completion_tokens'
}

function applyRoles(body: JsonObject, { provider }: Attempt): void {
  if (provider.quirks.developerRole !== false || !Array.isArray(body.messages)) return
  body.messages = body.messages.map(withSystemRole)
}

/** `fast` is the gateway's other name for `priority`. */
function applyServiceTier(body: JsonObject): void {
  if (body.service_tier === 'fast') body.service_tier = 'priority'
}

function leaveOutUnsupported(body: JsonObject, { endpoint }: Attempt, dropped: string[]): void {
  const supported = endpoint.supportedParameters
  if (supported === null) return
  for (const name of TUNING) {
    if (body[name] === undefined || supported.includes(name)) continue
    delete body[name]
    dropped.push(name)
  }
}
