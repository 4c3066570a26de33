import { ownKeysOf, type Way, waysTo } from '../core/byok.ts'
import type { Caller } from '../core/caller.ts'
import { forbids } from '../core/guardrail.ts'
import type { ModelRecord, Snapshot } from '../core/snapshot.ts'
import { listingOf, listingThrough, narrowed, type Offered } from './listing.ts'

/**
 * The models that a caller may call, through the endpoints that would serve: what no guardrail forbids, what has a price
 * (the operator's price for models without one is in the snapshot already), and what the workspace's own keys open.
 * Routing goes by the same rules.
 */
export function callableBy(caller: Caller, snapshot: Snapshot): Offered[] {
  const ownKeys = ownKeysOf(caller, snapshot)
  const { guardrails = [] } = caller.key
  const mayServe = (model: ModelRecord, { endpoint, provider }: Way): boolean =>
    endpoint.pricing !== null && forbids(guardrails, model, endpoint, provider) === null
  const listing =
    ownKeys.length === 0 || snapshot.brought === undefined
      ? listingOf(snapshot)
      : listingThrough(snapshot.brought)
  return listing.flatMap((offered) => {
    const { model } = offered
    const serving = waysTo(model, ownKeys, snapshot).ways.filter((way) => mayServe(model, way))
    const ids = new Set(serving.map(({ endpoint }) => endpoint.id))
    return narrowed(offered, ({ record }) => ids.has(record.id)) ?? []
  })
}
