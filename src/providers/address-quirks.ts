import type { ProviderQuirks } from '../core/snapshot.ts'

/** Vendors that have no row (nobody has facts about their models) or depart on routes beside chat, by their host. */
const BY_HOST: Readonly<Record<string, ProviderQuirks>> = {
  // Voyage's API reference, 2026: an unknown field is a 400.
  'api.voyageai.com': {
    embeddings: { dimensionsField: 'output_dimension', floatFormat: false },
    rankingBoundField: 'top_k',
  },
  'api.mistral.ai': { embeddings: { dimensionsField: 'output_dimension' } },
}

/** What is known of whoever an entry's address leads to. */
export function quirksOfAddress(baseUrl: string): ProviderQuirks {
  const host = URL.parse(baseUrl)?.hostname ?? ''
  return Object.hasOwn(BY_HOST, host) ? (BY_HOST[host] ?? {}) : {}
}
