import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import type { Effort, Reasoning } from '../../core/request.ts'
import type { EndpointRecord } from '../../core/snapshot.ts'
import type { Drop } from '../dropped.ts'
import { asksToReason, mayReason } from '../reasoning.ts'

/**
 * Effort → `thinkingBudget` in tokens of Gemini 2.5, as Google's own OpenAI-compatible API maps it (2025), and
 * `thinkingLevel` of Gemini 3.
 */
const EFFORTS: Readonly<Record<Exclude<Effort, 'none'>, { budget: number; level: string }>> = {
  minimal: { budget: 1_024, level: 'minimal' },
  low: { budget: 1_024, level: 'low' },
  medium: { budget: 8_192, level: 'medium' },
  high: { budget: 24_576, level: 'high' },
  xhigh: { budget: 24_576, level: 'high' },
  max: { budget: 24_576, level: 'high' },
}

/** The least budget of Gemini 2.5 Pro, which always thinks. */
const LEAST_BUDGET = 128

/** The budget within Google's limits (its guide to thinking, 2026); a number beyond is a 400. */
function budgetWithin(tokens: number, upstreamId: string): number {
  const { isGemini, isPro, isLite } = generationOf(upstreamId)
  if (!isGemini || tokens <= 0) return tokens
  const least = isPro ? LEAST_BUDGET : isLite ? 512 : 1
  return Math.min(Math.max(tokens, least), isPro ? 32_768 : 24_576)
}

/**
 * `thinkingConfig` for the caller's `reasoning`; undefined if nothing is to be sent. A bound in tokens wins over an
 * effort: Google rejects both together. Thoughts are shown unless the caller excludes them.
 */
export function writeThinking(
  reasoning: Reasoning | undefined,
  { endpoint }: Attempt,
  drop: Drop,
): JsonObject | undefined {
  if (reasoning === undefined) return undefined
  const { effort, enabled, maxTokens, exclude, summary, extra } = reasoning
  if (!mayReason(endpoint)) {
    if (asksToReason(reasoning)) drop('reasoning')
    return undefined
  }
  if (summary !== undefined && summary !== 'auto') drop('reasoning.summary')
  for (const name of Object.keys(extra ?? {})) drop(`reasoning.${name}`)
  const asked = askedBy(endpoint)
  if (enabled === false || effort === 'none')
    return writeOff(asked, enabled === false ? 'enabled' : 'effort', drop)
  const includeThoughts = exclude !== true
  if (asked === 'not') {
    if (maxTokens !== undefined) drop('reasoning.max_tokens')
    if (effort !== undefined) drop('reasoning.effort')
    return { includeThoughts }
  }
  // Gemini 3 accepts a budget too, for older callers.
  if (maxTokens !== undefined) {
    const thinkingBudget = budgetWithin(maxTokens, endpoint.upstreamId)
    if (thinkingBudget !== maxTokens) drop('reasoning.max_tokens')
    return { thinkingBudget, includeThoughts }
  }
  if (effort !== undefined) {
    return typeof asked === 'object'
      ? { thinkingLevel: nearestLevel(EFFORTS[effort].level, asked.levels), includeThoughts }
      : { thinkingBudget: EFFORTS[effort].budget, includeThoughts }
  }
  // -1 lets the model decide; Flash-Lite 2.5 does not think without it.
  return enabled === true && typeof asked === 'string'
    ? { thinkingBudget: -1, includeThoughts }
    : { includeThoughts }
}

const ALL_LEVELS: readonly string[] = ['minimal', 'low', 'medium', 'high']

/** How a model's thinking is bounded: by levels, by a budget that may be 0 or not, or not at all. */
type Asked = { readonly levels: readonly string[] } | 'budget' | 'budget-above-0' | 'not'

/** From the endpoint's metadata, else from the model's name. */
function askedBy({ upstreamId, reasoning: facts }: EndpointRecord): Asked {
  if (facts?.efforts) return { levels: facts.efforts }
  if (facts?.takesBudget) return facts.mayBeOff ? 'budget' : 'budget-above-0'
  if (facts) return 'not'
  const { isNew, isPro, hasTwoLevels } = generationOf(upstreamId)
  if (!isNew) return isPro ? 'budget-above-0' : 'budget'
  if (hasTwoLevels) return { levels: ['low', 'high'] }
  return { levels: isPro ? ['low', 'medium', 'high'] : ALL_LEVELS }
}

/** The nearest level that the model has; of two, the higher one. */
function nearestLevel(wanted: string, levels: readonly string[]): string {
  const rank = (level: string): number => ALL_LEVELS.indexOf(level)
  const distance = (level: string): number => Math.abs(rank(level) - rank(wanted))
  const known = levels.filter((level) => rank(level) !== -1)
  return known.toSorted((a, b) => distance(a) - distance(b) || rank(b) - rank(a))[0] ?? wanted
}

/** A model that always thinks gets the least budget, and the parameter is dropped by name. */
function writeOff(asked: Asked, field: string, drop: Drop): JsonObject | undefined {
  if (asked === 'budget') return { thinkingBudget: 0 }
  drop(`reasoning.${field}`)
  if (asked === 'not') return undefined
  if (asked === 'budget-above-0') return { thinkingBudget: LEAST_BUDGET }
  return { thinkingLevel: nearestLevel('minimal', asked.levels) }
}

/** The generation that a model's name shows: generations take reasoning, signatures and JSON differently. */
export interface Generation {
  /** Gemini 3 and later, or unknown: thinking levels, and required signatures. */
  readonly isNew: boolean
  /** Certainly Gemini 3 or later. */
  readonly isGemini3: boolean
  readonly isPro: boolean
  readonly isLite: boolean
  /** One of Google's own models. */
  readonly isGemini: boolean
  /** The first Gemini 3 Pro has only the levels low and high. */
  readonly hasTwoLevels: boolean
}

export function generationOf(upstreamId: string): Generation {
  const major = /gemini-(\d+)/.exec(upstreamId)?.[1]
  const isLatest = /gemini-(?:flash|pro|flash-lite)-latest/.test(upstreamId)
  return {
    isNew: major === undefined || Number(major) >= 3,
    isGemini3: isLatest || (major !== undefined && Number(major) >= 3),
    isPro: /-pro\b/.test(upstreamId),
    isLite: /-lite\b/.test(upstreamId),
    isGemini: /\bgemini-/.test(upstreamId),
    hasTwoLevels: /gemini-3-pro/.test(upstreamId),
  }
}
