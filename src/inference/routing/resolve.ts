import { badRequest, type GatewayError } from '../../core/errors.ts'
import { byokKeysOf, type Rejection, type Route, routesTo } from '../../core/route.ts'
import type { ModelRecord, ProviderRecord } from '../../core/snapshot.ts'
import { findVariant, type Variant } from '../../core/variant.ts'
import { KINDS } from './kinds.ts'
import type { SortKey } from './order.ts'
import type { PlanInput } from './plan-input.ts'

/** A requested model, with every route to it before any rule excludes one. */
export interface Resolved {
  model: ModelRecord
  routes: Route[]
  rejections: Rejection[]
  sort: SortKey | undefined
  isFree: boolean
}

/** The names of the request, else the workspace's default model. Throws a `GatewayError` 400 if there is neither. */
export function requestedModels({ request, caller }: Pick<PlanInput, 'request' | 'caller'>): string[] {
  if (request.models.length > 0) return request.models
  const kind = KINDS[request.apiType]
  const usual = kind.defaultModel?.(caller.workspace)
  if (usual) return [usual]
  throw badRequest(
    kind.defaultName === undefined
      ? 'is required: name a model'
      : `is required: neither "model" nor "models" is set, and this workspace has no ${kind.defaultName}`,
    'model',
  )
}

/** All providers of the requested models, before preferences, guardrails and health exclude any. */
export function requestedProviders(
  input: Pick<PlanInput, 'request' | 'caller' | 'snapshot'>,
): readonly ProviderRecord[] {
  const found = requestedModels(input).flatMap((name) => {
    const entry = resolve(name, input)
    if (entry) return entry.routes.map(({ provider }) => provider)
    return AUTOMATIC.has(name) ? [...input.snapshot.providersBySlug.values()] : []
  })
  return [...new Set(found)]
}

const SORT_OF: Partial<Record<Variant, SortKey>> = {
  nitro: 'throughput',
  floor: 'price',
  exacto: 'exacto',
  extended: 'context',
}

/** The names for a model of the gateway's choice, unless a provider has a model of this name. */
export const AUTOMATIC: ReadonlySet<string> = new Set([
  'sluice/auto',
  'openrouter/auto',
  'openrouter/auto-beta',
  'sluice/pareto',
  'openrouter/pareto-code',
])

/** Looks up the gateway's models first, so that a BYOK key never changes which model a name refers to. */
export function resolve(
  name: string,
  { caller, snapshot }: Pick<PlanInput, 'caller' | 'snapshot'>,
): Resolved | undefined {
  const byokKeys = byokKeysOf(caller, snapshot)
  const shared = findVariant(name, snapshot.models)
  const found =
    shared ?? (byokKeys.length > 0 && findVariant(name, snapshot.withByok?.models ?? snapshot.models))
  if (!found) return undefined
  const { model, variant } = found
  const { routes, rejections } = routesTo(model, byokKeys, snapshot)
  // The model is available through BYOK only, and this workspace has no key for it.
  if (!shared && routes.length === 0 && rejections.length === 0) return undefined
  if (variant === 'online') throw noSearch(name)
  const sort = variant ? SORT_OF[variant] : undefined
  const isFree = variant === 'free'
  return {
    model,
    routes,
    rejections,
    sort,
    isFree,
  }
}

const noSearch = (name: string): GatewayError =>
  badRequest(
    `${JSON.stringify(name.slice(0, 120))} asks for a web search, and this request has none: conversations have it unless the plugin "web" is off. Name the model without ":online"`,
    'model',
  )
