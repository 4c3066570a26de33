import { type BenchmarksById, readBenchmarks } from '../catalog/benchmarks.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { createDirectory } from '../catalog/directory.ts'
import { readOverrides } from '../catalog/override-schema.ts'
import { type ModelOverride, type OverrideSurroundings, overrideProblems } from '../catalog/overrides.ts'
import { builtInStore, type CatalogStore, openCatalogStore } from '../catalog/store.ts'
import { type Config, ConfigError } from '../config.ts'
import type { ConfigProblem } from '../core/problem.ts'
import type { EndpointRecord, ModelOffer, Pricing, ProviderRecord } from '../core/snapshot.ts'
import { vendors } from '../providers/compatible.ts'
import { demoOffer, demoProvider } from '../providers/demo.ts'
import type { Discovered } from '../providers/discovery.ts'
import { type Entries, readEntries } from '../providers/entries.ts'
import {
  environmentProviders,
  type ProviderDefaults,
  uncredentialled,
  vendorProvider,
} from '../providers/environment.ts'
import type { Routing } from '../snapshot/source.ts'

const TOTAL_TIMEOUT_MS = 30 * 60_000
const MAX_IN_FLIGHT_PER_PROVIDER = 4_096

/** The origin of a provider's configuration. `found`: a local server that identified itself. */
type ProviderOrigin = 'settings' | 'environment' | 'stored' | 'found' | 'built-in'

/** Stored providers, entries and credentials, read again after each change. */
export interface StoredRouting {
  readonly providers: readonly ProviderRecord[]
  /** The models of stored entries. */
  readonly models: readonly ModelOffer[]
}

/** Providers and models from the settings, the environment, the database, local servers and the built-in model. */
export interface RoutingSource {
  /** All providers except local servers. */
  readonly configured: readonly ProviderRecord[]
  readonly defaults: ProviderDefaults
  /** Null if no provider has this slug, or only a local server. */
  originOf(slug: string): ProviderOrigin | null
  /** Slugs of stored providers that are unused, because the settings or the environment configure the same provider. */
  readonly outranked: readonly string[]
  /** The operator's prices, in entries and model overrides. */
  readonly ownPrices: ReadonlySet<Pricing>
  /** The names that model overrides may refer to. */
  surroundings(): OverrideSurroundings
  /** The routing with these local servers. */
  withDiscovered(found: Discovered): Routing
}

export const NOTHING_DISCOVERED: Discovered = { providers: [], models: [] }

/** Providers and models of the settings and the environment, which do not change while the process runs. */
export interface Configured {
  readonly defaults: ProviderDefaults
  readonly environment: readonly ProviderRecord[]
  readonly entries: readonly ProviderRecord[]
  readonly models: readonly ModelOffer[]
  readonly overrides: readonly ModelOverride[]
  readonly benchmarks: BenchmarksById
}

/**
 * Reads settings and environment; names of models are looked up in the catalogue of `store`. Throws a `ConfigError` with
 * every problem.
 */
export function readConfigured(config: Config, store?: Pick<CatalogStore, 'current'>): Configured {
  const defaults: ProviderDefaults = {
    timeouts: {
      firstByteMs: config.firstByteTimeoutMs,
      betweenBytesMs: config.stallTimeoutMs,
      totalMs: TOTAL_TIMEOUT_MS,
    },
    maxInFlight: MAX_IN_FLIGHT_PER_PROVIDER,
  }
  const environment = environmentProviders(config.environment, defaults)
  const file = readEntries(config.providers, config.environment, defaults)
  const ofModels = readModels(config, file, store)
  const problems = [...environment.problems, ...file.problems, ...ofModels.problems]
  if (problems.length > 0) throw new ConfigError(problems.map(({ path, message }) => `${path} ${message}`))
  return {
    defaults,
    environment: environment.providers,
    entries: file.providers,
    models: file.models,
    overrides: ofModels.overrides,
    benchmarks: ofModels.benchmarks,
  }
}

/**
 * The model overrides of the settings. Names are looked up in the catalogue of `store`, else in that of the data folder,
 * which is read and never created.
 */
export function readModels(
  { models, benchmarks, data }: Pick<Config, 'models' | 'benchmarks' | 'data'>,
  file: Pick<Entries, 'providers' | 'models'>,
  store?: Pick<CatalogStore, 'current'>,
): { overrides: ModelOverride[]; benchmarks: BenchmarksById; problems: ConfigProblem[] } {
  const { overrides, problems } = readOverrides(models)
  const scored = benchmarks === null ? null : readBenchmarks(benchmarks)
  if (overrides.length > 0) {
    const { catalog } = (store ?? openCatalogStore(data, () => undefined)).current()
    const entries = file.providers.map(({ slug }) => slug)
    problems.push(...overrideProblems(overrides, { catalog, offers: [demoOffer, ...file.models], entries }))
  }
  return {
    overrides,
    benchmarks: scored?.benchmarks ?? new Map(),
    problems: [...problems, ...(scored?.problems ?? [])],
  }
}

/**
 * `stored` reads the stored providers. A provider is configured entirely by one source: its `providers:` entry, else the
 * environment, else the database. So a stored credential is never sent to an address in the settings. Models come from the
 * catalogue in `store`; overrides in the settings take precedence over stored ones.
 */
export function createRoutingSource(
  config: Config,
  stored: () => StoredRouting,
  { defaults, environment, entries, models, overrides, benchmarks } = readConfigured(config),
  store: Pick<CatalogStore, 'current'> = builtInStore(),
  storedOverrides: () => readonly ModelOverride[] = () => [],
): RoutingSource {
  const price = pricedBy(config)
  const fixed = new Set([...environment, ...entries].map(({ slug }) => slug))
  const now = (): Chosen => {
    const { providers, models: offered } = stored()
    const used = providers.filter(({ slug }) => !fixed.has(slug))
    // The last provider with a slug takes precedence.
    const bySlug = new Map([...used, ...environment, ...entries].map((provider) => [provider.slug, provider]))
    const slugs = new Set(used.map(({ slug }) => slug))
    return {
      bySlug,
      models: [...offered.filter(({ endpoint }) => slugs.has(endpoint.providerSlug)), ...models],
    }
  }
  return {
    get configured() {
      return [...now().bySlug.values()]
    },
    defaults,
    originOf(slug) {
      if (slug === demoOffer.endpoint.providerSlug) return 'built-in'
      if (entries.some((entry) => entry.slug === slug)) return 'settings'
      if (environment.some((provider) => provider.slug === slug)) return 'environment'
      return stored().providers.some((provider) => provider.slug === slug) ? 'stored' : null
    },
    get ownPrices() {
      return new Set([...now().models, ...overrides].flatMap(({ endpoint }) => endpoint.pricing ?? []))
    },
    surroundings() {
      const chosen = now()
      const own = [
        ...chosen.models.map(({ endpoint }) => endpoint.providerSlug),
        ...entries.map(({ slug }) => slug),
      ]
      return {
        catalog: store.current().catalog,
        offers: [demoOffer, ...chosen.models],
        entries: [...new Set(own)],
      }
    },
    get outranked() {
      return stored()
        .providers.map(({ slug }) => slug)
        .filter((slug) => fixed.has(slug))
    },
    withDiscovered(found) {
      const { bySlug, models: own } = now()
      const local = found.providers.filter(({ slug }) => !bySlug.has(slug))
      const localSlugs = new Set(local.map(({ slug }) => slug))
      const localModels = found.models.filter(({ endpoint }) => localSlugs.has(endpoint.providerSlug))
      const providers = [...bySlug.values(), ...local, demoProvider(defaults)]
      const offers = [demoOffer, ...localModels, ...own]
      const priced = offers.map((offer) => ({ ...offer, endpoint: price(offer.endpoint) }))
      const catalog = withPrices(store.current().catalog, price)
      const allOverrides = [...storedOverrides(), ...overrides]
      const directoryOf = (of: readonly ProviderRecord[]) =>
        createDirectory(catalog, of, priced, allOverrides, benchmarks)
      const withByok: Routing['withByok'] = (slugs) => {
        const all = [...providers, ...uncredentialled(config.environment, defaults, slugs)]
        return { providers: all, models: directoryOf(all) }
      }
      const routing = { providers, models: directoryOf(providers), withByok }
      if (config.modelsList === 'configured') return routing
      const all = [...providers, ...unconfigured(providers, defaults)]
      return { ...routing, shown: { providers: all, models: directoryOf(all) } }
    },
  }
}

/** The providers in use, one per slug. */
interface Chosen {
  readonly bySlug: ReadonlyMap<string, ProviderRecord>
  readonly models: readonly ModelOffer[]
}

/** Vendors without a credential. */
const unconfigured = (
  providers: readonly ProviderRecord[],
  defaults: ProviderDefaults,
): readonly ProviderRecord[] =>
  vendors
    .filter(({ slug }) => !providers.some((provider) => provider.slug === slug))
    .map((vendor) => vendorProvider(vendor, vendor.baseUrl, [], defaults))

/** The current routing, for partial changes. */
export interface LiveRouting {
  current(): Routing
  /** The set of local servers changed. */
  discovered(found: Discovered): Routing
  readonly surroundings: RoutingSource['surroundings']
  readonly defaults: ProviderDefaults
  originOf(slug: string): ProviderOrigin | null
}

export function createLiveRouting(source: RoutingSource): LiveRouting {
  let found = NOTHING_DISCOVERED
  return {
    surroundings: source.surroundings,
    defaults: source.defaults,
    originOf: (slug) =>
      source.originOf(slug) ?? (found.providers.some((one) => one.slug === slug) ? 'found' : null),
    current: () => source.withDiscovered(found),
    discovered(changed) {
      found = changed
      return source.withDiscovered(found)
    },
  }
}

type Price = (endpoint: EndpointRecord) => EndpointRecord

/** The operator's price for models without one, if it is set. */
function pricedBy({ unpriced }: Config): Price {
  if (unpriced === 'refuse') return (endpoint) => endpoint
  const pricing: Pricing = { prompt: unpriced.prompt, completion: unpriced.completion, request: 0n }
  return (endpoint) => (endpoint.pricing === null ? { ...endpoint, pricing } : endpoint)
}

const withPrices = (catalog: Catalog, price: Price): Catalog => ({
  ...catalog,
  endpointsOf: (slug, dialects, prefixes) => catalog.endpointsOf(slug, dialects, prefixes).map(price),
})
