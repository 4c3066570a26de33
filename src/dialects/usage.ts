import type { JsonObject } from '../core/events.ts'
import { asAmount, asList, fieldsOf } from '../core/json.ts'
import { usdOf } from '../core/money.ts'
import type { Closing, RoutingMetadata } from '../core/result.ts'

/** Readers and views of usage that all dialects share. */

/** A number of tokens as a provider reports it, rounded; undefined for anything else. */
export const tokenCount = (value: unknown): number | undefined => {
  const amount = asAmount(value)
  return amount === undefined ? undefined : Math.min(Math.round(amount), Number.MAX_SAFE_INTEGER)
}

/** Splits a total into parts, none of which is larger than what the parts before it left. */
export function remainder(total: number) {
  let left = total
  return {
    take(wanted: number | undefined): number {
      const taken = Math.min(Math.max(0, wanted ?? 0), left)
      left -= taken
      return taken
    },
    rest: () => left,
  }
}

/** `upstream_inference_cost` is what the provider charges the caller's own account: only with a BYOK key. */
const viewCostDetails = (closing: Closing): JsonObject => ({
  upstream_inference_cost: closing.isByok
    ? usdOf(closing.promptCostNanoUsd + closing.completionCostNanoUsd)
    : null,
  upstream_inference_prompt_cost: usdOf(closing.promptCostNanoUsd),
  upstream_inference_completions_cost: usdOf(closing.completionCostNanoUsd),
})

/** USD with at most 9 decimals. */
export const viewCost = (closing: Closing): JsonObject => ({
  cost: usdOf(closing.costNanoUsd),
  is_byok: closing.isByok,
  cost_details: viewCostDetails(closing),
})

/**
 * The routing metadata under both of its names; nothing unless the caller asked for it. `lost`: what the reply held and
 * the caller's dialect has no place for; it is named beside the dropped parameters.
 */
export function viewMetadata(metadata: RoutingMetadata | null, lost: readonly string[] = []): JsonObject {
  if (metadata === null) return {}
  const complete = lost.length === 0 ? metadata : { ...metadata, params: withLost(metadata.params, lost) }
  return { service_metadata: complete, openrouter_metadata: complete }
}

const withLost = (params: JsonObject | undefined, lost: readonly string[]): JsonObject => ({
  ...params,
  dropped_parameters: [...asList(fieldsOf(params)['dropped_parameters']), ...lost],
})
