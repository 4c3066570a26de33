import type { ContentFilters } from './content-filter.ts'
import { isUntrained } from './data-policy.ts'
import { type Gate, intervalOf, type LimitReset } from './gate.ts'
import type { PluginRule } from './plugin-options.ts'
import { isFree } from './pricing.ts'
import type { EndpointRecord, ModelRecord, ProviderRecord } from './provider.ts'
import type { RateLimits } from './rate-limits.ts'

/** Rules for requests. If several guardrails apply, a request must satisfy each. */
export interface GuardrailRecord {
  readonly id: string
  readonly name: string
  /** Lists: null: no restriction. Models by id or canonical slug, providers by slug; other names are listed too. */
  readonly allowedModels: ReadonlySet<string> | null
  readonly ignoredModels: ReadonlySet<string> | null
  readonly allowedProviders: ReadonlySet<string> | null
  readonly ignoredProviders: ReadonlySet<string> | null
  readonly allowedRegions: ReadonlySet<string> | null
  /** Authors (`anthropic`, …, `other`) whose models are used only at endpoints that retain nothing. */
  readonly zdrAuthors: ReadonlySet<string>
  /** False: no model that may train on prompts, as far as is known; by whether it costs anything. */
  readonly mayTrainFree: boolean
  readonly mayTrainPaid: boolean
  /** What each key and each member may spend. Null: nothing is bounded. */
  readonly limitNanoUsd: number | null
  readonly resetInterval: LimitReset | null
  readonly includeByok: boolean
  /** Whether it is assigned to a key or to a member, by which its budget counts. */
  readonly scope: 'key' | 'member' | 'workspace'
  /** How often each key and each member may ask; absent: as often as they like. */
  readonly rateLimits?: RateLimits
  /**
   * Equal for two guardrails only if they treat requests and replies equally; '' if they do nothing. Absent: the
   * guardrail equals no other.
   */
  readonly rules?: string
  /** Which plugins requests have always, never or by default; absent: the guardrail names none. */
  readonly plugins?: readonly PluginRule[]
  /** Server tools that requests may not use, as they were set; absent: none. */
  readonly disabledServerTools?: readonly string[]
  /** Filters on requests and replies; absent: none. */
  readonly filters?: ContentFilters
}

/** The fields of a key that its guardrails depend on. */
interface GuardedKey {
  readonly hash: string
  readonly name: string
  readonly creatorUserId: string
  readonly guardrails?: readonly GuardrailRecord[]
}

/** True if a guardrail of the key requires zero data retention for the models of any author. */
export const retainsNothing = ({ guardrails }: Pick<GuardedKey, 'guardrails'>): boolean =>
  guardrails?.some(({ zdrAuthors }) => zdrAuthors.size > 0) === true

const NAMED_AUTHORS: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  google: 'google',
  openai: 'openai',
  'x-ai': 'xai',
}

/** The first guardrail that forbids this endpoint, and why, as the end of a sentence; null: none does. Unknown is not yes. */
export function forbids(
  guardrails: readonly GuardrailRecord[],
  model: Pick<ModelRecord, 'id' | 'canonicalSlug'>,
  endpoint: EndpointRecord,
  provider: ProviderRecord,
): { readonly sentence: string; readonly guardrail: string } | null {
  for (const guardrail of guardrails) {
    const reason = forbidden(guardrail, model, endpoint, provider)
    const { name } = guardrail
    if (reason !== null) return { sentence: `the guardrail "${name}" ${reason}`, guardrail: name }
  }
  return null
}

function forbidden(
  guardrail: GuardrailRecord,
  { id, canonicalSlug }: Pick<ModelRecord, 'id' | 'canonicalSlug'>,
  endpoint: EndpointRecord,
  { slug }: ProviderRecord,
): string | null {
  const names = (set: ReadonlySet<string>): boolean => set.has(id) || set.has(canonicalSlug)
  const { allowedModels, ignoredModels, allowedProviders, ignoredProviders, allowedRegions } = guardrail
  if (allowedModels !== null && !names(allowedModels)) return `does not allow the model ${id}`
  if (ignoredModels !== null && names(ignoredModels)) return `forbids the model ${id}`
  if (allowedProviders !== null && !allowedProviders.has(slug)) return `does not allow the provider ${slug}`
  if (ignoredProviders?.has(slug)) return `forbids the provider ${slug}`
  if (allowedRegions !== null && !isWithin(endpoint.regions, allowedRegions)) {
    return `allows only the regions ${[...allowedRegions].join(', ')}, and ${slug} is not known to keep to them`
  }
  if (!endpoint.isZdr && guardrail.zdrAuthors.has(NAMED_AUTHORS[id.split('/')[0] ?? ''] ?? 'other')) {
    return `allows ${id} only at endpoints that retain no data, and ${slug} is not known to be one`
  }
  const mayTrain = costsNothing(endpoint) ? guardrail.mayTrainFree : guardrail.mayTrainPaid
  return mayTrain || isUntrained(endpoint)
    ? null
    : `forbids training on prompts, and ${slug} is not known not to`
}

const costsNothing = ({ pricing }: EndpointRecord): boolean => pricing !== null && isFree(pricing)

function isWithin(regions: readonly string[] | undefined, allowed: ReadonlySet<string>): boolean {
  if (allowed.has('global')) return true
  return (
    regions !== undefined &&
    regions.length > 0 &&
    regions.every((region) => allowed.has(REGION_NAMES[region] ?? region))
  )
}

const REGION_NAMES: Readonly<Record<string, string>> = { eu: 'europe' }

/** The budgets of a key's guardrails: of the key itself, and of the member who made it over all their keys. */
export const gatesOfGuardrails = ({ guardrails = [], hash, name, creatorUserId }: GuardedKey): Gate[] =>
  guardrails.flatMap((guardrail) => {
    if (guardrail.limitNanoUsd === null) return []
    return [
      {
        scope: 'guardrail' as const,
        id: `${guardrail.id}/${guardrail.scope === 'member' ? creatorUserId : hash}`,
        label: `The guardrail "${guardrail.name}"`,
        name: `${guardrail.name}/${guardrail.scope === 'member' ? creatorUserId : name}`,
        interval: intervalOf(guardrail.resetInterval),
        limitNanoUsd: guardrail.limitNanoUsd,
        includeByok: guardrail.includeByok,
        status: 403 as const,
      },
    ]
  })
