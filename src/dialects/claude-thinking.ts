import type { Attempt } from '../core/attempt.ts'
import type { JsonObject } from '../core/events.ts'
import type { Effort, InferenceRequest, Message, Reasoning } from '../core/request.ts'
import { EFFORTS, type Traits } from './claude.ts'
import { hasThoughts } from './claude-thoughts.ts'

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

/** What else of the request decides whether a model may think. */
export interface ThinkingLimits {
  readonly attempt: Attempt
  readonly traits: Traits
  /** The bound on output tokens that is sent. */
  readonly bound: number
  /** Some tool must be called. */
  readonly isForced: boolean
}

/** Anthropic's words: `thinking`, and `output_config.effort`. */
export interface Thinking {
  readonly thinking?: JsonObject
  readonly effort?: string
}

/**
 * | asked | model with a budget | adaptive model |
 * |---|---|---|
 * | `effort` | `thinking.budget_tokens`, a share of the bound | the effort, thinking on |
 * | `max_tokens` | `thinking.budget_tokens` | thinking on; the number is dropped |
 * | `enabled: true` | as effort `medium` | thinking on |
 * | off | nothing: it is off | `disabled` where it is on by itself and may be off |
 * | `exclude` | kept by the gateway | the text is not asked for either |
 *
 * A forced tool excludes thinking. So does, with a budget, a turn under way whose thoughts are not replayed.
 */
export function thinkingOf(
  { reasoning, messages }: InferenceRequest,
  { attempt, traits, bound, isForced }: ThinkingLimits,
  drop: (name: string) => void,
): Thinking {
  if (reasoning === undefined) return {}
  if (!asksToReason(reasoning)) {
    return isOff(reasoning) && traits.thinksByDefault ? { thinking: { type: 'disabled' } } : {}
  }
  if (!isReasoner(attempt)) {
    drop('reasoning')
    return {}
  }
  if (reasoning.summary !== undefined) drop('reasoning.summary')
  for (const name of Object.keys(reasoning.extra ?? {})) drop(`reasoning.${name}`)
  if (traits.thinking === 'adaptive') return adaptive(reasoning, traits, isForced, drop)
  const budget = budgetOf(reasoning, bound, drop)
  if (isForced || budget === undefined || hasUnsignedTurn(messages)) {
    drop('reasoning')
    return {}
  }
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

function adaptive(
  { effort, maxTokens, exclude }: Reasoning,
  { efforts }: Traits,
  isForced: boolean,
  drop: (name: string) => void,
): Thinking {
  if (maxTokens !== undefined) drop('reasoning.max_tokens')
  if (isForced) drop('reasoning')
  // Without `display` the newer models send signatures alone.
  const display = exclude === true ? 'omitted' : 'summarized'
  return {
    ...(effort === undefined ? {} : { effort: effortWithin(effort, efforts) }),
    ...(isForced ? {} : { thinking: { type: 'adaptive', display } }),
  }
}

/** The strongest effort of the model that is not stronger than what was asked for, else its weakest. */
function effortWithin(asked: Effort, efforts: readonly string[]): string {
  const wanted = asked === 'minimal' || asked === 'none' ? 0 : EFFORTS.indexOf(asked)
  const taken = EFFORTS.filter((name) => efforts.includes(name))
  return taken.findLast((name) => EFFORTS.indexOf(name) <= wanted) ?? taken[0] ?? 'low'
}

/** Undefined: the bound is too small to think within. The API wants a budget below the bound. */
function budgetOf(
  { effort, maxTokens }: Reasoning,
  bound: number,
  drop: (name: string) => void,
): number | undefined {
  if (bound <= LEAST_BUDGET) return undefined
  const asked = maxTokens ?? Math.floor(bound * SHARES[effort ?? 'medium'])
  const budget = Math.min(Math.max(asked, LEAST_BUDGET), MOST_BUDGET, bound - 1)
  if (maxTokens !== undefined && budget !== maxTokens) drop('reasoning.max_tokens')
  return budget
}

/** A turn of tool calls must begin with the thoughts that led to it, or the API refuses to think on. */
export function hasUnsignedTurn(messages: readonly Message[]): boolean {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  const first = turn.find(({ role }) => role === 'assistant')
  return first?.toolCalls !== undefined && !hasThoughts(first)
}

/** False only where the endpoint's parameters are known and none of them is about reasoning. */
export const isReasoner = ({ endpoint }: Attempt): boolean =>
  endpoint.supportedParameters === null ||
  PARAMETERS.some((name) => endpoint.supportedParameters?.includes(name))

export const isOff = ({ effort, enabled }: Reasoning): boolean => enabled === false || effort === 'none'

export const asksToReason = (reasoning: Reasoning): boolean =>
  !isOff(reasoning) &&
  (reasoning.enabled === true || reasoning.effort !== undefined || reasoning.maxTokens !== undefined)
