import type { Attempt } from '../core/attempt.ts'

/**
 * Claude, whichever dialect it is spoken to in: what its versions take, how its thinking is asked for, and how its
 * thoughts go back.
 */

/** In the order of their strength. */
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const

/** What a model takes, which changed with Claude's versions. */
export interface Traits {
  /** `adaptive`: thinking is switched on and an effort says how hard; `budget`: it has a budget of tokens. */
  readonly thinking: 'adaptive' | 'budget'
  /** True where it thinks unless told not to. */
  readonly thinksByDefault: boolean
  readonly efforts: readonly string[]
  /** Temperature, top_p and top_k: refused by the models that only think adaptively. */
  readonly takesSampling: boolean
  /** `output_config.format` and `strict` on tools. */
  readonly takesSchema: boolean
}

/**
 * The catalogue's facts first, then the name: from Claude 4.7 on a budget of tokens and sampling parameters are a 400
 * (April 2026), from 4.5 on and in Opus 4.1 there is structured output (recorded 2026). Other models that speak the
 * dialect are taken for older ones; they have structured output where the catalogue or the settings say so.
 */
export function traitsOf({ endpoint }: Attempt): Traits {
  const { upstreamId, reasoning: facts, supportedParameters } = endpoint
  const version = versionOf(upstreamId)
  const isAdaptive = facts ? !facts.takesBudget : (version ?? 0) >= 4.07
  return {
    thinking: isAdaptive ? 'adaptive' : 'budget',
    thinksByDefault: isAdaptive && facts?.mayBeOff === true,
    efforts: facts?.efforts ?? EFFORTS,
    takesSampling: supportedParameters?.includes('temperature') ?? !isAdaptive,
    takesSchema:
      version === undefined
        ? (supportedParameters?.includes('structured_outputs') ?? false)
        : version >= 4.05 || /opus-4[-.]1(?!\d)/.test(upstreamId),
  }
}

/**
 * Major and minor of a Claude model, the minor in hundredths: `claude-opus-4-7` is 4.07, `claude-3-5-haiku-20241022`
 * 3.05, `claude-sonnet-4-20250514` 4. Undefined: another model, or a name without a version.
 */
export function versionOf(upstreamId: string): number | undefined {
  const name = /claude[-_]?(.*)/i.exec(upstreamId)?.[1]
  const found = name === undefined ? null : /(?:^|\D)(\d)(?:[-.](\d{1,2}))?(?!\d)/.exec(name)
  return found ? Number(found[1]) + Number(found[2] ?? 0) / 100 : undefined
}
