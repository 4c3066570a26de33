import type { EndpointRecord, ModelDirectory, Pricing, ProviderRecord } from '../core/snapshot.ts'
import { diffOf, pricesOf } from './diff.ts'
import { mediansOf, type Priced, type PriceWarning } from './outliers.ts'
import type { CatalogStore } from './store.ts'

/**
 * What can be called at a price that is more than ten times off: of the operator's own prices, and of those that a
 * refresh has changed. Without either, nothing is computed.
 */
export function unusualPrices(
  { providers, models }: { providers: readonly ProviderRecord[]; models: ModelDirectory },
  own: ReadonlySet<Pricing>,
  store: CatalogStore,
): PriceWarning[] {
  const { seed, refreshed } = store.current()
  const warnings: PriceWarning[] = []
  if (own.size > 0) {
    const medians = mediansOf(pricesOf(seed))
    for (const { endpoints } of models.list()) {
      for (const endpoint of endpoints) {
        const { pricing } = endpoint
        if (pricing !== null && own.has(pricing))
          warnings.push(...medians.warningsOf(pricedOf(endpoint, pricing)))
      }
    }
  }
  if (refreshed === null) return warnings
  const callable = new Set(providers.map(({ slug }) => slug))
  const ofRefresh = diffOf(store.builtIn(), seed).warnings.filter(({ provider }) => callable.has(provider))
  return [...warnings, ...ofRefresh]
}

/** The same for given endpoints, with prices from any source. */
export function unusualPricesOf(endpoints: readonly EndpointRecord[], store: CatalogStore): PriceWarning[] {
  const medians = mediansOf(pricesOf(store.current().seed))
  return endpoints.flatMap((endpoint) =>
    endpoint.pricing === null ? [] : medians.warningsOf(pricedOf(endpoint, endpoint.pricing)),
  )
}

const pricedOf = (
  { providerSlug, modelId, outputModalities }: EndpointRecord,
  { prompt, completion }: Pricing,
): Priced => ({
  provider: providerSlug,
  model: modelId,
  // A model of an entry without output modalities outputs text.
  kind: outputModalities.length === 0 ? 'text' : outputModalities.toSorted().join('+'),
  prompt,
  completion,
})
