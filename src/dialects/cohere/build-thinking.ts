import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import type { Effort, InferenceRequest } from '../../core/request.ts'
import type { LeaveOut } from './names.ts'

/** Efforts that are less than all: tokens to think for, and the largest share of the bound on output. */
const BUDGETS: Readonly<Partial<Record<Effort, { tokens: number; share: number }>>> = {
  minimal: { tokens: 512, share: 0.1 },
  low: { tokens: 1_024, share: 0.2 },
  medium: { tokens: 8_192, share: 0.5 },
}

const PARAMETERS = ['reasoning', 'reasoning_effort', 'include_reasoning'] as const

/** False only where the endpoint's parameters are known and none of them is about reasoning. */
export const takesReasoning = ({ endpoint }: Attempt): boolean =>
  endpoint.supportedParameters === null ||
  PARAMETERS.some((name) => endpoint.supportedParameters?.includes(name))

/**
 * | asked | `thinking` |
 * |---|---|
 * | off (`enabled: false`, effort `none`) | disabled |
 * | `max_tokens` | enabled, `token_budget` |
 * | effort minimal, low, medium | enabled, a `token_budget` |
 * | effort high and more, `enabled: true` | enabled, without a budget |
 * | nothing | the caller's own `thinking`, else nothing: a model that reasons then does |
 */
export function writeThinking(
  { reasoning, maxOutputTokens }: InferenceRequest,
  attempt: Attempt,
  own: JsonObject | undefined,
  leaveOut: LeaveOut,
): JsonObject | undefined {
  const { effort, enabled, maxTokens, summary, extra } = reasoning ?? {}
  const isOff = enabled === false || effort === 'none'
  const isOn = !isOff && (enabled === true || effort !== undefined || maxTokens !== undefined)
  if (!takesReasoning(attempt)) {
    if (isOn || (own !== undefined && own.type !== 'disabled')) leaveOut('reasoning')
    return undefined
  }
  if (summary !== undefined) leaveOut('reasoning.summary')
  for (const name of Object.keys(extra ?? {})) leaveOut(`reasoning.${name}`)
  if (isOff) return { type: 'disabled' }
  if (!isOn) return own
  const bound = attempt.outputBound ?? maxOutputTokens
  const budget = maxTokens ?? budgetOf(effort, bound)
  return { type: 'enabled', ...(budget === undefined ? {} : { token_budget: Math.max(1, budget) }) }
}

function budgetOf(effort: Effort | undefined, bound: number | undefined): number | undefined {
  const budget = effort && BUDGETS[effort]
  if (!budget) return undefined
  return bound === undefined ? budget.tokens : Math.min(budget.tokens, Math.floor(bound * budget.share))
}
