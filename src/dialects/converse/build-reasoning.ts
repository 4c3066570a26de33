import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import type { Effort, InferenceRequest, Reasoning } from '../../core/request.ts'
import { thinkingOf } from '../claude.ts'
import type { Drop } from '../dropped.ts'
import { asksToReason, isOff, mayReason } from '../reasoning.ts'
import type { Abilities } from './model.ts'

/** The three efforts of Nova and of OpenAI's open models. */
const LEVELS: Readonly<Record<Exclude<Effort, 'none'>, 'low' | 'medium' | 'high'>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

/** Used if the model's own bound is unknown. */
const UNKNOWN_BOUND = 16_384

/** The parts of the call that limit reasoning. */
export interface ReasoningLimits {
  readonly attempt: Attempt
  readonly abilities: Abilities
  /** The bound that is sent; undefined: none. */
  readonly bound: number | undefined
  /** The model must call a tool. */
  readonly isForced: boolean
}

/**
 * The fields of `additionalModelRequestFields` that ask for reasoning: each family has fields of its own.
 *
 * | family | fields |
 * |---|---|
 * | Claude | `thinking`, `output_config.effort` |
 * | Nova 2 | `reasoningConfig.maxReasoningEffort`; `high` is refused beside a bound |
 * | gpt-oss, DeepSeek V3 | `reasoning_effort` |
 * | others | nothing: the parameter is dropped by name |
 */
export function writeReasoning(request: InferenceRequest, limits: ReasoningLimits, drop: Drop): JsonObject {
  const { attempt, abilities, bound, isForced } = limits
  const { reasoning } = request
  if (reasoning === undefined) return {}
  if (abilities.family === 'Claude') {
    const assumed = bound ?? attempt.endpoint.maxCompletionTokens ?? UNKNOWN_BOUND
    const claude = { attempt, traits: abilities.claude, bound: assumed, isForced }
    const { thinking, effort } = thinkingOf(request, claude, drop)
    return {
      ...(thinking === undefined ? {} : { thinking }),
      ...(effort === undefined ? {} : { output_config: { effort } }),
    }
  }
  if (isOff(reasoning)) return writeOff(reasoning, abilities, drop)
  if (!asksToReason(reasoning)) return {}
  if (!mayReason(attempt.endpoint)) {
    drop('reasoning')
    return {}
  }
  if (reasoning.maxTokens !== undefined) drop('reasoning.max_tokens')
  if (reasoning.summary !== undefined) drop('reasoning.summary')
  for (const name of Object.keys(reasoning.extra ?? {})) drop(`reasoning.${name}`)
  return writeEffort(LEVELS[effortOf(reasoning)], limits, drop)
}

const effortOf = ({ effort }: Reasoning): Exclude<Effort, 'none'> =>
  effort === undefined || effort === 'none' ? 'medium' : effort

function writeEffort(
  level: 'low' | 'medium' | 'high',
  { attempt, abilities, bound, isForced }: ReasoningLimits,
  drop: Drop,
): JsonObject {
  switch (abilities.family) {
    case 'Nova 2': {
      const isTooHigh = level === 'high' && bound !== undefined
      if (isTooHigh) drop('reasoning.effort')
      return { reasoningConfig: { type: 'enabled', maxReasoningEffort: isTooHigh ? 'medium' : level } }
    }
    case 'gpt-oss':
      return { reasoning_effort: level }
    case 'DeepSeek':
      // R1 always thinks. V3 thinks instead of calling the required tool (public reports, 2026).
      if (/r1/i.test(attempt.endpoint.upstreamId)) return {}
      if (isForced) {
        drop('reasoning')
        return {}
      }
      return { reasoning_effort: level }
    default:
      drop('reasoning')
      return {}
  }
}

/** gpt-oss always thinks: it gets the least effort, and the parameter is dropped by name. */
function writeOff({ enabled }: Reasoning, { family }: Abilities, drop: Drop): JsonObject {
  if (family !== 'gpt-oss') return {}
  drop(enabled === false ? 'reasoning.enabled' : 'reasoning.effort')
  return { reasoning_effort: 'low' }
}
