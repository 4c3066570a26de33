import type { Catalog } from './catalog/catalog.ts'
import { createDirectory } from './catalog/directory.ts'
import { loadCatalog } from './catalog/load.ts'
import { type Config, ConfigError } from './config.ts'
import type { EndpointRecord, Pricing, ProviderRecord } from './core/snapshot.ts'
import { demoOffer, demoProvider } from './providers/demo.ts'
import type { Discovered } from './providers/discovery.ts'
import { readEntries } from './providers/entries.ts'
import { environmentProviders, type ProviderDefaults } from './providers/environment.ts'
import type { Routing } from './snapshot/source.ts'

const TOTAL_TIMEOUT_MS = 30 * 60_000
const MAX_IN_FLIGHT_PER_PROVIDER = 4_096

/** Who can be called and what for: the settings, the environment, the built-in model, and what was found. */
export interface RoutingSource {
  /** What the settings and the environment say: fixed while the process lives. */
  readonly configured: readonly ProviderRecord[]
  readonly defaults: ProviderDefaults
  /** All of it and these local servers. */
  withDiscovered(found: Discovered): Routing
}

export const NOTHING_DISCOVERED: Discovered = { providers: [], models: [] }

/** Reads settings and environment once. Throws a `ConfigError` with every problem. */
export function createRoutingSource(config: Config): RoutingSource {
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
  const problems = [...environment.problems, ...file.problems]
  if (problems.length > 0) throw new ConfigError(problems.map(({ path, message }) => `${path} ${message}`))

  const price = pricedBy(config)
  const catalog = withPrices(loadCatalog(), price)
  // A later one of the same slug wins: the operator's own entry over the environment.
  const bySlug = new Map(
    [...environment.providers, ...file.providers].map((provider) => [provider.slug, provider]),
  )
  const configured = [...bySlug.values()]
  return {
    configured,
    defaults,
    withDiscovered(found) {
      const local = found.providers.filter(({ slug }) => !bySlug.has(slug))
      const localSlugs = new Set(local.map(({ slug }) => slug))
      const localModels = found.models.filter(({ endpoint }) => localSlugs.has(endpoint.providerSlug))
      const providers = [...configured, ...local, demoProvider(defaults)]
      const offers = [demoOffer, ...localModels, ...file.models]
      const priced = offers.map((offer) => ({ ...offer, endpoint: price(offer.endpoint) }))
      return { providers, models: createDirectory(catalog, providers, priced) }
    },
  }
}

type Price = (endpoint: EndpointRecord) => EndpointRecord

/** A model that nobody priced gets the operator's price for such models, where one is set. */
function pricedBy({ unpriced }: Config): Price {
  if (unpriced === 'refuse') return (endpoint) => endpoint
  const pricing: Pricing = { prompt: unpriced.prompt, completion: unpriced.completion, request: 0n }
  return (endpoint) => (endpoint.pricing === null ? { ...endpoint, pricing } : endpoint)
}

const withPrices = (catalog: Catalog, price: Price): Catalog => ({
  ...catalog,
  endpointsOf: (slug, dialect) => catalog.endpointsOf(slug, dialect).map(price),
})
