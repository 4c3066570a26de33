/** The tables that only the ledger writes: see tables.ts. */
import { sql } from 'drizzle-orm'
import type { JsonObject } from '../core/events.ts'
import type { Interval } from '../core/gate.ts'
import type { Label, StepCounts } from '../core/generation.ts'
import type { ApiType } from '../core/request.ts'
import type { UsageSource } from '../core/usage.ts'
import {
  type AnyColumn,
  boolean,
  index,
  integer,
  json,
  nanoUsd,
  primaryKey,
  real,
  serial,
  table,
  text,
  timestamp,
  uniqueIndex,
  word,
} from './columns.ts'

/** Calling applications, by their headers: `app_id` of the generation record. */
export const apps = table(
  'apps',
  {
    id: serial(),
    /** Scheme and host of the referer; '' without one. */
    origin: text().notNull(),
    /** X-Title; '' without one. */
    title: text().notNull(),
    created_at: timestamp().notNull(),
    /** The UTC day on which it called last, in milliseconds since 1970. */
    used_day: integer().notNull().default(0),
  },
  (t) => [uniqueIndex('apps_origin_title').on(t.origin, t.title)],
)

/** A further counter that a generation was charged to, besides those of its key and workspace. */
export interface ChargedScope {
  scope: 'guardrail' | 'organization'
  id: string
}

/** One try at a provider, as `provider_responses` shows it. */
export interface ProviderResponseRow {
  endpoint_id: string
  id: string | null
  is_byok: boolean
  latency: number
  model_permaslug: string
  provider_name: string
  status: number | null
}

/**
 * What the other columns do not have of a request's routing. Every row has it, so it has no field names.
 * `endpoints`: number of endpoints of the requested models, including excluded ones. Times are milliseconds; null: not
 * reached. `excluded`: number of excluded endpoints by rule; absent: none. `codes`: of the first attempts, null for those
 * without an error; absent: no attempt failed.
 */
export type RoutingRow = readonly [
  endpoints: number,
  admit: number,
  plan: number,
  connect: number | null,
  first_byte: number | null,
  relay: number | null,
  sticky?: 'session' | 'prefix' | null,
  excluded?: Readonly<Record<string, number>>,
  codes?: readonly (string | null)[],
]

/** What a generation with a parent did for it. */
export interface StepRow extends StepCounts {
  readonly kind: string
}

/**
 * One row per settled generation. The money's truth: counters and rollups are sums of these rows. No foreign keys: a
 * row must be written even if its key is gone, and one that could not be would block every row behind it. No index of all
 * rows beside that of the id: no query of the server needs one, and each costs a quarter of a row. Hours of a key or a
 * workspace are found in `usage_hourly`.
 */
export const generations = table(
  'generations',
  {
    /** `gen-…`, time-ordered. Dialects with ids of their own (`resp_…`, `msg_…`) keep its digits. */
    id: text().primaryKey(),
    request_id: text().notNull(),
    workspace_id: text().notNull(),
    key_hash: text().notNull(),
    /** The key's creator. */
    user_id: text().notNull(),
    app_id: integer(),
    model: text().notNull(),
    provider_slug: text().notNull(),
    provider_name: text().notNull(),
    endpoint_id: text().notNull(),
    upstream_id: text(),
    api_type: word<ApiType | 'tool'>().notNull(),
    router: text().notNull(),
    service_tier: text(),
    data_region: text().notNull().default('global'),
    preset_id: text(),
    streamed: boolean().notNull(),
    cancelled: boolean().notNull(),
    is_byok: boolean().notNull(),
    finish_reason: text().notNull(),
    native_finish_reason: text(),
    origin: text().notNull(),
    http_referer: text().notNull(),
    title: text().notNull(),
    user_agent: text().notNull(),
    external_user: text(),
    session_id: text(),
    /** The time of the request: decides its windows and hour. */
    created_at: timestamp().notNull(),
    ended_at: timestamp().notNull(),
    latency_ms: real().notNull(),
    generation_time_ms: real().notNull(),
    moderation_latency_ms: real(),
    tokens_prompt: integer().notNull(),
    tokens_completion: integer().notNull(),
    /** Includes cached, written, audio and image tokens. */
    native_tokens_prompt: integer().notNull(),
    /** Includes reasoning, audio and image tokens. */
    native_tokens_completion: integer().notNull(),
    native_tokens_cached: integer().notNull(),
    native_tokens_cache_write: integer().notNull(),
    native_tokens_prompt_audio: integer().notNull(),
    native_tokens_prompt_images: integer().notNull(),
    native_tokens_reasoning: integer().notNull(),
    native_tokens_completion_audio: integer().notNull(),
    native_tokens_completion_images: integer().notNull(),
    num_input_audio_prompt: integer().notNull().default(0),
    num_media_prompt: integer().notNull().default(0),
    num_media_completion: integer().notNull().default(0),
    num_search_results: integer().notNull().default(0),
    num_fetches: integer(),
    web_search_engine: text(),
    response_cache_source_id: text(),
    usage_source: word<UsageSource>().notNull(),
    /** The cost is an estimate, because the provider reported no usage. */
    estimated: boolean().notNull(),
    cost_nano_usd: nanoUsd().notNull(),
    /** The charge that the provider reported; null: not reported. */
    upstream_cost_nano_usd: nanoUsd(),
    cache_discount_nano_usd: nanoUsd(),
    /** A number is the latency of a single successful attempt, which the other columns describe: true for most rows. */
    provider_responses: json<(ProviderResponseRow | number)[]>(),
    charged_scopes: json<readonly ChargedScope[]>(),
    /** Actions of content filters on the request, by name; null: none. */
    guardrails: json<JsonObject[]>(),
    /** The request's `trace`; null: none. */
    trace: json<JsonObject>(),
    /** Why these endpoints were tried; null for cache hits, after a crash, and in rows of older versions. */
    routing: json<RoutingRow>(),
    /** The caller's labels, by which `usage_labels` sums it; null: none. */
    labels: json<readonly Label[]>(),
    /** The generation that this one is a step of; null: it is the caller's own. */
    parent_id: text(),
    /** What it did for its parent; null without one. */
    step: json<StepRow>(),
  },
  (t) => [index('generations_parent').on(t.parent_id).where(sql`${t.parent_id} is not null`)],
)

/** The counters: settled spending of one scope in one window. BYOK spending is counted separately. */
export const spending = table(
  'spending',
  {
    scope: word<'key' | 'workspace' | 'guardrail' | 'organization'>().notNull(),
    scope_id: text().notNull(),
    interval: word<Interval>().notNull(),
    /** Milliseconds since 1970; 0 for `lifetime`. */
    window_start: integer().notNull(),
    usage_nano_usd: nanoUsd().notNull().default(0),
    byok_usage_nano_usd: nanoUsd().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.scope, t.scope_id, t.interval, t.window_start] }),
    index('spending_window').on(t.interval, t.window_start),
  ],
)

/** The sums of a group of requests. */
export const usageSums = () => ({
  requests: integer().notNull().default(0),
  /** Those that ended in an error. */
  failed_requests: integer().notNull().default(0),
  prompt_tokens: integer().notNull().default(0),
  completion_tokens: integer().notNull().default(0),
  reasoning_tokens: integer().notNull().default(0),
  cached_tokens: integer().notNull().default(0),
  usage_nano_usd: nanoUsd().notNull().default(0),
  byok_usage_nano_usd: nanoUsd().notNull().default(0),
})

/** The dimensions and sums of usage, the same for hours and days. */
const usageColumns = () => ({
  workspace_id: text().notNull(),
  key_hash: text().notNull(),
  /** The key's creator. */
  user_id: text().notNull(),
  model: text().notNull(),
  provider_slug: text().notNull(),
  provider_name: text().notNull(),
  endpoint_id: text().notNull(),
  is_byok: boolean().notNull(),
  ...usageSums(),
})

const hourColumns = () => ({
  /** Milliseconds since 1970, the hour's start in UTC, of when the request came. */
  hour: integer().notNull(),
  ...usageColumns(),
})
const hourKey = (t: Record<keyof ReturnType<typeof hourColumns>, AnyColumn>) =>
  primaryKey({
    columns: [
      t.hour,
      t.workspace_id,
      t.key_hash,
      t.user_id,
      t.model,
      t.provider_slug,
      t.provider_name,
      t.endpoint_id,
      t.is_byok,
    ],
  })

/** Sums per hour, folded from the rows: usage pages read sums, never rows. Kept forever. */
export const usageHourly = table('usage_hourly', hourColumns(), (t) => [
  hourKey(t),
  index('usage_hourly_workspace').on(t.workspace_id, t.hour),
  index('usage_hourly_key').on(t.key_hash, t.hour),
])

/**
 * Sums of deleted rows, by the same hours and names. Written in the transaction that deletes the rows, so that counters
 * and hours still equal the sums of the rows and of this table.
 */
export const prunedHourly = table('pruned_hourly', hourColumns(), (t) => [hourKey(t)])

/** Further scopes that deleted rows were charged to, by UTC day: see `charged_scopes`. */
export const prunedCharges = table(
  'pruned_charges',
  {
    scope: word<ChargedScope['scope']>().notNull(),
    scope_id: text().notNull(),
    /** Milliseconds since 1970. */
    day: integer().notNull(),
    usage_nano_usd: nanoUsd().notNull().default(0),
    byok_usage_nano_usd: nanoUsd().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.scope, t.scope_id, t.day] })],
)

/**
 * The same per day: a month of hours is too much to read for one page. The primary key has the order in which pages group
 * it. In SQLite the table has no row ids (see 0011_usage_daily_order.sql; Drizzle cannot declare it), so a page reads
 * adjacent rows.
 */
export const usageDaily = table(
  'usage_daily',
  {
    /** Milliseconds since 1970, the day's start in UTC, of when the request came. */
    day: integer().notNull(),
    ...usageColumns(),
  },
  (t) => [
    primaryKey({
      columns: [
        t.day,
        t.model,
        t.endpoint_id,
        t.provider_name,
        t.workspace_id,
        t.provider_slug,
        t.is_byok,
        t.key_hash,
        t.user_id,
      ],
    }),
    index('usage_daily_workspace').on(t.workspace_id, t.day),
    index('usage_daily_key').on(t.key_hash, t.day),
  ],
)
