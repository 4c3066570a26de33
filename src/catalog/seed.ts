import { isObject } from '../core/json.ts'
import type { ServiceTier, WrittenPrices } from '../core/pricing.ts'

/**
 * The form of the catalogue file, as `facts/compose.ts` makes it. Names of fields are the API's.
 * What repeats thousands of times (modalities, parameters, prices) is stored once in a table; rows have its index.
 */
export interface Seed {
  readonly version: 1
  /** The day on which its newest entry was read (`2026-06-30`); decides which of two catalogues is newer. */
  readonly facts_at: string
  readonly modalities: readonly (readonly string[])[]
  readonly parameters: readonly (readonly string[])[]
  readonly pricings: readonly SeedPricing[]
  /** In order of id. */
  readonly models: readonly SeedModel[]
  /** By provider slug. */
  readonly endpoints: Readonly<Record<string, readonly SeedEndpoint[]>>
}

export interface SeedModel {
  /** `author/slug`, perhaps with a variant (`:free`). */
  readonly id: string
  readonly canonical_slug: string
  readonly name: string
  /** Unix seconds of the release. */
  readonly created: number
  /** Further names: other authors' spellings, the lab's own. */
  readonly aliases: readonly string[]
  readonly tokenizer: string
  readonly instruct_type: string | null
  readonly hugging_face_id: string | null
  /** A date (`2025-01-31` or `2025-01`). */
  readonly knowledge_cutoff: string | null
  readonly open_weights: boolean
  readonly reasoning: SeedReasoning | null
  /** What its author recommends. */
  readonly default_parameters?: Readonly<Record<string, number>>
  /** The date on which it is withdrawn (`2027-01-31`). */
  readonly expiration_date?: string
}

export interface SeedReasoning {
  /** False: it can be switched off. */
  readonly mandatory: boolean
  readonly supported_efforts: readonly string[] | null
  readonly supports_max_tokens: boolean
}

/** Absent buckets have no known price. */
export interface SeedPricing extends WrittenPrices {
  readonly prompt: string
  readonly completion: string
  readonly tiers?: readonly SeedTier[]
  /** Those that differ from the usual prices, by service tier. */
  readonly service_tiers?: Readonly<Partial<Record<ServiceTier, SeedServiceTier>>>
}

export interface SeedServiceTier extends WrittenPrices {
  readonly tiers?: readonly SeedTier[]
}

export interface SeedTier extends WrittenPrices {
  readonly min_prompt_tokens: number
}

export type SeedEndpoint = readonly [
  /** Index in `models`. */
  model: number,
  /** Its name at the provider. */
  upstreamId: string,
  contextLength: number | null,
  maxCompletionTokens: number | null,
  /** Indexes in `modalities`. */
  input: number,
  output: number,
  /** Index in `parameters`. */
  parameters: number,
  /** Index in `pricings`; null: unpriced. */
  pricing: number | null,
  quantization: string | null,
  /** The only dialect that this model is served in; null: the provider's own. */
  dialect: string | null,
  /** Prefixes of `upstreamId` for regions, joined by a dot, with the index of each in `pricings`. */
  profiles?: Readonly<Record<string, number | null>>,
]

/** True for a file of this version. Its rows are trusted: they were written by our own script and tested. */
export const isSeed = (value: unknown): value is Seed =>
  isObject(value) &&
  value['version'] === 1 &&
  typeof value['facts_at'] === 'string' &&
  Array.isArray(value['models']) &&
  isObject(value['endpoints'])
