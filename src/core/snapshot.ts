import type { ByokKey } from './byok.ts'
import type { Gate, LimitReset } from './gate.ts'
import type { ContentLogging } from './generation-content.ts'
import type { GuardrailRecord } from './guardrail.ts'
import type { JsonObject } from './json.ts'
import type { PluginOptions } from './plugin-options.ts'
import type { ModelDirectory, ProviderRecord } from './provider.ts'
import type { RateGate, RateLimits } from './rate-limits.ts'

export type { AwsKeys, CredentialRecord, EntraClient, GoogleAccount } from './credential.ts'
export type { LimitReset } from './gate.ts'
export type {
  DefaultParameters,
  ModelDetails,
  ModelFacts,
  ModelScores,
  ReasoningFacts,
} from './model-facts.ts'
export type { Pricing, PricingTier } from './pricing.ts'
export type {
  EndpointRecord,
  ModelDirectory,
  ModelOffer,
  ModelRecord,
  ProviderFacts,
  ProviderKind,
  ProviderRecord,
  Timeouts,
} from './provider.ts'
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
  /** The complete catalogue, if lists show more than can be called. Routing ignores it. */
  readonly shown?: ShownModels
  /** BYOK keys by workspace, in the order in which they are tried. Absent: no workspace has one. */
  readonly byokKeys?: Lookup<readonly ByokKey[]>
  /**
   * The models that the BYOK keys of all workspaces open; `routesTo` decides which a caller may use. Absent: the
   * gateway has a credential for every provider of a BYOK key.
   */
  readonly withByok?: ShownModels
}

export interface ShownModels {
  readonly providersBySlug: ReadonlyMap<string, ProviderRecord>
  readonly models: ModelDirectory
}

export interface KeyRecord {
  /** SHA-256 of the complete key, lower-case hex. */
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
  /** Its guardrails that restrict something; absent: none. */
  readonly guardrails?: readonly GuardrailRecord[]
  /** Its own; absent: none. */
  readonly rateLimits?: RateLimits
  /** All its rate limits, including those of guardrails and the workspace; absent: none. */
  readonly rateGates?: readonly RateGate[]
  /** All that bounds its spending; absent: nothing does. One list for as long as nothing of it changes. */
  readonly spendingGates?: readonly Gate[]
}

export interface WorkspaceRecord {
  readonly id: string
  readonly slug: string
  readonly name: string
  /** Applies to every key of the workspace. */
  readonly defaultGuardrailId: string
  readonly defaultTextModel: string | null
  /** Serves a request for images that names no model; absent: none does. */
  readonly defaultImageModel?: string | null
  readonly defaultProviderSort: string | null
  /** Those of requests that do not set them otherwise; absent: none. */
  readonly plugins?: readonly PluginOptions[]
  /** Server tools that its requests may not use, as they were set; absent: none. */
  readonly disabledServerTools?: readonly string[]
  /** Absent: it logs no prompts and answers. */
  readonly contentLogging?: ContentLogging
  /** Its generations go to destinations of observability, to one at least with their content; absent: to none. */
  readonly exports?: { readonly content: boolean }
  /**
   * Defaults of the response cache for requests that do not set it. Absent: off, and 300 s.
   */
  readonly responseCache?: { readonly isOn: boolean; readonly ttlSeconds: number }
  /** Absent: none. */
  readonly budgets?: readonly BudgetRecord[]
  /** Of all its requests together; absent: none. */
  readonly rateLimits?: RateLimits
  /** The organisation's spending limit; absent: none. */
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
