import type { Caller } from '../core/caller.ts'
import { forbids } from '../core/guardrail.ts'
import { byokKeysOf, type Route, routesTo } from '../core/route.ts'
import type { KeyRecord, ModelRecord, Snapshot } from '../core/snapshot.ts'
import { findVariant } from '../core/variant.ts'
import { createListings, type Listings, narrowed, type Offered } from './listing.ts'
import { lookUp } from './lookup.ts'

/** The lists of models as each caller may see them now. */
export interface CatalogLists {
  /** Every model that can be called, or the complete catalogue if the settings say so. */
  all(): readonly Offered[]
  /** The models that a caller may call, made once for a key and a snapshot: guardrails make it slow. */
  callableBy(caller: Caller): readonly Offered[]
  /** `lookUp`, with the models that only the workspace's BYOK keys open. */
  find(caller: Caller, name: string): Offered
}

interface Known {
  readonly snapshot: Snapshot
  readonly workspaceId: string
  readonly models: readonly Offered[]
}

export function createCatalogLists(snapshots: { current(): Snapshot }): CatalogLists {
  const listings = createListings()
  const known = new WeakMap<KeyRecord, Known>()
  return {
    all: () => listings.of(snapshots.current()),
    callableBy(caller) {
      const { key, workspace } = caller
      const snapshot = snapshots.current()
      const before = known.get(key)
      if (before?.snapshot === snapshot && before.workspaceId === workspace.id) return before.models
      const models = callableOf(caller, snapshot, listings)
      known.set(key, { snapshot, workspaceId: workspace.id, models })
      return models
    },
    find: (caller, name) => lookUpFor(caller, name, snapshots.current(), listings),
  }
}

/**
 * The models that a caller may call, through the endpoints that would serve: allowed by every guardrail, with a price
 * (the snapshot has the operator's price for models without one), and what the workspace's BYOK keys open.
 * Routing goes by the same rules.
 */
function callableOf(caller: Caller, snapshot: Snapshot, listings: Listings): Offered[] {
  const byokKeys = byokKeysOf(caller, snapshot)
  const { guardrails = [] } = caller.key
  const mayServe = (model: ModelRecord, { endpoint, provider }: Route): boolean =>
    endpoint.pricing !== null && forbids(guardrails, model, endpoint, provider) === null
  const listing =
    byokKeys.length === 0 || snapshot.withByok === undefined
      ? listings.of(snapshot)
      : listings.through(snapshot.withByok)
  return listing.flatMap((offered) => {
    const { model } = offered
    const serving = routesTo(model, byokKeys, snapshot).routes.filter((route) => mayServe(model, route))
    const ids = new Set(serving.map(({ endpoint }) => endpoint.id))
    return narrowed(offered, ({ record }) => ids.has(record.id)) ?? []
  })
}

function lookUpFor(caller: Caller, name: string, snapshot: Snapshot, listings: Listings): Offered {
  const byokKeys = byokKeysOf(caller, snapshot)
  const isListed = findVariant(name, (snapshot.shown ?? snapshot).models) !== undefined
  if (isListed || byokKeys.length === 0 || snapshot.withByok === undefined) return lookUp(name, snapshot)
  const model = findVariant(name, snapshot.withByok.models)?.model
  const offered = listings.through(snapshot.withByok).find((one) => one.model === model)
  if (model === undefined || offered === undefined) return lookUp(name, snapshot)
  const ids = new Set(routesTo(model, byokKeys, snapshot).routes.map(({ endpoint }) => endpoint.id))
  return narrowed(offered, ({ record }) => ids.has(record.id)) ?? lookUp(name, snapshot)
}
