import type { EndpointRecord, ModelRecord, ProviderRecord } from '../../core/snapshot.ts'
import { resolvedModels } from './automatic.ts'
import { type Exclusion, exclusionsOf } from './eligible.ts'
import { lenient } from './needs.ts'
import type { PlanInput } from './plan-input.ts'
import { requestedModels } from './resolve.ts'

/** An endpoint of a requested model, with every rule that excludes it. */
export interface Considered {
  readonly model: ModelRecord
  readonly endpoint: EndpointRecord
  readonly provider: ProviderRecord
  /** In the order of the rules: the plan stops at the first one. Empty: the endpoint can serve the request. */
  readonly exclusions: readonly Exclusion[]
}

/**
 * Every endpoint of every requested model, in the order of the models. Recomputed for metadata and errors, so that a
 * plan collects none of it. Cooldowns exclude nothing here: `Plan.eligible` without `Plan.attempts` has those.
 */
export function explain(input: PlanInput): Considered[] {
  const considered = consider(input)
  const needs = lenient(input.needs)
  if (needs === undefined || considered.some(({ exclusions }) => exclusions.length === 0)) return considered
  return consider({ ...input, needs })
}

function consider(input: PlanInput): Considered[] {
  const { providersBySlug, withByok } = input.snapshot
  return resolvedModels(requestedModels(input), input).flatMap((entry) => {
    const { model } = entry
    const routed = entry.routes.map((route) => ({
      model,
      endpoint: route.endpoint,
      provider: route.provider,
      exclusions: exclusionsOf(entry, route, input),
    }))
    const rejected = entry.rejections.flatMap(({ endpoint, why }): Considered[] => {
      const { providerSlug } = endpoint
      const provider = providersBySlug.get(providerSlug) ?? withByok?.providersBySlug.get(providerSlug)
      return provider ? [{ model, endpoint, provider, exclusions: [{ rule: 'byok', sentence: why }] }] : []
    })
    return [...routed, ...rejected]
  })
}
