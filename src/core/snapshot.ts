import type { OwnKeyRecord } from './byok.ts'
import type { DialectName, JsonObject } from './events.ts'
import type { ContentLogging } from './generation-content.ts'
import type { GuardrailRecord } from './guardrail.ts'
import type { ModelFacts, ModelScores, ReasoningFacts } from './model-facts.ts'
import type { Pricing } from './pricing.ts'
import type { ProviderQuirks } from './quirks.ts'
import type { RateGate, RateLimits } from './rate-limits.ts'

export type { ModelFacts, ModelScores, ReasoningFacts } from './model-facts.ts'

export type { Pricing, PricingTier } from './pricing.ts'

export type { ChatQuirks, ProviderQuirks } from './quirks.ts'

/** A map to be read: a `Map` is one. */
export interface Lookup<Value> {
  get(key: string): Value | undefined
  has(key: string): boolean
  values(): Iterable<Value>
}

/**
 * All that the hot path must know, in memory and never changed in place: a write to the tables makes a new one, which
 * shares with the old one what did not change. A request holds one Snapshot from its first line to its last.
 */
export interface Snapshot {
  /** Counts up with each change. */
  readonly version: number
  readonly organizationId: string
  /** Where things belong that name no workspace. */
  readonly defaultWorkspaceId: string
  readonly keysByHash: Lookup<KeyRecord>
  readonly workspacesById: Lookup<WorkspaceRecord>
  /** By workspace, then by slug and by id. */
  readonly presets: Lookup<ReadonlyMap<string, PresetRecord>>
  readonly providersBySlug: ReadonlyMap<string, ProviderRecord>
  readonly models: ModelDirectory
  /** What lists show, where that is more than can be called: the whole catalogue. Nothing is routed by it. */
  readonly shown?: ShownModels
  /** By workspace: its own keys of providers, in the order of trying. Absent: nobody has any. */
  readonly ownKeys?: Lookup<readonly OwnKeyRecord[]>
  /**
   * What can be called once own keys count too, of all workspaces: only `waysTo` says what of it is whose. Absent: no
   * own key is of a provider that the gateway has no credential for.
   */
  readonly brought?: ShownModels
}

export interface ShownModels {
  readonly providersBySlug: ReadonlyMap<string, ProviderRecord>
  readonly models: ModelDirectory
}

export type LimitReset = 'daily' | 'weekly' | 'monthly'

export interface KeyRecord {
  /** SHA-256 of the whole key, lower-case hex. */
  readonly hash: string
  /** The extra integer id that `io_logging_api_key_ids` names. */
  readonly id: number
  readonly kind: 'inference' | 'management'
  readonly name: string
  readonly label: string
  readonly disabled: boolean
  /** Null: no limit. */
  readonly limitNanoUsd: number | null
  readonly limitReset: LimitReset | null
  readonly includeByokInLimit: boolean
  /** Milliseconds since 1970; null: never. */
  readonly expiresAt: number | null
  readonly creatorUserId: string
  readonly externalUser: string | null
  readonly workspaceId: string
  /** Those that hold for it and restrict something; absent: none. */
  readonly guardrails?: readonly GuardrailRecord[]
  /** Its own; absent: none. */
  readonly rateLimits?: RateLimits
  /** All that bounds how often it may ask, its own included; absent: nothing does. */
  readonly rateGates?: readonly RateGate[]
}

export interface WorkspaceRecord {
  readonly id: string
  readonly slug: string
  readonly name: string
  /** Holds for the whole workspace. */
  readonly defaultGuardrailId: string
  readonly defaultTextModel: string | null
  /** Serves a request for images that names no model; absent: none does. */
  readonly defaultImageModel?: string | null
  readonly defaultProviderSort: string | null
  /** Absent: it logs no prompts and answers. */
  readonly contentLogging?: ContentLogging
  /**
   * Whether answers are kept and given again where the request does not say, and how long those that it says nothing
   * of. Absent: they are not, and for 300 s.
   */
  readonly responseCache?: { readonly isOn: boolean; readonly ttlSeconds: number }
  /** Absent: none. */
  readonly budgets?: readonly BudgetRecord[]
  /** Of all its requests together; absent: none. */
  readonly rateLimits?: RateLimits
  /** What the whole organisation may ever spend; absent: without limit. */
  readonly allowance?: { readonly organizationId: string; readonly limitNanoUsd: number }
}

interface BudgetRecord {
  readonly interval: LimitReset | 'lifetime'
  readonly limitNanoUsd: number
  readonly includeByok: boolean
}

/** A preset at its designated version. */
export interface PresetRecord {
  readonly id: string
  readonly status: 'active' | 'disabled' | 'archived'
  /** Settings of a request, in the words of chat. */
  readonly config: JsonObject
  readonly systemPrompt: string | null
}

export interface Timeouts {
  /** Until the response headers and the first byte. */
  readonly firstByteMs: number
  readonly betweenBytesMs: number
  readonly totalMs: number
}

/** Which code prepares a call: a literal key of the registry in `providers/`. */
export type ProviderKind = 'compatible' | 'demo' | 'bedrock' | 'azure' | 'vertex'

export interface CredentialRecord {
  /** Stable name for health and records, never the secret. */
  readonly id: string
  /** The secret itself; null for a keyless server, and where keys sign in its place. */
  readonly secret: string | null
  /** Its share of the requests beside the others of its provider; absent: they are tried in their order. */
  readonly weight?: number
  /** Keys that sign each call (AWS Signature Version 4) and are never sent. */
  readonly aws?: AwsKeys
  /** A client of Microsoft Entra, which gets tokens and is never shown itself. */
  readonly entra?: EntraClient
  /** The same of Google Cloud. */
  readonly google?: GoogleAccount
}

export interface EntraClient {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope: string
}

export type GoogleAccount =
  | {
      readonly type: 'service_account'
      readonly clientEmail: string
      /** PEM, PKCS #8. */
      readonly privateKey: string
      readonly keyId?: string
      readonly tokenUrl: string
    }
  | {
      readonly type: 'authorized_user'
      readonly clientId: string
      readonly clientSecret: string
      readonly refreshToken: string
      readonly tokenUrl: string
    }

export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

export interface ProviderRecord {
  readonly slug: string
  /** What the API shows as `provider_name`. */
  readonly name: string
  readonly kind: ProviderKind
  readonly dialect: DialectName
  /** Further dialects that it takes at the same address. */
  readonly alsoSpeaks?: readonly DialectName[]
  /** Includes the version segment; no trailing slash. */
  readonly baseUrl: string
  /** The version of its API that calls name (Azure); absent: the one that needs no name. */
  readonly apiVersion?: string
  /** How the credential is shown to the provider; default `authorization: Bearer …`. */
  readonly credentialHeader?: { readonly name: string; readonly prefix: string }
  readonly headers?: Readonly<Record<string, string>>
  /** The region of the cloud that it is called in; what signs, signs for it. */
  readonly region?: string
  /**
   * What may stand in front of a model's name here (`eu.…`, `global.…`), best first, where the catalogue knows the
   * model under several.
   */
  readonly upstreamPrefixes?: readonly string[]
  readonly credentials: readonly CredentialRecord[]
  readonly timeouts: Timeouts
  readonly maxInFlight: number
  readonly quirks: ProviderQuirks
  /** On the operator's own machine: nothing leaves it. */
  readonly isLocal: boolean
}

/** One model at one provider. */
export interface EndpointRecord {
  /** `<provider slug>/<model id>`: stable, for health and records. */
  readonly id: string
  readonly providerSlug: string
  /** The model's public id (`author/slug`). */
  readonly modelId: string
  /** What the provider calls it. */
  readonly upstreamId: string
  /** The dialects that this model is served in, best first, where they are not those of its provider. */
  readonly dialects?: readonly [DialectName, ...DialectName[]]
  /** Null: the facts do not say. */
  readonly contextLength: number | null
  readonly maxCompletionTokens: number | null
  /** Empty: unknown, so nothing is refused because of it. */
  readonly inputModalities: readonly string[]
  /** Empty: unknown, so nothing is refused because of it. */
  readonly outputModalities: readonly string[]
  /** Null: unknown, so nothing is refused or left out because of it. */
  readonly supportedParameters: readonly string[] | null
  /** Null: nobody told a price. */
  readonly pricing: Pricing | null
  readonly quantization: string | null
  /** How its reasoning is asked for; absent: unknown, or it does not reason. */
  readonly reasoning?: ReasoningFacts
  /** True only where it is known. */
  readonly isZdr: boolean
  /** Where it is known that prompts are processed there alone (`eu`, `us`). */
  readonly regions?: readonly string[]
  /** Whether its outputs may train other models, where it is known. */
  readonly isDistillable?: boolean
}

export interface ModelRecord {
  readonly id: string
  readonly canonicalSlug: string
  readonly name: string
  /** Integer Unix seconds. */
  readonly created: number
  readonly endpoints: readonly EndpointRecord[]
  /** Absent: the catalogue does not know the model. */
  readonly facts?: ModelFacts
  /** When it will be gone (`2027-01-31`), where the operator says so. */
  readonly expirationDate?: string
  /** Of the operator's data file. */
  readonly scores?: ModelScores
  readonly categories?: readonly string[]
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
