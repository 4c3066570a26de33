import type { Static } from '@sinclair/typebox'
import type { Snapshot } from '../../core/snapshot.ts'
import type { ProviderDeps } from './deps.ts'
import type { configuredProvider } from './schema.ts'

/** Every provider in use, wherever it was configured, without secrets. */
export function listConfigured({ snapshot, providers }: ProviderDeps): Static<typeof configuredProvider>[] {
  const { providersBySlug, models } = snapshot.current()
  const counts = countsOf(models)
  return [...providersBySlug.values()].map((provider) => ({
    slug: provider.slug,
    name: provider.name,
    origin: providers.originOf(provider.slug) ?? 'found',
    dialects: [provider.dialect, ...(provider.alsoSpeaks ?? [])],
    base_url: provider.baseUrl,
    credentials: provider.credentials
      .filter(({ secret, aws, entra, google }) => secret !== null || aws || entra || google)
      .map(({ id, weight = null }) => ({ id, weight })),
    model_count: counts.get(provider.slug) ?? 0,
  }))
}

function countsOf(models: Snapshot['models']): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { endpoints } of models.list()) {
    for (const { providerSlug } of endpoints) counts.set(providerSlug, (counts.get(providerSlug) ?? 0) + 1)
  }
  return counts
}
