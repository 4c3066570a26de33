/** What can be called, in the form that lists are filtered, sorted and written from. Reckoned once per directory. */
import type {
  EndpointRecord,
  ModelDirectory,
  ModelRecord,
  ProviderRecord,
  ReasoningFacts,
  ShownModels,
  Snapshot,
} from '../core/snapshot.ts'

/** A model as it looks through some of its endpoints: all of them, or those that a caller asks for. */
export interface Offered {
  readonly model: ModelRecord
  /** The id's first part; for an id without one, the provider. */
  readonly author: string
  /** At least one, in the directory's order. */
  readonly endpoints: readonly OfferedEndpoint[]
  /** Where its price and limits are taken from: the cheapest that has a price, configured ones first. */
  readonly top: OfferedEndpoint
  /** Unknown ones are text: what every route takes. */
  readonly inputModalities: readonly string[]
  readonly outputModalities: readonly string[]
  /** The largest; 0: unknown. */
  readonly contextLength: number
  /** Parameters that any of its endpoints supports; empty: unknown. */
  readonly supportedParameters: readonly string[]
  /** Absent: it does not reason, as far as is known. */
  readonly reasoning: ReasoningFacts | undefined
  /** `modelJson` of it; null: not written yet. */
  json: { readonly basePath: string; readonly text: string } | null
}

export interface OfferedEndpoint {
  readonly record: EndpointRecord
  readonly provider: ProviderRecord
  /** False: shown, but not to be called before its provider has a credential. */
  readonly isConfigured: boolean
  /** `endpointJson` of it without measurements; null: not written yet. */
  json: string | null
  /** The model with this endpoint alone; null: not built yet. */
  alone: Offered | null
}

/** The lists of models of a gateway, each made once for a directory: the catalogue has thousands of endpoints. */
export interface Listings {
  /** In order of id: every model that can be called, or the complete catalogue if the settings say so. */
  of(snapshot: Snapshot): readonly Offered[]
  /** The same of models that BYOK keys open: all of them can be called. */
  through(shown: ShownModels): readonly Offered[]
}

export function createListings(): Listings {
  const listings = new WeakMap<ModelDirectory, readonly Offered[]>()

  function listed(
    models: ModelDirectory,
    endpointsAt: (model: ModelRecord) => OfferedEndpoint[],
  ): readonly Offered[] {
    const known = listings.get(models)
    if (known !== undefined) return known
    const listing = models.list().flatMap((model) => offeredOf(model, endpointsAt(model)) ?? [])
    listings.set(models, listing)
    return listing
  }

  return {
    of: (snapshot) => listed((snapshot.shown ?? snapshot).models, (model) => endpointsOf(model, snapshot)),
    through: ({ models, providersBySlug }) =>
      listed(models, (model) =>
        model.endpoints.flatMap((record) => {
          const provider = providersBySlug.get(record.providerSlug)
          return provider === undefined ? [] : [offeredEndpoint(record, provider, true)]
        }),
      ),
  }
}

export const offeredEndpoint = (
  record: EndpointRecord,
  provider: ProviderRecord,
  isConfigured: boolean,
): OfferedEndpoint => ({ record, provider, isConfigured, json: null, alone: null })

export function endpointsOf(model: ModelRecord, snapshot: Snapshot): OfferedEndpoint[] {
  const { providersBySlug } = snapshot.shown ?? snapshot
  return model.endpoints.flatMap((record) => {
    const provider = providersBySlug.get(record.providerSlug)
    const isConfigured = snapshot.providersBySlug.has(record.providerSlug)
    return provider === undefined ? [] : [offeredEndpoint(record, provider, isConfigured)]
  })
}

/** Null without endpoints. */
export function offeredOf(model: ModelRecord, endpoints: readonly OfferedEndpoint[]): Offered | null {
  const [first] = endpoints
  if (first === undefined) return null
  const slash = model.id.indexOf('/')
  return {
    model,
    author: slash < 0 ? first.provider.slug : model.id.slice(0, slash),
    endpoints,
    top: endpoints.reduce((best, other) => (isBetter(other, best) ? other : best), first),
    inputModalities: allOf(endpoints, (record) => record.inputModalities, ['text']),
    outputModalities: allOf(endpoints, (record) => record.outputModalities, ['text']),
    contextLength: endpoints.reduce((most, { record }) => Math.max(most, record.contextLength ?? 0), 0),
    supportedParameters: allOf(endpoints, (record) => record.supportedParameters ?? [], []).toSorted(),
    reasoning: endpoints.find(({ record }) => record.reasoning !== undefined)?.record.reasoning,
    json: null,
  }
}

/**
 * The same model through the endpoints that pass, or null when none does. Through a single one it is always the same
 * object (lists of one provider are common), so that its JSON is written once.
 */
export function narrowed(offered: Offered, passes: (endpoint: OfferedEndpoint) => boolean): Offered | null {
  const endpoints = offered.endpoints.filter(passes)
  if (endpoints.length === offered.endpoints.length) return offered
  const [only, ...others] = endpoints
  if (only === undefined || others.length > 0) return offeredOf(offered.model, endpoints)
  only.alone ??= offeredOf(offered.model, endpoints)
  return only.alone
}

function isBetter(left: OfferedEndpoint, right: OfferedEndpoint): boolean {
  if (left.isConfigured !== right.isConfigured) return left.isConfigured
  return isCheaper(left.record, right.record)
}

function isCheaper({ pricing: left }: EndpointRecord, { pricing: right }: EndpointRecord): boolean {
  if (left === null) return false
  return right === null || left.prompt + left.completion < right.prompt + right.completion
}

function allOf(
  endpoints: readonly OfferedEndpoint[],
  read: (record: EndpointRecord) => readonly string[],
  unknown: readonly string[],
): readonly string[] {
  const names = new Set(endpoints.flatMap(({ record }) => read(record)))
  return names.size === 0 ? unknown : [...names]
}
