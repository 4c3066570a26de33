import { type DataPolicy, mergedPolicy, RETAINS_NOTHING, withPolicy } from '../core/data-policy.ts'
import type { EndpointRecord, ProviderFacts, ProviderRecord } from '../core/snapshot.ts'
import { publishedAt } from '../providers/data-policies.ts'

/**
 * Completes the endpoints of a provider with what is true of all of them: what its vendor publishes, under what the
 * operator declares for the provider, under what an endpoint's own record says.
 */
export function completedBy(provider: ProviderRecord): (endpoint: EndpointRecord) => EndpointRecord {
  const published = publishedAt(provider)
  const { declared } = provider
  if (published === undefined && declared === undefined && !provider.isLocal) return (endpoint) => endpoint
  const isExcepted = published?.isExcepted
  const usual = joined(provider.isLocal ? { dataPolicy: RETAINS_NOTHING } : published, declared)
  const excepted = joined(undefined, declared)
  const quantizations = published?.quantizations ?? {}
  return (endpoint) => {
    const facts = isExcepted?.(endpoint) === true ? excepted : usual
    const quantization = Object.hasOwn(quantizations, endpoint.upstreamId)
      ? quantizations[endpoint.upstreamId]
      : undefined
    return completed(endpoint, quantization === undefined ? facts : { quantization, ...facts })
  }
}

function joined(base: ProviderFacts = {}, over: ProviderFacts = {}): ProviderFacts {
  return { ...base, ...over, dataPolicy: mergedPolicy(base.dataPolicy ?? {}, over.dataPolicy ?? {}) }
}

function completed(endpoint: EndpointRecord, facts: ProviderFacts): EndpointRecord {
  const { dataPolicy = {}, regions, quantization, isModerated } = facts
  return {
    ...withPolicy({ ...endpoint, isZdr: false, dataPolicy }, endpoint.dataPolicy ?? NOTHING),
    quantization: endpoint.quantization ?? quantization ?? null,
    ...(endpoint.regions === undefined && regions !== undefined ? { regions } : {}),
    ...(endpoint.isModerated === undefined && isModerated !== undefined ? { isModerated } : {}),
  }
}

const NOTHING: DataPolicy = {}
