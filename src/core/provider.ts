/** Providers, their models, and what of them can be called. */
import type { CredentialRecord } from './credential.ts'
import type { DataPolicy } from './data-policy.ts'
import type { DialectName } from './dialect-name.ts'
import type { ModelDetails, ModelFacts, ReasoningFacts } from './model-facts.ts'
import type { Pricing } from './pricing.ts'
import type { ProviderQuirks } from './quirks.ts'

export interface Timeouts {
  /** Until the response headers and the first byte. */
  readonly firstByteMs: number
  readonly betweenBytesMs: number
  readonly totalMs: number
}

/** Which code prepares a call: a literal key of the registry in `providers/`. */
export type ProviderKind = 'compatible' | 'demo' | 'bedrock' | 'azure' | 'vertex'

/** Facts about each endpoint of a provider, unless the endpoint's own record differs. Absent: unknown. */
export interface ProviderFacts {
  readonly dataPolicy?: DataPolicy
  /** Regions that prompts do not leave (`eu`, `us`). */
  readonly regions?: readonly string[]
  readonly quantization?: string
  /** The provider refuses contents by a moderation of its own. */
  readonly isModerated?: boolean
}

export interface ProviderRecord {
  readonly slug: string
  /** Shown by the API as `provider_name`. */
  readonly name: string
  readonly kind: ProviderKind
  readonly dialect: DialectName
  /** Further dialects that it takes at the same address. */
  readonly alsoSpeaks?: readonly DialectName[]
  /** Includes the version segment; no trailing slash. */
  readonly baseUrl: string
  /** The API version that calls name (Azure). Absent: calls name none. */
  readonly apiVersion?: string
  /** The header of the credential; default `authorization: Bearer …`. */
  readonly credentialHeader?: { readonly name: string; readonly prefix: string }
  readonly headers?: Readonly<Record<string, string>>
  /** The cloud region of its calls and their signatures. */
  readonly region?: string
  /**
   * Prefixes of a model's name here (`eu.…`, `global.…`), best first, if the catalogue knows the
   * model under several.
   */
  readonly upstreamPrefixes?: readonly string[]
  readonly credentials: readonly CredentialRecord[]
  readonly timeouts: Timeouts
  readonly maxInFlight: number
  readonly quirks: ProviderQuirks
  /** On the operator's own machine: nothing leaves it. */
  readonly isLocal: boolean
  /** Calls carry the trace of their request (`traceparent`, `tracestate`); absent: they do not. */
  readonly sendsTrace?: true
  /** Declared by the operator; takes precedence over what its vendor publishes. */
  readonly declared?: ProviderFacts
}

/** One model at one provider. */
export interface EndpointRecord {
  /** `<provider slug>/<model id>`: stable, for health and records. */
  readonly id: string
  readonly providerSlug: string
  /** The model's public id (`author/slug`). */
  readonly modelId: string
  /** Its name at the provider. */
  readonly upstreamId: string
  /** The dialects that this model is served in, best first, if they differ from those of its provider. */
  readonly dialects?: readonly [DialectName, ...DialectName[]]
  /** Null: unknown. */
  readonly contextLength: number | null
  readonly maxCompletionTokens: number | null
  /** Empty: unknown, so nothing is refused because of it. */
  readonly inputModalities: readonly string[]
  /** Empty: unknown, so nothing is refused because of it. */
  readonly outputModalities: readonly string[]
  /** Null: unknown, so nothing is refused or left out because of it. */
  readonly supportedParameters: readonly string[] | null
  /** Null: no price is known. */
  readonly pricing: Pricing | null
  readonly quantization: string | null
  /** How to request reasoning; absent: unknown, or it does not reason. */
  readonly reasoning?: ReasoningFacts
  /** Absent: unknown. */
  readonly dataPolicy?: DataPolicy
  /** True only if known: `dataPolicy.zdr` is `always`. */
  readonly isZdr: boolean
  /** Regions that prompts do not leave (`eu`, `us`), if known. */
  readonly regions?: readonly string[]
  /** Whether its outputs may train other models, if known. */
  readonly isDistillable?: boolean
  /** The provider refuses contents by a moderation of its own; absent: unknown. */
  readonly isModerated?: boolean
}

export interface ModelRecord extends ModelDetails {
  readonly id: string
  readonly canonicalSlug: string
  readonly name: string
  /** Integer Unix seconds. */
  readonly created: number
  readonly endpoints: readonly EndpointRecord[]
  /** Absent: the catalogue does not know the model. */
  readonly facts?: ModelFacts
}

export interface ModelDirectory {
  /** By id, canonical slug, alias or a provider's own name, variant suffix excluded; undefined: unknown. */
  find(name: string): ModelRecord | undefined
  /** True for a model of the catalogue too that no configured provider offers. */
  isKnown(name: string): boolean
  /** Of a model of the catalogue: slugs of the providers that serve it, configured or not, its author first. */
  offeredBy?(name: string): readonly string[]
  /** Known ids that look most like `name`, best first. */
  nearest(name: string, count: number): string[]
  /** Every model that has an endpoint at a configured provider. */
  list(): readonly ModelRecord[]
  /** The same, in an order that is computed once: it must not depend on a request. */
  sorted?(order: (models: readonly ModelRecord[]) => readonly ModelRecord[]): readonly ModelRecord[]
}

/** A model that is not from the catalogue: of a `providers:` entry, of a server found nearby, or built in. */
export interface ModelOffer {
  /** `modelId` and `id` as they are without the catalogue; the directory replaces them where the model is known. */
  readonly endpoint: EndpointRecord
  /** Display name; null: the catalogue's, or the id. */
  readonly name: string | null
  /** Integer Unix seconds; null: the catalogue's, or 0. */
  readonly created: number | null
  /** Further names that it answers to. */
  readonly aliases: readonly string[]
  /** True: where the catalogue knows the id, this is one more endpoint of that model. */
  readonly mayJoinCatalog: boolean
}
