import type { Caller } from '../core/caller.ts'
import { forbids } from '../core/guardrail.ts'
import { byokKeysOf, type Route, routesTo } from '../core/route.ts'
import type { KeyRecord, ModelRecord, Snapshot } from '../core/snapshot.ts'
import { findVariant } from '../core/variant.ts'
import { listingOf, listingThrough, narrowed, type Offered } from './listing.ts'
import { lookUp } from './lookup.ts'

interface Known {
  readonly snapshot: Snapshot
  readonly workspaceId: string
  readonly models: readonly Offered[]
}
const known = new WeakMap<KeyRecord, Known>()

/** What `callableOf` says, reckoned once for each key and snapshot: guardrails make it slower than a list may be. */
export function callableBy(caller: Caller, snapshot: Snapshot): readonly Offered[] {
  const { key, workspace } = caller
  const before = known.get(key)
  if (before?.snapshot === snapshot && before.workspaceId === workspace.id) return before.models
  const models = callableOf(caller, snapshot)
  known.set(key, { snapshot, workspaceId: workspace.id, models })
  return models
}

/**
 * The models that a caller may call, through the endpoints that would serve: what no guardrail forbids, what has a price
 * (the operator's price for models without one is in the snapshot already), and what the workspace's own keys open.
 * Routing goes by the same rules.
 */
function callableOf(caller: Caller, snapshot: Snapshot): Offered[] {
  const byokKeys = byokKeysOf(caller, snapshot)
  const { guardrails = [] } = caller.key
  const mayServe = (model: ModelRecord, { endpoint, provider }: Route): boolean =>
    endpoint.pricing !== null && forbids(guardrails, model, endpoint, provider) === null
  const listing =
    byokKeys.length === 0 || snapshot.withByok === undefined
      ? listingOf(snapshot)
      : listingThrough(snapshot.withByok)
  return listing.flatMap((offered) => {
    const { model } = offered
    const serving = routesTo(model, byokKeys, snapshot).routes.filter((route) => mayServe(model, route))
    const ids = new Set(serving.map(({ endpoint }) => endpoint.id))
    return narrowed(offered, ({ record }) => ids.has(record.id)) ?? []
  })
}

/** `lookUp`, with the models that only the workspace's own keys open. */
export function lookUpFor(caller: Caller, name: string, snapshot: Snapshot): Offered {
  const byokKeys = byokKeysOf(caller, snapshot)
  const isListed = findVariant(name, (snapshot.shown ?? snapshot).models) !== undefined
  if (isListed || byokKeys.length === 0 || snapshot.withByok === undefined) return lookUp(name, snapshot)
  const model = findVariant(name, snapshot.withByok.models)?.model
  const offered = listingThrough(snapshot.withByok).find((one) => one.model === model)
  if (model === undefined || offered === undefined) return lookUp(name, snapshot)
  const ids = new Set(routesTo(model, byokKeys, snapshot).routes.map(({ endpoint }) => endpoint.id))
  return narrowed(offered, ({ record }) => ids.has(record.id)) ?? lookUp(name, snapshot)
}
