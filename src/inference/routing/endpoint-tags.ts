import type { EndpointRecord, ProviderRecord } from '../../core/snapshot.ts'

/**
 * Whether a list of the caller's (`provider.only`, `order`, `ignore`) names an endpoint. A name is a provider's slug or
 * display name, which names each of its endpoints, or an endpoint tag: the slug followed by what must be true of the
 * endpoint, each after a slash: its quantization (`deepinfra/fp8`) or a region (`google-vertex/us-east5`).
 */
export function isNamed(
  names: readonly string[],
  provider: ProviderRecord,
  endpoint: EndpointRecord,
): boolean {
  return rankIn(names, provider, endpoint) < names.length
}

/** The position of the first name that names the endpoint; the length of the list if none does. */
export function rankIn(names: readonly string[], provider: ProviderRecord, endpoint: EndpointRecord): number {
  const { slug } = provider
  for (let rank = 0; rank < names.length; rank++) {
    const name = names[rank] ?? ''
    if (name === slug) return rank
    if (name.startsWith(slug) && name[slug.length] === '/') {
      if (hasTags(name.slice(slug.length + 1), provider, endpoint)) return rank
    }
    if (name.length === provider.name.length && name === provider.name.toLowerCase()) return rank
  }
  return names.length
}

function hasTags(
  tags: string,
  { region }: ProviderRecord,
  { quantization, regions }: EndpointRecord,
): boolean {
  return tags
    .split('/')
    .every((tag) => tag === quantization?.toLowerCase() || tag === region || regions?.includes(tag) === true)
}
