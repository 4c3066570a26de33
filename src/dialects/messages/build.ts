import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { asObject, defined, fieldsOf, isObject } from '../../core/json.ts'
import { bodyIn, type InferenceRequest } from '../../core/request.ts'
import { type Traits, thinkingOf, traitsOf, writeStop } from '../claude.ts'
import type { DialectCall } from '../dialect.ts'
import { type Drop, dropsInto, dropUncarried, writeServiceTier } from '../dropped.ts'
import { writeMessages } from './build-messages.ts'
import { ownBody } from './build-own.ts'
import { applyFormat, writeToolChoice, writeTools } from './build-tools.ts'

const VERSION = '2023-06-01'
/** Documents that are named by an id are behind this beta. */
const FILES_BETA = 'files-api-2025-04-14'

/** The API requires a bound: the caller's, else the model's, else one of these. */
const UNKNOWN_BOUND = 4_096
const UNKNOWN_BOUND_THINKING = 16_384

/**
 * The call to a provider of the Messages dialect. The body of a caller of the same dialect is forwarded
 * (`build-own.ts`); other dialects are written from the neutral request:
 *
 * | neutral | Messages |
 * |---|---|
 * | messages | `build-messages.ts`, `build-content.ts` |
 * | tools, tool choice, parallel calls | `build-tools.ts` |
 * | reasoning | `claude.ts` |
 * | response format | `build-tools.ts` |
 * | sampling | `temperature`, `top_p`, `top_k`, `stop_sequences`; other parameters are dropped |
 * | bound on output | `max_tokens` |
 * | service tier | `service_tier` (`auto`, `standard_only`) |
 * | user | `metadata.user_id` |
 * | `cache_control` of body, messages, parts, tools | the same mark on body, blocks, tools |
 *
 * What has no place is named in `dropped`.
 */
export function buildMessages(request: InferenceRequest, attempt: Attempt): DialectCall {
  const dropped: string[] = []
  const drop = dropsInto(dropped)
  const traits = traitsOf(attempt)
  if (bodyIn(request, 'messages')) {
    const body = ownBody(request, attempt, traits, boundOf(request, attempt), drop)
    applyServiceTier(body, request, drop)
    if (isVariant(request, body) && traits.thinking === 'budget') {
      delete body.thinking
      applyReasoning(body, request, attempt, traits, drop)
    }
    return { path: '/messages', headers: { 'anthropic-version': VERSION, ...request.headers }, body, dropped }
  }
  const { system, messages, usesFiles } = writeMessages(request.messages, drop)
  const tools = writeTools(request.tools, traits, drop)
  const body: JsonObject = defined({
    model: attempt.endpoint.upstreamId,
    max_tokens: boundOf(request, attempt),
    system,
    messages,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? writeToolChoice(request, drop) : undefined,
    stream: request.stream ? true : undefined,
    stop_sequences: writeStop(request.sampling, drop),
    service_tier: writeServiceTier(request.serviceTier, TIERS, drop),
    metadata: request.user === undefined ? undefined : { user_id: request.user },
    cache_control: asObject(request.body.cache_control),
  })
  applyFormat(body, request, traits, drop)
  applyReasoning(body, request, attempt, traits, drop)
  applySampling(body, request, traits, drop)
  dropUncarried(request, [], drop)
  const headers = { 'anthropic-version': VERSION, ...(usesFiles ? { 'anthropic-beta': FILES_BETA } : {}) }
  return { path: '/messages', headers, body, dropped }
}

/** The variant `:thinking` makes every body adaptive: models with a budget get one. */
const isVariant = ({ models }: InferenceRequest, { thinking }: JsonObject): boolean =>
  models[0]?.endsWith(':thinking') === true && isObject(thinking) && thinking.type === 'adaptive'

function boundOf({ maxOutputTokens, reasoning }: InferenceRequest, attempt: Attempt): number {
  const bound = attempt.outputBound ?? maxOutputTokens ?? attempt.endpoint.maxCompletionTokens
  return bound ?? (reasoning === undefined ? UNKNOWN_BOUND : UNKNOWN_BOUND_THINKING)
}

const TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  priority: 'auto',
  fast: 'auto',
  default: 'standard_only',
}

/** Callers of this dialect may use the service tiers of other dialects. */
function applyServiceTier(body: JsonObject, { serviceTier }: InferenceRequest, drop: Drop): void {
  const { service_tier } = body
  if (service_tier === undefined || service_tier === 'auto' || service_tier === 'standard_only') return
  const tier = writeServiceTier(serviceTier, TIERS, drop)
  if (tier === undefined) delete body.service_tier
  else body.service_tier = tier
}

/**
 * While it thinks, a model takes no other temperature than 1, no top_k, and top_p only from 0.95 on. Of temperature
 * and top_p newer models take one: the temperature stays.
 */
function applySampling(body: JsonObject, request: InferenceRequest, traits: Traits, drop: Drop): void {
  const { temperature, topP, topK } = request.sampling
  const thinks = isObject(body.thinking) && body.thinking.type !== 'disabled'
  if (temperature !== undefined) {
    if (!traits.takesSampling || (thinks && temperature !== 1)) drop('temperature')
    else {
      body.temperature = Math.min(temperature, 1)
      if (temperature > 1) drop('temperature')
    }
  }
  if (topP !== undefined) {
    if (!traits.takesSampling || body.temperature !== undefined || (thinks && topP < 0.95)) drop('top_p')
    else body.top_p = topP
  }
  if (topK !== undefined) {
    if (!traits.takesSampling || thinks || topK < 1) drop('top_k')
    else body.top_k = topK
  }
}

/** Puts `thinking` and `output_config.effort` into a body that has its bound and its choice of tools. */
function applyReasoning(
  body: JsonObject,
  request: InferenceRequest,
  attempt: Attempt,
  traits: Traits,
  drop: Drop,
): void {
  const isForced = isObject(body.tool_choice) && ['any', 'tool'].includes(String(body.tool_choice.type))
  const limits = { attempt, traits, bound: Number(body.max_tokens), isForced }
  const { thinking, effort } = thinkingOf(request, limits, drop)
  if (thinking !== undefined) body.thinking = thinking
  if (effort === undefined) return
  const config = fieldsOf(body.output_config)
  body.output_config = { ...config, effort }
}
