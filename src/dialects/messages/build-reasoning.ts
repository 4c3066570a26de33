import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import type { Effort, InferenceRequest, Message, Reasoning } from '../../core/request.ts'
import { isObject } from '../values.ts'
import { hasThoughts } from './build-messages.ts'
import type { Drop } from './marks.ts'
import { EFFORTS, type Traits } from './model.ts'

/** The share of the bound that an effort may think for, where thinking has a budget. */
const SHARES: Readonly<Record<Effort, number>> = {
  max: 0.95,
  xhigh: 0.95,
  high: 0.8,
  medium: 0.5,
  low: 0.2,
  minimal: 0.1,
  none: 0,
}
const LEAST_BUDGET = 1_024
const MOST_BUDGET = 128_000

const PARAMETERS = ['reasoning', 'reasoning_effort', 'include_reasoning'] as const

/**
 * | asked | model with a budget | adaptive model |
 * |---|---|---|
 * | `effort` | `thinking.budget_tokens`, a share of `max_tokens` | `output_config.effort`, thinking on |
 * | `max_tokens` | `thinking.budget_tokens` | thinking on; the number is dropped |
 * | `enabled: true` | as effort `medium` | thinking on |
 * | off | nothing: it is off | `disabled` where it is on by itself and may be off |
 * | `exclude` | kept by the gateway | the text is not asked for either |
 *
 * A forced tool excludes thinking. So does, with a budget, a turn under way whose thoughts are not replayed.
 */
export function applyReasoning(
  body: JsonObject,
  request: InferenceRequest,
  attempt: Attempt,
  traits: Traits,
  drop: Drop,
): void {
  const { reasoning } = request
  if (reasoning === undefined) return
  if (!asks(reasoning)) {
    if (isOff(reasoning) && traits.thinksByDefault) body.thinking = { type: 'disabled' }
    return
  }
  if (!isReasoner(attempt)) {
    drop('reasoning')
    return
  }
  if (reasoning.summary !== undefined) drop('reasoning.summary')
  for (const name of Object.keys(reasoning.extra ?? {})) drop(`reasoning.${name}`)
  const isForced = isObject(body.tool_choice) && ['any', 'tool'].includes(String(body.tool_choice.type))
  if (traits.thinking === 'adaptive') {
    applyAdaptive(body, reasoning, traits, isForced, drop)
    return
  }
  const budget = budgetOf(reasoning, Number(body.max_tokens), drop)
  if (isForced || budget === undefined || hasUnsignedTurn(request.messages)) drop('reasoning')
  else body.thinking = { type: 'enabled', budget_tokens: budget }
}

function applyAdaptive(
  body: JsonObject,
  { effort, maxTokens, exclude }: Reasoning,
  { efforts }: Traits,
  isForced: boolean,
  drop: Drop,
): void {
  if (maxTokens !== undefined) drop('reasoning.max_tokens')
  if (effort !== undefined) {
    const config = isObject(body.output_config) ? body.output_config : {}
    body.output_config = { ...config, effort: effortWithin(effort, efforts) }
  }
  if (isForced) drop('reasoning')
  // Without `display` the newer models send signatures alone.
  else body.thinking = { type: 'adaptive', display: exclude === true ? 'omitted' : 'summarized' }
}

/** The strongest effort of the model that is not stronger than what was asked for, else its weakest. */
function effortWithin(asked: Effort, efforts: readonly string[]): string {
  const wanted = asked === 'minimal' || asked === 'none' ? 0 : EFFORTS.indexOf(asked)
  const taken = EFFORTS.filter((name) => efforts.includes(name))
  return taken.findLast((name) => EFFORTS.indexOf(name) <= wanted) ?? taken[0] ?? 'low'
}

/** Undefined: the bound is too small to think within. The API wants a budget below the bound. */
function budgetOf({ effort, maxTokens }: Reasoning, bound: number, drop: Drop): number | undefined {
  if (bound <= LEAST_BUDGET) return undefined
  const asked = maxTokens ?? Math.floor(bound * SHARES[effort ?? 'medium'])
  const budget = Math.min(Math.max(asked, LEAST_BUDGET), MOST_BUDGET, bound - 1)
  if (maxTokens !== undefined && budget !== maxTokens) drop('reasoning.max_tokens')
  return budget
}

/** A turn of tool calls must begin with the thoughts that led to it, or the API refuses to think on. */
function hasUnsignedTurn(messages: readonly Message[]): boolean {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  const first = turn.find(({ role }) => role === 'assistant')
  return first?.toolCalls !== undefined && !hasThoughts(first)
}

/** False only where the endpoint's parameters are known and none of them is about reasoning. */
const isReasoner = ({ endpoint }: Attempt): boolean =>
  endpoint.supportedParameters === null ||
  PARAMETERS.some((name) => endpoint.supportedParameters?.includes(name))

const isOff = ({ effort, enabled }: Reasoning): boolean => enabled === false || effort === 'none'

const asks = (reasoning: Reasoning): boolean =>
  !isOff(reasoning) &&
  (reasoning.enabled === true || reasoning.effort !== undefined || reasoning.maxTokens !== undefined)
