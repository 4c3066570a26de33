import { loadCatalog } from './catalog/load.ts'
import { createDirectory } from './catalog/directory.ts'
import { type Config, ConfigError } from './config.ts'
import type { ModelOffer, Pricing, ProviderRecord } from './core/snapshot.ts'
import { demoOffer, demoProvider } from './providers/demo.ts'
import type { Discovered } from './providers/discovery.ts'
import { readEntries } from './providers/entries.ts'
import { environmentProviders, type ProviderDefaults } from './providers/environment.ts'
import type { Routing } from './snapshot/source.ts'

const TOTAL_TIMEOUT_MS = 30 * 60_000
const MAX_IN_FLIGHT_PER_PROVIDER = 4_096

export const defaultsOf = (config: Config): ProviderDefaults => ({
  timeouts: {
    firstByteMs: config.firstByteTimeoutMs,
    betweenBytesMs: config.stallTimeoutMs,
    totalMs: TOTAL_TIMEOUT_MS,
  },
  maxInFlight: MAX_IN_FLIGHT_PER_PROVIDER,
})

/** Providers and models of the settings and the environment. Throws a `ConfigError` with every problem. */
export const configuredRouting = (config: Config): Routing => withDiscovered(config, { providers: [], models: [] })

/** The same, and the local servers that were found. An entry of the settings wins over a server found under its name. */
export function withDiscovered(config: Config, found: Discovered): Routing {
  const defaults = defaultsOf(config)
  const fromEnvironment = environmentProviders(config.environment, defaults)
  const fromFile = readEntries(config.providers, config.environment, defaults)
  const problems = [...fromEnvironment.problems, ...fromFile.problems]
  if (problems.length > 0) throw new ConfigError(problems.map(({ path, message }) => `${path} ${message}`))

  const providers = new Map<string, ProviderRecord>()
  const sources = [demoProvider(defaults), ...found.providers, ...fromEnvironment.providers, ...fromFile.providers]
  for (const provider of sources) providers.set(provider.slug, provider)
  const replaced = new Set(fromFile.providers.map(({ slug }) => slug))
  const offers = [demoOffer, ...found.models.filter((model) => !replaced.has(model.endpoint.providerSlug)), ...fromFile.models]
  const all = [...providers.values()]
  return { providers: all, models: createDirectory(loadCatalog(), all, offers.map(priced(config))) }
}

/** A model that nobody priced gets the operator's price for such models, where one is set. */
const priced =
  ({ unpriced }: Config) =>
  (offer: ModelOffer): ModelOffer => {
    if (offer.endpoint.pricing !== null || unpriced === 'refuse') return offer
    const pricing: Pricing = { prompt: unpriced.prompt, completion: unpriced.completion, request: 0n }
    return { ...offer, endpoint: { ...offer.endpoint, pricing } }
  }
