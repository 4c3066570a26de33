/** The error of a request whose models are known, and which no endpoint of them can serve. */
import { type Availability, GatewayError } from '../../core/errors.ts'
import { exclusionOf } from './eligible.ts'
import { type Considered, explain } from './explain.ts'
import type { Need } from './needs.ts'
import type { PlanInput } from './plan-input.ts'
import { unknownProviders } from './provider-names.ts'
import { resolve } from './resolve.ts'

/** The page of these rules. The gateway serves it. */
export const DOCS_URL = '/docs/routing'

/** A rule that excludes endpoints: how many of all it excludes, whatever the other rules do. */
interface Share {
  readonly rule: string
  readonly endpoints: number
  readonly of: number
  /** Of its first endpoint. */
  readonly reason: string
}

/**
 * The most specific exclusion determines the error: an endpoint that lacks only a price or a wrong route (400), a guardrail
 * (403), a need that no endpoint has (400 for a length, else 404), else every rule with its share of the endpoints (404).
 */
export function nothingEligible(name: string, input: PlanInput): GatewayError {
  const considered = explain(input)
  const shown = JSON.stringify(name.slice(0, 120))
  const first = considered.flatMap(({ exclusions }) => exclusions.slice(0, 1))
  const availability = availabilityOf(considered, input)
  const unpriced = considered.find(({ exclusions }) => exclusions.every(({ rule }) => rule === 'unpriced'))
  if (unpriced) return withoutPrice(unpriced)
  const wrongRoute = first.find(({ rule }) => rule === 'modality' || rule === 'input')
  if (wrongRoute) {
    return new GatewayError(400, wrongRoute.sentence, {
      metadata: { error_type: 'invalid_request' },
      availability: { ...availability, code: 'wrong_endpoint' },
      refusal: { reason: 'model', gate: wrongRoute.rule },
    })
  }
  const guardrail = first.find(({ rule }) => rule === 'guardrail')
  if (guardrail) {
    return new GatewayError(403, `${shown} may not be used with this key: ${guardrail.sentence}`, {
      metadata: { error_type: 'permission_denied' },
      availability,
      refusal: { reason: 'guardrail', guardrail: guardrail.guardrail },
    })
  }
  if (first.length === 0) {
    return new GatewayError(
      404,
      `The model ${shown} is known, but no provider that offers it is configured here`,
      { availability, refusal: { reason: 'model' } },
    )
  }
  return lacking(shown, considered, availability, input) ?? filtered(shown, considered, availability, input)
}

const withoutPrice = ({ exclusions }: Considered): GatewayError =>
  new GatewayError(400, exclusions[0]?.sentence ?? '', {
    metadata: { error_type: 'invalid_request' },
    refusal: { reason: 'model', gate: 'unpriced' },
  })

/**
 * The error if the endpoints that no other rule excludes all lack the same need; null if not. Clients of coding agents
 * compact a conversation on `context_length_exceeded` and on the words of its message.
 */
function lacking(
  shown: string,
  considered: readonly Considered[],
  availability: Availability,
  { needs }: PlanInput,
): GatewayError | null {
  const needed = needs?.list ?? []
  const isNeed = (rule: string): boolean => needed.some((need) => need.rule === rule)
  const otherwiseAble = considered.filter(({ exclusions }) => exclusions.every(({ rule }) => isNeed(rule)))
  const need = needed.find(
    ({ rule }) =>
      otherwiseAble.length > 0 &&
      otherwiseAble.every(({ exclusions }) => exclusions.some((exclusion) => exclusion.rule === rule)),
  )
  if (!needs || need === undefined) return null
  const asks = need.asks(needs)
  const sentence = otherwiseAble[0]?.exclusions.find(({ rule }) => rule === need.rule)?.sentence ?? ''
  const [nearest] = availability.fallback_models ?? []
  const hint = nearest === undefined ? '' : `. The nearest model here that ${asks} is ${nearest}`
  const others = sharesOf(considered).filter(({ rule }) => !isNeed(rule))
  const aside = others.length === 0 ? '' : `. ${formatShares(others)}`
  const start = need.isLength ? sentence : `No endpoint of ${shown} ${asks}: ${sentence}`
  return new GatewayError(need.isLength ? 400 : 404, `${start}${aside}${hint}`, {
    metadata: { error_type: errorTypeOf(need), ...metadataOf(considered) },
    availability: { ...availability, constraint: { field: need.rule, detail: sentence } },
    refusal: { reason: 'model', gate: need.rule },
  })
}

function errorTypeOf({ rule, isLength }: Need): 'context_length_exceeded' | 'invalid_request' | 'not_found' {
  if (rule === 'context_length') return 'context_length_exceeded'
  return isLength ? 'invalid_request' : 'not_found'
}

function filtered(
  shown: string,
  considered: readonly Considered[],
  availability: Availability,
  input: PlanInput,
): GatewayError {
  const message = `No endpoint of ${shown} fits this request: ${formatShares(sharesOf(considered))}${unknownNames(input)}`
  return new GatewayError(404, message, {
    metadata: { error_type: 'not_found', ...metadataOf(considered) },
    availability,
    refusal: { reason: 'model', gate: availability.constraint?.field },
  })
}

const metadataOf = (considered: readonly Considered[]) => {
  const constraints = sharesOf(considered)
  return { excluded_by: constraints.map(({ rule }) => rule), constraints }
}

/** Of every rule, the endpoints that it excludes, those of most endpoints first. */
function sharesOf(considered: readonly Considered[]): Share[] {
  const endpoints = new Set(considered.map(({ endpoint }) => endpoint.id))
  const byRule = new Map<string, { ids: Set<string>; reason: string }>()
  for (const { endpoint, exclusions } of considered) {
    for (const { rule, sentence } of exclusions) {
      const known = byRule.get(rule)
      if (known) known.ids.add(endpoint.id)
      else byRule.set(rule, { ids: new Set([endpoint.id]), reason: sentence })
    }
  }
  return [...byRule]
    .map(([rule, { ids, reason }]) => ({ rule, endpoints: ids.size, of: endpoints.size, reason }))
    .sort((a, b) => b.endpoints - a.endpoints)
}

const formatShares = (shares: readonly Share[]): string =>
  shares
    .map(
      ({ rule, endpoints, of, reason }) =>
        `${rule} leaves out ${endpoints} of ${of} endpoint${of === 1 ? '' : 's'} (${reason})`,
    )
    .join('; ')

/** Names in the preferences that no provider here has, with those that look most like them. */
function unknownNames(input: PlanInput): string {
  const sentences = unknownProviders(input).map(({ field, name, nearest }) => {
    const hint = nearest.length > 0 ? `: the nearest names are ${nearest.join(', ')}` : ''
    return `. "provider.${field}" names ${JSON.stringify(name.slice(0, 64))}, which is not configured here${hint}`
  })
  return sentences.join('')
}

function availabilityOf(considered: readonly Considered[], input: PlanInput): Availability {
  const shares = sharesOf(considered)
  const [most] = shares
  const isPrivacy = shares.length > 0 && shares.every(({ rule }) => rule.startsWith('data_policy:'))
  const isFree = most?.rule === 'free' && shares.length === 1
  const fallbacks = fallbackModels(considered, input)
  return {
    code: isPrivacy
      ? 'privacy_restricted'
      : isFree
        ? 'free_variant_ended'
        : most
          ? 'constraint_filtered'
          : 'no_endpoints',
    retryable: false,
    requested_models: input.request.models,
    affected_providers: [...new Set(considered.map(({ provider }) => provider.slug))],
    excluded_by: shares.map(({ rule }) => rule),
    ...(fallbacks.length > 0 && { fallback_models: fallbacks }),
    ...(most && { constraint: { field: most.rule, detail: most.reason } }),
    docs_url: DOCS_URL,
  }
}

/** Candidates by name: the search is for one or two, and a catalogue has thousands. */
const MOST_CANDIDATES = 200
const MOST_FALLBACKS = 2

/** Models whose names are nearest, and of which an endpoint can serve this very request for this caller. */
function fallbackModels(considered: readonly Considered[], input: PlanInput): string[] {
  const { models } = input.snapshot
  const [one] = considered
  if (one === undefined) return []
  const asked = new Set(considered.map(({ model }) => model.id))
  const found: string[] = []
  const named = models.nearest(one.model.id, MOST_CANDIDATES)
  const others = models.list().slice(0, MOST_CANDIDATES)
  for (const id of new Set([...named, ...others.map((model) => model.id)])) {
    if (asked.has(id)) continue
    const entry = resolve(id, input)
    const isAble = entry?.routes.some(
      (route) => route.provider.kind !== 'demo' && exclusionOf(entry, route, input) === null,
    )
    if (!isAble) continue
    found.push(id)
    if (found.length === MOST_FALLBACKS) break
  }
  return found
}
