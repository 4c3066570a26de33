import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, fieldsOf } from '../../core/json.ts'
import { bodyIn, type Effort, type InferenceRequest, type Reasoning } from '../../core/request.ts'
import type { EndpointRecord } from '../../core/snapshot.ts'
import type { Drop } from '../dropped.ts'
import { asksToReason, EFFORTS, isOff, mayReason } from '../reasoning.ts'

/** Budgets in tokens → efforts, the inverse of the table that Google's compatible API has for efforts (2025). */
const BUDGETS: readonly (readonly [number, Effort])[] = [
  [1_024, 'low'],
  [8_192, 'medium'],
  [Number.POSITIVE_INFINITY, 'high'],
]

/** Fields that are translated; the gateway itself applies `exclude`. */
const OURS = ['effort', 'summary', 'enabled', 'max_tokens', 'exclude']

/**
 * | asked | sent |
 * |---|---|
 * | `effort` | `reasoning.effort`: the strongest of the model's that is not stronger |
 * | `max_tokens` | the effort of that budget; the number is dropped |
 * | `enabled: true` | effort `medium` if the model may be off |
 * | off | effort `none`, if the model has it |
 * | `summary` | `reasoning.summary` |
 * | to see the reasoning, in a dialect that shows it without a request | `reasoning.summary: "auto"` |
 * | `context`, `mode` and unknown fields of this dialect's callers | as they came |
 *
 * A summary is requested only if the caller wants to see the reasoning: OpenAI rejects it (400) for organisations that
 * it has not verified. If the caller did not request it by name, the call is repeated without it: see `optionalPartsOf`.
 */
export function applyReasoning(
  body: JsonObject,
  request: InferenceRequest,
  attempt: Attempt,
  drop: Drop,
): void {
  const sent = fieldsOf(body.reasoning)
  delete body.reasoning
  const { reasoning = {} } = request
  if (!mayReason(attempt.endpoint)) {
    if (asks(reasoning)) drop('reasoning')
    return
  }
  if (attempt.provider.quirks.reasoningField === 'reasoning') {
    setUnlessEmpty(body, { ...sent, ...fieldsOfReasoning(reasoning) })
    return
  }
  const rest = Object.fromEntries(Object.entries(sent).filter(([name]) => !OURS.includes(name)))
  setUnlessEmpty(body, {
    ...rest,
    ...carried(reasoning, request, drop),
    effort: effortOf(reasoning, attempt, drop),
    summary: reasoning.summary ?? (wantsToSee(request) ? 'auto' : undefined),
  })
}

function setUnlessEmpty(body: JsonObject, fields: JsonObject): void {
  const written = defined(fields)
  if (Object.keys(written).length > 0) body.reasoning = written
}

/** True if the model is known to reason, or is asked to. */
export const reasons = (body: JsonObject, { endpoint }: Attempt): boolean =>
  isKnownToReason(endpoint) || (mayReason(endpoint) && body.reasoning !== undefined)

const asks = (reasoning: Reasoning): boolean =>
  asksToReason(reasoning) || (!isOff(reasoning) && reasoning.summary !== undefined)

/** `reasoning_effort` alone asks for thinking, not for seeing it. */
const wantsToSee = (request: InferenceRequest): boolean => {
  const { reasoning = {}, parameters } = request
  const isShownUnasked = bodyIn(request, 'responses') === undefined
  return (
    isShownUnasked &&
    reasoning.exclude !== true &&
    !isOff(reasoning) &&
    parameters.some((name) => name === 'reasoning' || name === 'include_reasoning')
  )
}

/** OpenAI's newer fields, which callers of other dialects may set too. */
function carried({ extra = {} }: Reasoning, request: InferenceRequest, drop: Drop): JsonObject {
  if (bodyIn(request, 'responses')) return {}
  for (const name of Object.keys(extra)) if (name !== 'context' && name !== 'mode') drop(`reasoning.${name}`)
  return defined({ context: extra.context, mode: extra.mode })
}

function effortOf(reasoning: Reasoning, { endpoint }: Attempt, drop: Drop): Effort | undefined {
  const asked = askedEffort(reasoning, drop)
  const { efforts, mayBeOff } = endpoint.reasoning ?? { efforts: null, mayBeOff: true }
  if (asked === undefined) return undefined
  // It reasons anyway, and may refuse the field.
  if (reasoning.effort === undefined && reasoning.enabled === true && !mayBeOff) return undefined
  if (asked === 'none' && !mayBeOff) {
    drop('reasoning.effort')
    return EFFORTS.find((effort) => efforts?.includes(effort))
  }
  if (efforts === null || efforts.includes(asked)) return asked
  drop('reasoning.effort')
  const known = EFFORTS.filter((effort) => efforts.includes(effort))
  return known.findLast((effort) => EFFORTS.indexOf(effort) < EFFORTS.indexOf(asked)) ?? known[0]
}

function askedEffort({ effort, enabled, maxTokens }: Reasoning, drop: Drop): Effort | undefined {
  if (enabled === false) return 'none'
  if (maxTokens !== undefined) drop('reasoning.max_tokens')
  if (effort !== undefined) return effort
  if (maxTokens !== undefined) return BUDGETS.find(([most]) => maxTokens <= most)?.[1]
  return enabled === true ? 'medium' : undefined
}

const fieldsOfReasoning = ({ effort, maxTokens, enabled, exclude, summary }: Reasoning): JsonObject =>
  defined({ effort, max_tokens: maxTokens, enabled, exclude, summary })

/**
 * True if the model reasons by the catalogue, the operator's settings, or its name: OpenAI's own names are known,
 * for entries that describe their models no further. `gpt-5-chat-latest` does not reason.
 */
export const isKnownToReason = (endpoint: EndpointRecord): boolean =>
  mayReason(endpoint) &&
  (endpoint.supportedParameters !== null ||
    endpoint.reasoning !== undefined ||
    REASONERS.test(endpoint.upstreamId))

const REASONERS = /(?:^|[/.])(?:o[134](?![a-z])|gpt-[5-9](?!.*chat)|codex)/
