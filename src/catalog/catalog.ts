import type { DialectName } from '../core/events.ts'
import { parsePrice } from '../core/money.ts'
import {
  type Pricing,
  type PricingTier,
  parsePrices,
  repriced,
  SERVICE_TIERS,
  type ServiceTier,
} from '../core/pricing.ts'
import type { EndpointRecord, ReasoningFacts } from '../core/snapshot.ts'
import type {
  Seed,
  SeedEndpoint,
  SeedModel,
  SeedPricing,
  SeedReasoning,
  SeedServiceTier,
  SeedTier,
} from './seed.ts'

/** Model metadata of all providers, configured or not. Immutable. */
export interface Catalog {
  /** In order of id. */
  readonly models: readonly SeedModel[]
  /**
   * By id, canonical slug, alias, or the part after the author if only one model has it and it has a digit (`auto`
   * and `free` say too little). In any case, and with dots and dashes alike: labs and resellers differ in them
   * (`claude-sonnet-4-5`, `claude-sonnet-4.5`).
   */
  named(name: string): SeedModel | undefined
  /** The model of exactly this id. */
  withId(id: string): SeedModel | undefined
  /** An id of an earlier catalogue that this one no longer has. */
  isRetired(name: string): boolean
  /**
   * What a provider serves in one of these dialects; empty for a provider that the catalogue does not know. Of a model
   * that it has under several names, the one with the first of `prefixes` that there is, else the plain one.
   */
  endpointsOf(
    providerSlug: string,
    dialects: readonly DialectName[],
    prefixes?: readonly string[],
  ): readonly EndpointRecord[]
  /** Slugs of the providers that serve this model, its author first. */
  providersOf(model: SeedModel): string[]
}

export function openCatalog(seed: Seed, retired: readonly string[] = []): Catalog {
  const pricings: (Pricing | undefined)[] = []
  let names: ReadonlyMap<string, SeedModel> | undefined
  let byId: ReadonlyMap<string, SeedModel> | undefined

  const pricingAt = (index: number | null): Pricing | null => {
    const written = index === null ? undefined : seed.pricings[index]
    if (index === null || written === undefined) return null
    pricings[index] ??= pricingOf(written)
    return pricings[index]
  }

  const retiredNames = new Set(retired.map(folded))

  return {
    models: seed.models,
    isRetired: (name) => retiredNames.has(folded(name)),
    named(name) {
      names ??= namesOf(seed.models)
      return names.get(folded(name))
    },
    withId(id) {
      byId ??= new Map(seed.models.map((model) => [model.id, model]))
      return byId.get(id)
    },
    providersOf(model) {
      const index = seed.models.indexOf(model)
      const author = model.id.slice(0, model.id.indexOf('/'))
      const slugs = Object.keys(seed.endpoints).filter((slug) =>
        seed.endpoints[slug]?.some(([modelIndex]) => modelIndex === index),
      )
      return slugs.toSorted((a, b) => Number(b === author) - Number(a === author))
    },
    endpointsOf(providerSlug, dialects, prefixes = []) {
      const rows = Object.hasOwn(seed.endpoints, providerSlug) ? (seed.endpoints[providerSlug] ?? []) : []
      return rows.flatMap((row) => {
        const [modelIndex, , , , , , , , , only] = row
        const model = seed.models[modelIndex]
        if (model === undefined) return []
        const name = nameIn(row, prefixes)
        const endpoint = endpointOf(seed, row, providerSlug, model, name, pricingAt(name.pricing))
        if (only === null) return [endpoint]
        const dialect = dialects.find((spoken) => spoken === only)
        return dialect === undefined ? [] : [{ ...endpoint, dialects: [dialect] as const }]
      })
    },
  }
}

/** One of the names that a provider has for a model. */
interface UpstreamName {
  readonly upstreamId: string
  /** Index in the seed's `pricings`. */
  readonly pricing: number | null
  /** The only region that serves it, if its name has one. */
  readonly region?: string
}

function nameIn(
  [, plain, , , , , , pricing, , , profiles]: SeedEndpoint,
  prefixes: readonly string[],
): UpstreamName {
  const prefix = profiles && prefixes.find((one) => Object.hasOwn(profiles, one))
  if (profiles === undefined || prefix === undefined) return { upstreamId: plain, pricing }
  const upstreamId = `${prefix}.${plain}`
  const named = { upstreamId, pricing: profiles[prefix] ?? null }
  return prefix === EVERYWHERE ? named : { ...named, region: prefix }
}

const EVERYWHERE = 'global'

function endpointOf(
  seed: Seed,
  row: SeedEndpoint,
  providerSlug: string,
  { id: modelId, reasoning }: SeedModel,
  { upstreamId, region }: UpstreamName,
  pricing: Pricing | null,
): EndpointRecord {
  const [, , contextLength, maxCompletionTokens, input, output, parameters, , quantization] = row
  return {
    id: `${providerSlug}/${modelId}`,
    providerSlug,
    modelId,
    upstreamId,
    contextLength,
    maxCompletionTokens,
    inputModalities: seed.modalities[input] ?? [],
    outputModalities: seed.modalities[output] ?? [],
    supportedParameters: seed.parameters[parameters] ?? null,
    pricing,
    quantization,
    ...(reasoning === null ? {} : { reasoning: reasoningOf(reasoning) }),
    isZdr: false,
    ...(region === undefined ? {} : { regions: [region] }),
  }
}

const reasoningOf = (facts: SeedReasoning): ReasoningFacts => ({
  efforts: facts.supported_efforts,
  takesBudget: facts.supports_max_tokens,
  mayBeOff: !facts.mandatory,
})

const folded = (name: string): string => name.toLowerCase().replace(/[._]/g, '-')

/** Folded names. Later kinds of names never replace earlier ones. */
function namesOf(models: readonly SeedModel[]): Map<string, SeedModel> {
  const names = new Map<string, SeedModel>()
  const bare = new Map<string, SeedModel | null>()
  for (const model of models) if (!names.has(folded(model.id))) names.set(folded(model.id), model)
  for (const model of models) {
    for (const name of [model.canonical_slug, ...model.aliases]) {
      const key = folded(name)
      if (!names.has(key)) names.set(key, model)
    }
    const slug = folded(model.id.slice(model.id.indexOf('/') + 1))
    if (/\d/.test(slug)) bare.set(slug, bare.has(slug) ? null : model)
  }
  for (const [slug, model] of bare) if (model !== null && !names.has(slug)) names.set(slug, model)
  return names
}

function pricingOf(written: SeedPricing): Pricing {
  const pricing: Pricing = {
    prompt: parsePrice(written.prompt),
    completion: parsePrice(written.completion),
    request: 0n,
    ...differingOf(written),
  }
  if (written.service_tiers === undefined) return pricing
  return { ...pricing, serviceTiers: serviceTiersOf(pricing, written.service_tiers) }
}

function serviceTiersOf(
  pricing: Pricing,
  written: NonNullable<SeedPricing['service_tiers']>,
): NonNullable<Pricing['serviceTiers']> {
  const tiers: Partial<Record<ServiceTier, Pricing>> = {}
  for (const tier of SERVICE_TIERS) {
    const differing = written[tier]
    if (differing !== undefined) tiers[tier] = repriced(pricing, differingOf(differing))
  }
  return tiers
}

const differingOf = (written: SeedServiceTier): Partial<Pricing> => ({
  ...parsePrices(written),
  ...(written.tiers === undefined ? {} : { tiers: written.tiers.map(tierOf) }),
})

const tierOf = (tier: SeedTier): PricingTier => ({
  minPromptTokens: tier.min_prompt_tokens,
  ...parsePrices(tier),
})
