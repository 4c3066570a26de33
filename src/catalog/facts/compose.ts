import type { ProviderKind } from '../../core/snapshot.ts'
import { cloudVendors, vendors } from '../../providers/compatible.ts'
import { CONTEXT_CACHES, lackedParameters } from '../../providers/vendor-quirks.ts'
import type { Seed, SeedEndpoint, SeedModel, SeedPricing } from '../seed.ts'
import { tokenizerOf } from './authors.ts'
import { dialectOf, inputOf, outputOf, parametersOf, reasoningOf } from './capabilities.ts'
import { withContextCache } from './context-cache.ts'
import { compare, type FactModel, type FactProviders } from './document.ts'
import { followsAnthropic, withHourWrites } from './hour-writes.ts'
import { createIdentities, partsOf } from './identity.ts'
import { withImageOutput } from './image-prices.ts'
import { type ListedModel, modelDetails } from './listed.ts'
import { pricingOf } from './prices.ts'
import { joinProfiles, type ProfiledModel, plainNameOf } from './profiles.ts'
import { withServiceTiers } from './service-tiers.ts'
import { supplement } from './supplement.ts'

/** The catalogue that these facts give: every model of every vendor. The same facts give the same catalogue. */
export function composeSeed(facts: FactProviders, listed: readonly ListedModel[]): Seed {
  const served = gather(facts, listed)
  return {
    version: 1,
    facts_at: newestOf(served.values()),
    ...rowsOf(served, new Map(listed.map((model) => [model.id, model]))),
  }
}

interface Served {
  readonly provider: string
  readonly facts: FactModel | ProfiledModel
}

/** Every model of every vendor, by its id; labs come before resellers, as in the vendor table. */
function gather(factProviders: FactProviders, listedModels: readonly ListedModel[]): Map<string, Served[]> {
  const listedAt = factProviders.get(LISTED_AT) ?? []
  const identities = createIdentities(
    listedModels,
    listedAt.map(({ id }) => id),
  )
  const byId = new Map<string, Served[]>()
  for (const { slug, facts = slug, kind } of [...vendors, ...cloudVendors]) {
    const listed = withSupplement(factProviders.get(facts) ?? [], supplement[slug] ?? [])
    const hasProfiles = kind === 'bedrock'
    const models = hasProfiles ? joinProfiles(listed) : listed
    const taken = new Set<string>()
    for (const model of models.sort(byPreference)) {
      if (model.id.startsWith('~') || dialectOf(model, slug) === undefined) continue
      const named = { ...model, id: hasProfiles ? plainNameOf(model.id) : cloudNameOf(model.id, kind) }
      const joined = identities.idOf(named, slug)
      // Two names of one provider for one model: the lesser one keeps a name of its own.
      const id = taken.has(joined) ? ownId(named, slug) : joined
      if (taken.has(id)) continue
      taken.add(id)
      byId.set(id, [...(byId.get(id) ?? []), { provider: slug, facts: model }])
    }
  }
  return new Map([...byId].sort(([left], [right]) => compare(left, right)))
}

/** Metadata with a price wins over the supplement. */
function withSupplement(listed: readonly FactModel[], supplement: readonly FactModel[]): FactModel[] {
  const priced = new Set(listed.flatMap(({ id, cost }) => (cost === null ? [] : [id])))
  const added = supplement.filter(({ id }) => !priced.has(id))
  const ids = new Set(added.map(({ id }) => id))
  return [...listed.filter(({ id }) => !ids.has(id)), ...added]
}

/** Vertex writes a version after an `@`, and marks models of other vendors. */
function cloudNameOf(id: string, kind: ProviderKind | undefined): string {
  if (kind !== 'vertex') return id
  const version = id.indexOf('@')
  return version < 0 ? id.replace(/-maas$/, '') : id.slice(0, version)
}

/** Current models with plain names come first. */
const byPreference = (left: FactModel, right: FactModel): number =>
  Number(left.deprecated) - Number(right.deprecated) ||
  left.id.length - right.id.length ||
  compare(left.id, right.id)

function ownId(model: FactModel, provider: string): string {
  const { author, variant } = partsOf(model.id, provider)
  const written = model.id.toLowerCase().split('/').at(-1) ?? model.id
  return `${author}/${written.slice(0, written.length - variant.length).replaceAll(':', '-')}${variant}`
}

function rowsOf(byId: ReadonlyMap<string, readonly Served[]>, listedById: ReadonlyMap<string, ListedModel>) {
  const modalities = table<string[]>()
  const parameters = table<string[]>()
  const pricings = table<SeedPricing>()
  const models: SeedModel[] = []
  const endpoints: Record<string, SeedEndpoint[]> = {}
  const authors = authorNames(listedById.values())
  for (const [id, all] of byId) {
    const listing = listedById.get(id) ?? listedById.get(id.split(':', 1)[0] ?? id)
    models.push(modelOf(id, all, listedById.get(id), authors))
    for (const { provider, facts: model } of all) {
      const priceOf = (cost: FactModel['cost']) => priceAt(provider, id, cost, listedById.get(id))
      const pricing = priceOf(CONTEXT_CACHES.includes(provider) ? withContextCache(model) : model.cost)
      endpoints[provider] ??= []
      endpoints[provider].push([
        models.length - 1,
        model.id,
        model.context,
        model.maxOutput,
        modalities.indexOf(inputOf(model)),
        modalities.indexOf(outputOf(model)),
        parameters.indexOf(parametersAt(provider, model, listing)),
        pricing === null ? null : pricings.indexOf(pricing),
        partsOf(model.id, provider).quantization,
        dialectOf(model, provider) ?? null,
        ...profilesOf(model, priceOf, pricings.indexOf),
      ])
    }
  }
  return {
    modalities: modalities.rows,
    parameters: parameters.rows,
    pricings: pricings.rows,
    models,
    endpoints,
  }
}

/** The provider of the second list: it has prices that the metadata lacks. */
const LISTED_AT = 'openrouter'

function priceAt(
  provider: string,
  modelId: string,
  cost: FactModel['cost'],
  listing: ListedModel | undefined,
): SeedPricing | null {
  const priced = pricingOf(cost)
  if (priced === null) return null
  const pricing = followsAnthropic(provider, modelId)
    ? withHourWrites(priced)
    : withServiceTiers(provider, modelId, withImageOutput(modelId, priced))
  const webSearch = provider === LISTED_AT ? listing?.webSearch : null
  return webSearch ? { ...pricing, web_search: webSearch } : pricing
}

function parametersAt(provider: string, model: FactModel, listing: ListedModel | undefined): string[] {
  const lacked = lackedParameters[provider] ?? []
  return parametersOf(model, listing?.parameters).filter((name) => !lacked.includes(name))
}

/** The last part of a row; empty without profiles. */
function profilesOf(
  model: FactModel | ProfiledModel,
  priceOf: (cost: FactModel['cost']) => SeedPricing | null,
  indexOf: (pricing: SeedPricing) => number,
): [] | [Record<string, number | null>] {
  if (!('profiles' in model) || Object.keys(model.profiles).length === 0) return []
  const indexes = Object.entries(model.profiles).map(([prefix, cost]) => {
    const pricing = priceOf(cost)
    return [prefix, pricing === null ? null : indexOf(pricing)] as const
  })
  return [Object.fromEntries(indexes)]
}

function modelOf(
  id: string,
  all: readonly Served[],
  listing: ListedModel | undefined,
  authors: ReadonlyMap<string, string>,
): SeedModel {
  const [author = ''] = id.split('/')
  const records = all.map((one) => one.facts)
  const released = records.flatMap((model) => model.releaseDate ?? []).sort(compare)[0]
  const plain = records.find((model) => model.reasoning) ?? records[0]
  const label = records[0]?.name ?? id
  return {
    id,
    canonical_slug: listing?.canonicalSlug ?? id,
    name: listing?.name ?? `${authors.get(author) ?? author}: ${label}`,
    created: released === undefined ? 0 : secondsOf(released),
    aliases: aliasesOf(id, records),
    tokenizer: listing?.tokenizer ?? tokenizerOf(id),
    instruct_type: listing?.instructType ?? null,
    hugging_face_id: listing?.huggingFaceId ?? null,
    knowledge_cutoff: records.find((model) => model.knowledge !== null)?.knowledge ?? null,
    open_weights: records[0]?.openWeights ?? false,
    reasoning: plain === undefined ? null : reasoningOf(plain),
    ...(listing === undefined ? {} : modelDetails(listing)),
  }
}

/** Names of the form `author/name` that providers use for it, other than its id. */
function aliasesOf(id: string, records: readonly FactModel[]): string[] {
  const written = records
    .map((model) => model.id)
    .filter((name) => /^[\w.-]+\/[\w.:-]+$/.test(name) && !/^tee\//i.test(name))
  return [...new Set(written)].filter((name) => name.toLowerCase() !== id).sort(compare)
}

const secondsOf = (date: string): number => {
  const [year = 1970, month = 1, day = 1] = date.split('-').map(Number)
  return Date.UTC(year, month - 1, day) / 1000
}

/** How labs are written before the colon of a model's name. */
function authorNames(models: Iterable<ListedModel>): Map<string, string> {
  const names = new Map<string, string>()
  for (const model of models) {
    const [author = ''] = model.id.split('/')
    const colon = model.name.indexOf(': ')
    if (colon > 0 && !names.has(author)) names.set(author, model.name.slice(0, colon))
  }
  return names
}

/** Rows that repeat are stored once. */
function table<Row>(): { rows: Row[]; indexOf(row: Row): number } {
  const indexes = new Map<string, number>()
  const rows: Row[] = []
  return {
    rows,
    indexOf(row) {
      const key = JSON.stringify(row)
      const known = indexes.get(key)
      if (known !== undefined) return known
      indexes.set(key, rows.length)
      return rows.push(row) - 1
    },
  }
}

function newestOf(served: Iterable<readonly Served[]>): string {
  let newest = ''
  for (const all of served) {
    for (const { facts } of all) if ((facts.updated ?? '') > newest) newest = facts.updated ?? ''
  }
  return newest
}
