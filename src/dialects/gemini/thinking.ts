import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import type { Effort, Reasoning } from '../../core/request.ts'
import { type Generation, generationOf } from './generation.ts'
import type { LeaveOut } from './left-out.ts'

/** Effort → `thinkingBudget` in tokens of Gemini 2.5, as Google's own OpenAI-compatible API maps it (2025). */
const BUDGETS: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}

/** Effort → `thinkingLevel` of Gemini 3. */
const LEVELS: Readonly<Record<Exclude<Effort, 'none'>, string>> = {
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

/** Gemini 2.5 Pro cannot be kept from thinking; this is its least. */
const LEAST_PRO_BUDGET = 128

const PARAMETERS = ['reasoning', 'reasoning_effort', 'include_reasoning'] as const

/**
 * `thinkingConfig` for what the caller wants of reasoning; undefined where nothing is to be said. A bound in tokens
 * wins over an effort: Google refuses both together. Thoughts are shown unless the caller excludes them.
 */
export function writeThinking(
  reasoning: Reasoning | undefined,
  { endpoint }: Attempt,
  leaveOut: LeaveOut,
): JsonObject | undefined {
  if (reasoning === undefined) return undefined
  const { effort, enabled, maxTokens, exclude, summary, extra } = reasoning
  const isOff = enabled === false || effort === 'none'
  const known = endpoint.supportedParameters
  if (known !== null && !PARAMETERS.some((name) => known.includes(name))) {
    if (!isOff && (effort !== undefined || enabled === true || maxTokens !== undefined)) leaveOut('reasoning')
    return undefined
  }
  if (summary !== undefined && summary !== 'auto') leaveOut('reasoning.summary')
  for (const name of Object.keys(extra ?? {})) leaveOut(`reasoning.${name}`)
  const generation = generationOf(endpoint.upstreamId)
  if (isOff) return writeOff(generation, enabled === false ? 'enabled' : 'effort', leaveOut)
  const includeThoughts = exclude !== true
  if (maxTokens !== undefined) return { thinkingBudget: maxTokens, includeThoughts }
  if (effort !== undefined) {
    return generation.isNew
      ? { thinkingLevel: levelOf(effort, generation), includeThoughts }
      : { thinkingBudget: BUDGETS[effort], includeThoughts }
  }
  // -1 lets the model decide; Flash-Lite 2.5 does not think without it.
  return enabled === true && !generation.isNew ? { thinkingBudget: -1, includeThoughts } : { includeThoughts }
}

function levelOf(effort: Exclude<Effort, 'none'>, { isPro, hasTwoLevels }: Generation): string {
  if (effort === 'minimal' && isPro) return 'low'
  return effort === 'medium' && hasTwoLevels ? 'high' : LEVELS[effort]
}

/** Only Gemini 2.5 Flash can be told not to think; the others get the least, and the caller is told. */
function writeOff({ isNew, isPro }: Generation, field: string, leaveOut: LeaveOut): JsonObject {
  if (!isNew && !isPro) return { thinkingBudget: 0 }
  leaveOut(`reasoning.${field}`)
  if (!isNew) return { thinkingBudget: LEAST_PRO_BUDGET }
  return { thinkingLevel: isPro ? 'low' : 'minimal' }
}
