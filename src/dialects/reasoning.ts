import type { Effort, Reasoning } from '../core/request.ts'
import type { EndpointRecord } from '../core/snapshot.ts'

/** Reasoning as callers request it and as models support it, the same in every dialect. */

const PARAMETERS = ['reasoning', 'reasoning_effort', 'include_reasoning'] as const

/** False only if the endpoint's parameters are known and none of them is about reasoning. */
export const mayReason = ({ supportedParameters }: EndpointRecord): boolean =>
  supportedParameters === null || PARAMETERS.some((name) => supportedParameters.includes(name))

export const isOff = ({ effort, enabled }: Reasoning): boolean => enabled === false || effort === 'none'

export const asksToReason = (reasoning: Reasoning): boolean =>
  !isOff(reasoning) &&
  (reasoning.enabled === true || reasoning.effort !== undefined || reasoning.maxTokens !== undefined)

/** From the weakest to the strongest. */
export const EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The strongest of the model's efforts that is not stronger than the requested one, else its weakest; never `none`. */
export function effortWithin(asked: Effort, efforts: readonly string[]): Effort | undefined {
  const known = EFFORTS.filter((name) => name !== 'none' && efforts.includes(name))
  return known.findLast((name) => EFFORTS.indexOf(name) <= EFFORTS.indexOf(asked)) ?? known[0]
}
