import type { DialectName } from '../../core/events.ts'
import { type Price, parsePrice } from '../../core/money.ts'
import type { ProviderPreferences } from '../../core/request.ts'
import type { EndpointRecord, Pricing, ProviderRecord } from '../../core/snapshot.ts'
import { isPriced } from '../admission/price.ts'
import { formatRoute, gives, KINDS } from './kinds.ts'
import type { PlanInput } from './plan-input.ts'

/** Why an endpoint cannot serve a request: a rule (the API's vocabulary where it has one) and a sentence. */
export interface Exclusion {
  rule: string
  sentence: string
}

type Rule = (endpoint: EndpointRecord, provider: ProviderRecord, input: PlanInput) => Exclusion | null

const rules: readonly Rule[] = [
  ({ modelId, outputModalities }, _, { request: { apiType } }) =>
    gives(outputModalities, apiType)
      ? null
      : {
          rule: 'modality',
          sentence: `${modelId} gives ${outputModalities.join(', ')} and cannot be called for ${KINDS[apiType].purpose}${formatRoute(outputModalities)}`,
        },
  (endpoint, provider, { refusal }) => {
    if (!refusal) return null
    const refusals = dialectsOf(provider, endpoint).map((dialect) => refusal(dialect, endpoint))
    const first = refusals.every((reason) => reason !== null) ? refusals[0] : null
    return first ? { rule: 'input', sentence: `${provider.name} ${first}` } : null
  },
  (endpoint) =>
    endpoint.pricing
      ? null
      : {
          rule: 'unpriced',
          sentence: `${endpoint.modelId} has no price at ${endpoint.providerSlug}. Set "pricing" in its "providers:" entry ("0" is a price), or SLUICE_UNPRICED to a price for all such models`,
        },
  (_, provider, { request }) => namedBy(request.preferences, provider),
  (endpoint, _, { request: { preferences } }) =>
    (preferences.zdr !== true && preferences.dataCollection !== 'deny') || endpoint.isZdr
      ? null
      : { rule: 'data_policy:zdr', sentence: `${endpoint.providerSlug} is not known to retain no data` },
  (endpoint, _, { request: { preferences } }) =>
    preferences.enforceDistillableText !== true || endpoint.isDistillable === true
      ? null
      : {
          rule: 'distillable',
          sentence: `${endpoint.modelId} at ${endpoint.providerSlug} is not known to permit distillation. Set "distillable" in its "models:" entry where its author does`,
        },
  (endpoint, _, { request: { preferences } }) =>
    !preferences.quantizations || preferences.quantizations.includes(endpoint.quantization ?? 'unknown')
      ? null
      : {
          rule: 'quantization',
          sentence: `${endpoint.providerSlug} runs it as ${endpoint.quantization ?? 'unknown'}`,
        },
  (endpoint, _, { request: { preferences } }) => withinMaxPrice(endpoint, preferences),
  (endpoint, _, { request }) => {
    if (!request.preferences.requireParameters || endpoint.supportedParameters === null) return null
    const missing = request.parameters.filter((name) => !supports(endpoint.supportedParameters ?? [], name))
    return missing.length === 0
      ? null
      : {
          rule: 'require_parameters',
          sentence: `${endpoint.providerSlug} does not support ${missing.join(', ')}`,
        }
  },
]

/** What an endpoint is spoken to in: its own dialects, else those of its provider. Never empty. */
export const dialectsOf = (
  { dialect, alsoSpeaks = [] }: ProviderRecord,
  endpoint: EndpointRecord,
): readonly [DialectName, ...DialectName[]] => endpoint.dialects ?? [dialect, ...alsoSpeaks]

/** Two names of one bound: an endpoint that supports either gets the one that it knows. */
const OUTPUT_BOUNDS = ['max_tokens', 'max_completion_tokens']

const supports = (supported: readonly string[], name: string): boolean =>
  supported.includes(name) ||
  (OUTPUT_BOUNDS.includes(name) && OUTPUT_BOUNDS.some((bound) => supported.includes(bound)))

/** Null: this endpoint may serve the request. */
export function admits(
  endpoint: EndpointRecord,
  provider: ProviderRecord,
  mustBeFree: boolean,
  input: PlanInput,
): Exclusion | null {
  for (const rule of rules) {
    const exclusion = rule(endpoint, provider, input)
    if (exclusion) return exclusion
  }
  if (mustBeFree && !isFree(endpoint.pricing)) {
    return { rule: 'free', sentence: `${endpoint.providerSlug} does not serve it for free` }
  }
  return null
}

const isFree = (pricing: Pricing | null): boolean => pricing !== null && !isPriced(pricing)

/** Callers name providers by slug, by endpoint tag (`deepinfra/fp8`) or by display name. */
export function isNamed(names: readonly string[], provider: ProviderRecord): boolean {
  const displayName = provider.name.toLowerCase()
  return names.some(
    (name) => name === provider.slug || name.split('/')[0] === provider.slug || name === displayName,
  )
}

function namedBy(preferences: ProviderPreferences, provider: ProviderRecord): Exclusion | null {
  if (preferences.only && !isNamed(preferences.only, provider)) {
    return { rule: 'allowed_providers', sentence: `"provider.only" leaves out ${provider.slug}` }
  }
  if (preferences.ignore && isNamed(preferences.ignore, provider)) {
    return { rule: 'allowed_providers', sentence: `"provider.ignore" names ${provider.slug}` }
  }
  if (preferences.order && !preferences.allowFallbacks && !isNamed(preferences.order, provider)) {
    return {
      rule: 'allowed_providers',
      sentence: `"provider.order" without fallbacks leaves out ${provider.slug}`,
    }
  }
  return null
}

function withinMaxPrice(endpoint: EndpointRecord, { maxPrice }: ProviderPreferences): Exclusion | null {
  const pricing = endpoint.pricing
  if (!maxPrice || !pricing) return null
  const isWithin =
    isAtMost(pricing.prompt * TOKENS_PER_MILLION, maxPrice.prompt) &&
    isAtMost(pricing.completion * TOKENS_PER_MILLION, maxPrice.completion) &&
    isAtMost(pricing.image ?? 0n, maxPrice.image) &&
    isAtMost(pricing.audio ?? 0n, maxPrice.audio) &&
    isAtMost(pricing.request, maxPrice.request)
  return isWithin
    ? null
    : { rule: 'max_price', sentence: `${endpoint.providerSlug} is dearer than "provider.max_price"` }
}

const TOKENS_PER_MILLION = 1_000_000n
const isAtMost = (price: Price, bound: string | undefined): boolean =>
  bound === undefined || price <= parsePrice(bound)
