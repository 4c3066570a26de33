import { forbids } from '../../core/guardrail.ts'
import { type Price, parsePrice } from '../../core/money.ts'
import type { ProviderPreferences, RoutedRequest } from '../../core/request.ts'
import type { Route } from '../../core/route.ts'
import { SAMPLING_PARAMETERS } from '../../core/sampling-parameters.ts'
import type { EndpointRecord, Pricing, ProviderRecord } from '../../core/snapshot.ts'
import { isPriced } from '../admission/price.ts'
import { notRun } from '../tools/requested.ts'
import { dataExclusion } from './data-rules.ts'
import { dialectsOf } from './endpoint-dialects.ts'
import { isNamed } from './endpoint-tags.ts'
import { canOutput, formatRoute, KINDS } from './kinds.ts'
import { isMet, type Need, type Needs } from './needs.ts'
import type { PlanInput } from './plan-input.ts'
import type { Resolved } from './resolve.ts'

/** Why an endpoint cannot serve a request: the rule, named as in the API, and a sentence for the caller. */
export interface Exclusion {
  rule: string
  sentence: string
  /** The guardrail's name, if one is the rule. */
  guardrail?: string
}

type Rule = (endpoint: EndpointRecord, provider: ProviderRecord, input: PlanInput) => Exclusion | null

const rules: readonly Rule[] = [
  ({ modelId, outputModalities }, _, { request: { apiType } }) =>
    canOutput(outputModalities, apiType)
      ? null
      : {
          rule: 'modality',
          sentence: `${modelId} outputs ${outputModalities.join(', ')} and cannot be called for ${KINDS[apiType].purpose}${formatRoute(outputModalities)}`,
        },
  (endpoint, provider, { refusal }) => {
    if (!refusal) return null
    const refusals = dialectsOf(provider, endpoint).map((dialect) => refusal(dialect, endpoint, provider))
    const first = refusals.every((reason) => reason !== null) ? refusals[0] : null
    return first ? { rule: 'input', sentence: `${provider.name} ${first}` } : null
  },
  (endpoint, provider, { request, request: { serverTool, dialect } }) =>
    serverTool === undefined ||
    ((provider.quirks.serverTools === true || !serverTool.includes(':')) &&
      dialect !== null &&
      dialectsOf(provider, endpoint).includes(dialect))
      ? null
      : { rule: 'input', sentence: notRun(serverTool, request) },
  (endpoint) =>
    endpoint.pricing
      ? null
      : {
          rule: 'unpriced',
          sentence: `${endpoint.modelId} has no price at ${endpoint.providerSlug}. Set "pricing" in its "providers:" entry ("0" is a price), or SLUICE_UNPRICED to a price for all such models`,
        },
  (endpoint, provider, { request }) => namedBy(request.preferences, provider, endpoint),
  (endpoint, _, { request: { preferences } }) => dataExclusion(endpoint, preferences),
  (endpoint, _, { request: { preferences } }) =>
    preferences.enforceDistillableText !== true || endpoint.isDistillable === true
      ? null
      : {
          rule: 'distillable',
          sentence: `${endpoint.modelId} at ${endpoint.providerSlug} is not known to permit distillation. Set "distillable" in its "models:" entry where its author does`,
        },
  (endpoint, _, { request: { preferences } }) =>
    !preferences.quantizations ||
    preferences.quantizations.includes(endpoint.quantization?.toLowerCase() ?? 'unknown')
      ? null
      : {
          rule: 'quantization',
          sentence:
            endpoint.quantization === null
              ? `the quantization at ${endpoint.providerSlug} is not known. Set "quantization" in its "models:" or "providers:" entry`
              : `${endpoint.providerSlug} runs it as ${endpoint.quantization}`,
        },
  (endpoint, _, { request: { preferences } }) => withinMaxPrice(endpoint, preferences),
  (endpoint, _, { request }) =>
    request.preferences.requireParameters ? missingParameters(endpoint, request) : null,
]

/** Names of one thing: an endpoint that supports one of them is sent that one. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['max_tokens', 'max_completion_tokens'],
  ['reasoning', 'reasoning_effort', 'include_reasoning'],
]

const supports = (supported: readonly string[], name: string): boolean =>
  supported.includes(name) ||
  (name === 'response_format' && supported.includes('structured_outputs')) ||
  SYNONYMS.some((names) => names.includes(name) && names.some((other) => supported.includes(other)))

/** An endpoint without a list supports nothing that is known, so `require_parameters` excludes it. */
function missingParameters(
  { providerSlug, modelId, supportedParameters: supported }: EndpointRecord,
  { parameters, body }: RoutedRequest,
): Exclusion | null {
  const unnamed = SAMPLING_PARAMETERS.filter(
    (name) => !parameters.includes(name) && (body[name] ?? null) !== null,
  )
  const missing = [...parameters, ...unnamed].filter((name) => !supports(supported ?? [], name))
  if (missing.length === 0) return null
  const sentence =
    supported === null
      ? `whether ${modelId} at ${providerSlug} supports ${missing.join(', ')} is not known. Set "supported_parameters" in its "models:" or "providers:" entry`
      : `${providerSlug} does not support ${missing.join(', ')}`
  return { rule: 'require_parameters', sentence }
}

/** Only `require_parameters` excludes an endpoint of which nothing is known, and never because of a length. */
function needExclusion(
  need: Need,
  needs: Needs,
  { endpoint, provider }: Route,
  { model }: Resolved,
  { request: { preferences } }: PlanInput,
): Exclusion | null {
  const has = isMet(need, needs, endpoint, provider, model)
  if (has === false) return { rule: need.rule, sentence: need.lack(endpoint, needs) }
  if (has === true || need.isLength || !preferences.requireParameters) return null
  return {
    rule: 'require_parameters',
    sentence: `whether ${endpoint.modelId} at ${endpoint.providerSlug} ${need.asks(needs)} is not known`,
  }
}

/** The first rule that excludes an endpoint; null if it can serve the request. */
export function exclusionOf(entry: Resolved, route: Route, input: PlanInput): Exclusion | null {
  const { endpoint, provider } = route
  for (const rule of rules) {
    const exclusion = rule(endpoint, provider, input)
    if (exclusion) return exclusion
  }
  if (input.needs) {
    for (const need of input.needs.list) {
      if (need.has(endpoint, provider, input.needs, entry.model) === true) continue
      const exclusion = needExclusion(need, input.needs, route, entry, input)
      if (exclusion) return exclusion
    }
  }
  return freeExclusion(entry, route) ?? guardrailExclusion(entry, route, input)
}

/** Every rule that excludes an endpoint, in the same order. */
export function exclusionsOf(entry: Resolved, route: Route, input: PlanInput): Exclusion[] {
  const { endpoint, provider } = route
  const { needs } = input
  const found = rules.map((rule) => rule(endpoint, provider, input))
  if (needs) found.push(...needs.list.map((need) => needExclusion(need, needs, route, entry, input)))
  found.push(freeExclusion(entry, route), guardrailExclusion(entry, route, input))
  return found.filter((exclusion) => exclusion !== null)
}

function freeExclusion({ isFree: mustBeFree }: Resolved, { endpoint }: Route): Exclusion | null {
  if (!mustBeFree || isFree(endpoint.pricing)) return null
  return { rule: 'free', sentence: `${endpoint.providerSlug} does not serve it for free` }
}

/** Checked last, so that a 403 is returned only if nothing but a guardrail excludes the endpoint. */
function guardrailExclusion(
  { model }: Resolved,
  { endpoint, provider }: Route,
  { caller: { key } }: PlanInput,
): Exclusion | null {
  const reason = key.guardrails ? forbids(key.guardrails, model, endpoint, provider) : null
  return reason && { rule: 'guardrail', ...reason }
}

const isFree = (pricing: Pricing | null): boolean => pricing !== null && !isPriced(pricing)

function namedBy(
  { only, ignore, order, allowFallbacks }: ProviderPreferences,
  provider: ProviderRecord,
  endpoint: EndpointRecord,
): Exclusion | null {
  if (only && !isNamed(only, provider, endpoint)) {
    return { rule: 'allowed_providers', sentence: `"provider.only" does not list ${provider.slug}` }
  }
  if (ignore && isNamed(ignore, provider, endpoint)) {
    return { rule: 'allowed_providers', sentence: `"provider.ignore" lists ${provider.slug}` }
  }
  if (order && !allowFallbacks && !isNamed(order, provider, endpoint)) {
    return {
      rule: 'allowed_providers',
      sentence: `"provider.order" without fallbacks does not list ${provider.slug}`,
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
    : { rule: 'max_price', sentence: `${endpoint.providerSlug} costs more than "provider.max_price"` }
}

const TOKENS_PER_MILLION = 1_000_000n
const isAtMost = (price: Price, bound: string | undefined): boolean =>
  bound === undefined || price <= parsePrice(bound)
