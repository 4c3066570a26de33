import { withPolicy } from '../core/data-policy.ts'
import type { DialectName } from '../core/events.ts'
import { defined } from '../core/json.ts'
import { nearestNames } from '../core/nearest.ts'
import type {
  EndpointRecord,
  ModelDetails,
  ModelDirectory,
  ModelFacts,
  ModelOffer,
  ModelRecord,
  ProviderRecord,
} from '../core/snapshot.ts'
import type { BenchmarksById } from './benchmarks.ts'
import type { Catalog } from './catalog.ts'
import { completedBy } from './endpoint-facts.ts'
import type { ModelOverride } from './overrides.ts'
import type { SeedModel } from './seed.ts'
import { voicesOf } from './voices.ts'

/** A model under construction. */
interface Draft {
  readonly id: string
  canonicalSlug: string
  name: string
  created: number
  endpoints: EndpointRecord[]
  readonly aliases: readonly string[]
  /** The operator's own names for it. */
  readonly given: string[]
  details: ModelDetails
  /** What its providers call it. */
  readonly ownNames: { readonly provider: string; readonly name: string }[]
  readonly facts: ModelFacts | undefined
}

/**
 * The callable models: those of the catalogue at configured providers, and those that providers declare. A provider with
 * declared models serves only these. Endpoints are in the order of `providers`.
 *
 * A name is looked up as it is written and then in any case. Where two models claim a name, the first of these has it:
 * id, the operator's alias, canonical slug, catalogue alias, `provider/name`, and last the provider's own name, which must be the only one.
 * A look-up reads a map at most twice. `nearest` returns similar callable names, else similar names of the catalogue, and
 * then less similar ones.
 */
export function createDirectory(
  catalog: Catalog,
  providers: readonly ProviderRecord[],
  offers: readonly ModelOffer[],
  overrides: readonly ModelOverride[] = [],
  benchmarks: BenchmarksById = new Map(),
): ModelDirectory {
  const drafts = new Map<string, Draft>()
  const offering = new Set(offers.map((offer) => offer.endpoint.providerSlug))
  for (const provider of providers) {
    const complete = completedBy(provider)
    if (offering.has(provider.slug)) {
      for (const offer of offers)
        if (offer.endpoint.providerSlug === provider.slug) addOffer(drafts, catalog, offer, complete)
      continue
    }
    const { upstreamPrefixes = [] } = provider
    for (const endpoint of catalog.endpointsOf(provider.slug, dialectsOf(provider), upstreamPrefixes)) {
      const draft = draftOf(drafts, catalog, endpoint.modelId)
      draft.endpoints.push(complete(endpoint))
      for (const name of namesAt(endpoint, upstreamPrefixes)) {
        draft.ownNames.push({ provider: provider.slug, name })
      }
    }
  }
  for (const override of overrides) apply(override, drafts, catalog)
  const entries = [...drafts.values()]
    .sort((left, right) => (left.id < right.id ? -1 : 1))
    .map((draft) => ({ draft, model: modelOf(draft, benchmarks) }))
  const models = entries.map(({ model }) => model)
  let sorted: readonly ModelRecord[] | undefined
  const { exact, anyCase } = namesOf(entries)
  const find = (name: string): ModelRecord | undefined => exact.get(name) ?? anyCase.get(name.toLowerCase())
  return {
    find,
    isKnown: (name) =>
      find(name) !== undefined || catalog.named(name) !== undefined || catalog.isRetired(name),
    offeredBy(name) {
      const model = catalog.named(name)
      return model === undefined ? [] : catalog.providersOf(model)
    },
    nearest(name, count) {
      const callable = nearestNames(name, idsOf(models), count)
      const near = callable.length > 0 ? callable : nearestNames(name, idsOf(catalog.models), count)
      if (near.length >= count) return near
      const far = [models, catalog.models].flatMap((all) => nearestNames(name, idsOf(all), 2 * count, true))
      return [...new Set([...near, ...far])].slice(0, count)
    },
    list: () => models,
    sorted: (order) => (sorted ??= order(models)),
  }
}

/** The provider's name of it, with and without the prefix of a region. */
function namesAt({ upstreamId }: EndpointRecord, prefixes: readonly string[]): string[] {
  const prefix = prefixes.find((one) => upstreamId.startsWith(`${one}.`))
  return prefix === undefined ? [upstreamId] : [upstreamId, upstreamId.slice(prefix.length + 1)]
}

/** Overrides of the operator win over the catalogue. Models without endpoints are left out. */
function apply(override: ModelOverride, drafts: Map<string, Draft>, catalog: Catalog): void {
  const { id, provider, aliases, isHidden, name, details, endpoint } = override
  const draft = drafts.get(id) ?? drafts.get(catalog.named(id)?.id ?? '') ?? ownedAs(id, drafts)
  if (draft === undefined) return
  const isMeant = (one: EndpointRecord): boolean => provider === null || one.providerSlug === provider
  draft.endpoints = isHidden
    ? draft.endpoints.filter((one) => !isMeant(one))
    : draft.endpoints.map((one) => (isMeant(one) ? overridden(one, endpoint) : one))
  if (draft.endpoints.length === 0) drafts.delete(draft.id)
  draft.given.push(...aliases)
  if (name !== undefined) draft.name = name
  draft.details = { ...draft.details, ...details }
}

/** A data policy is overridden field by field. */
const overridden = (one: EndpointRecord, over: ModelOverride['endpoint']): EndpointRecord => {
  const { dataPolicy, ...rest } = over
  const changed = { ...one, ...rest }
  return dataPolicy === undefined ? changed : withPolicy(changed, dataPolicy)
}

const ownedAs = (id: string, drafts: Map<string, Draft>): Draft | undefined =>
  drafts.values().find(({ ownNames }) => ownNames.some(({ provider, name }) => `${provider}/${name}` === id))

const dialectsOf = ({ dialect, alsoSpeaks = [] }: ProviderRecord): DialectName[] => [dialect, ...alsoSpeaks]

const idsOf = (models: readonly { readonly id: string }[]): string[] => models.map(({ id }) => id)

function draftOf(drafts: Map<string, Draft>, catalog: Catalog, id: string): Draft {
  const existing = drafts.get(id)
  if (existing !== undefined) return existing
  const facts = catalog.withId(id)
  const draft: Draft = {
    id,
    canonicalSlug: facts?.canonical_slug ?? id,
    name: facts?.name ?? id,
    created: facts?.created ?? 0,
    endpoints: [],
    aliases: facts?.aliases ?? [],
    given: [],
    ownNames: [],
    facts: facts === undefined ? undefined : factsOf(facts),
    details: facts === undefined ? {} : detailsOf(facts),
  }
  drafts.set(id, draft)
  return draft
}

const factsOf = (model: SeedModel): ModelFacts => ({
  tokenizer: model.tokenizer,
  instructType: model.instruct_type,
  huggingFaceId: model.hugging_face_id,
  knowledgeCutoff: model.knowledge_cutoff,
  hasOpenWeights: model.open_weights,
})

const detailsOf = ({ id, expiration_date, default_parameters }: SeedModel): ModelDetails =>
  defined({
    expirationDate: expiration_date,
    defaultParameters: default_parameters,
    supportedVoices: voicesOf(id),
  })

/** One more endpoint of a catalogue model, where the offer may be that and the provider has none of it yet. */
function addOffer(
  drafts: Map<string, Draft>,
  catalog: Catalog,
  offer: ModelOffer,
  complete: (endpoint: EndpointRecord) => EndpointRecord,
): void {
  const { endpoint } = offer
  const known = offer.mayJoinCatalog ? catalog.named(endpoint.modelId) : undefined
  const isTaken = (id: string): boolean =>
    drafts.get(id)?.endpoints.some((other) => other.providerSlug === endpoint.providerSlug) ?? false
  const id = known !== undefined && !isTaken(known.id) ? known.id : endpoint.modelId
  const draft = draftOf(drafts, catalog, id)
  if (draft.created === 0) draft.created = offer.created ?? 0
  if (draft.name === id) draft.name = offer.name ?? id
  const joined =
    id === endpoint.modelId ? endpoint : { ...endpoint, id: `${endpoint.providerSlug}/${id}`, modelId: id }
  draft.endpoints.push(complete(joined))
  for (const name of new Set([endpoint.modelId, endpoint.upstreamId, ...offer.aliases])) {
    draft.ownNames.push({ provider: endpoint.providerSlug, name })
  }
}

function modelOf(draft: Draft, benchmarks: BenchmarksById): ModelRecord {
  const { id, canonicalSlug, name, created, endpoints, facts, details } = draft
  return {
    id,
    canonicalSlug,
    name,
    created,
    endpoints,
    ...(facts === undefined ? {} : { facts }),
    ...benchmarks.get(id),
    ...details,
  }
}

type Names = Map<string, ModelRecord>

function namesOf(entries: readonly { draft: Draft; model: ModelRecord }[]): { exact: Names; anyCase: Names } {
  const exact: Names = new Map()
  const anyCase: Names = new Map()
  const claim = (name: string, model: ModelRecord): void => {
    if (!exact.has(name)) exact.set(name, model)
    const lower = name.toLowerCase()
    if (!anyCase.has(lower)) anyCase.set(lower, model)
  }
  for (const { model } of entries) claim(model.id, model)
  for (const { draft, model } of entries) for (const alias of draft.given) claim(alias, model)
  for (const { model } of entries) claim(model.canonicalSlug, model)
  for (const { draft, model } of entries) for (const alias of draft.aliases) claim(alias, model)
  for (const { draft, model } of entries) {
    for (const { provider, name } of draft.ownNames) claim(`${provider}/${name}`, model)
    for (const { providerSlug } of model.endpoints) claim(`${providerSlug}/${model.id}`, model)
  }
  const own = new Map<string, ModelRecord | null>()
  for (const { draft, model } of entries) {
    for (const { name } of draft.ownNames)
      own.set(name, own.has(name) && own.get(name) !== model ? null : model)
  }
  for (const [name, model] of own) if (model !== null) claim(name, model)
  return { exact, anyCase }
}
