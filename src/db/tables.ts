/**
 * Every table. Column names are the API's where the API has one; each amount of money is whole nano-dollars in a
 * column that ends in `_nano_usd`. After a change: `bun run migrations`, and commit what it wrote.
 */
import type { Interval } from '../core/gate.ts'
import type { ApiType } from '../core/request.ts'
import type { LimitReset } from '../core/snapshot.ts'
import type { UsageSource } from '../core/usage.ts'
import {
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

const createdAt = () =>
  timestamp()
    .notNull()
    .$defaultFn(() => new Date())
/** Null until the first change. */
const timestamps = () => ({ created_at: createdAt(), updated_at: timestamp() })

/** Facts about the database itself, such as the check value of the secret key. */
export const meta = table('meta', {
  name: text().primaryKey(),
  value: text().notNull(),
})

export const organizations = table('organizations', {
  /** `org_…` */
  id: text().primaryKey(),
  name: text().notNull(),
  ...timestamps(),
})

export const users = table(
  'users',
  {
    /** `user_…` */
    id: text().primaryKey(),
    organization_id: text()
      .notNull()
      .references(() => organizations.id),
    name: text().notNull(),
    /** Null for the owner until the dashboard is set up. */
    email: text(),
    role: word<'admin' | 'member'>().notNull(),
    ...timestamps(),
    deleted_at: timestamp(),
  },
  (t) => [uniqueIndex('users_email').on(t.email), index('users_organization').on(t.organization_id)],
)

export const workspaces = table(
  'workspaces',
  {
    /** UUID */
    id: text().primaryKey(),
    organization_id: text()
      .notNull()
      .references(() => organizations.id),
    name: text().notNull(),
    slug: text().notNull(),
    description: text(),
    /** UUID; promised before the guardrail itself is stored. */
    default_guardrail_id: text().notNull(),
    default_image_model: text(),
    default_text_model: text(),
    default_provider_sort: text(),
    disabled_server_tools: json<string[]>(),
    include_byok_in_budgets: boolean().notNull().default(false),
    io_logging_api_key_ids: json<number[]>(),
    io_logging_sampling_rate: real().notNull().default(1),
    is_data_discount_logging_enabled: boolean().notNull().default(false),
    is_observability_broadcast_enabled: boolean().notNull().default(false),
    is_observability_io_logging_enabled: boolean().notNull().default(false),
    created_by: text()
      .notNull()
      .references(() => users.id),
    ...timestamps(),
    /** Deleted workspaces stay, so that history can name them; their slug is given up by renaming it. */
    deleted_at: timestamp(),
  },
  (t) => [uniqueIndex('workspaces_slug').on(t.slug)],
)

export const apiKeys = table(
  'api_keys',
  {
    /** SHA-256 of the whole key, lower-case hex. */
    hash: text().primaryKey(),
    /** The integer that `io_logging_api_key_ids` names: one more than the largest so far (rows are never removed). */
    id: integer().notNull(),
    kind: word<'inference' | 'management'>().notNull(),
    name: text().notNull(),
    /** Masked form. */
    label: text().notNull(),
    disabled: boolean().notNull().default(false),
    /** Null: no limit. */
    limit_nano_usd: nanoUsd(),
    limit_reset: word<LimitReset>(),
    include_byok_in_limit: boolean().notNull().default(false),
    expires_at: timestamp(),
    creator_user_id: text()
      .notNull()
      .references(() => users.id),
    external_user: text(),
    workspace_id: text()
      .notNull()
      .references(() => workspaces.id),
    /** Given by a setting and ensured at every start. */
    bootstrap: boolean().notNull().default(false),
    ...timestamps(),
    /** Deleted keys stay, so that history can name them. */
    deleted_at: timestamp(),
  },
  (t) => [
    uniqueIndex('api_keys_id').on(t.id),
    index('api_keys_workspace').on(t.workspace_id, t.created_at),
    index('api_keys_creator').on(t.creator_user_id),
  ],
)

export const providerCredentials = table(
  'provider_credentials',
  {
    /** UUID */
    id: text().primaryKey(),
    provider: text().notNull(),
    name: text().notNull(),
    /** Masked form. */
    label: text().notNull(),
    /** `v1.<key id>.<nonce>.<ciphertext and tag>`: see db/seal.ts. */
    sealed_secret: text().notNull(),
    base_url: text(),
    disabled: boolean().notNull().default(false),
    sort_order: integer().notNull().default(0),
    ...timestamps(),
  },
  (t) => [index('provider_credentials_provider').on(t.provider, t.sort_order)],
)

/** Applications that call us, by what they say of themselves: `app_id` of the generation record. */
export const apps = table(
  'apps',
  {
    id: serial(),
    /** Scheme and host of the referer; '' without one. */
    origin: text().notNull(),
    /** X-Title; '' without one. */
    title: text().notNull(),
    created_at: createdAt(),
  },
  (t) => [uniqueIndex('apps_origin_title').on(t.origin, t.title)],
)

/** A further counter that a generation was booked to, beside those of its key and its workspace. */
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
 * One row per settled generation. The money's truth: counters and rollups are sums of these rows. No foreign keys: a
 * row must be written whatever became of its key, and one that could not be would block every row behind it.
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
    api_type: word<ApiType>().notNull(),
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
    /** When the request came: chooses the windows and the hour that it is booked to. */
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
    /** The cost rests on our estimate, not on the provider's figures. */
    estimated: boolean().notNull(),
    cost_nano_usd: nanoUsd().notNull(),
    /** What the provider says that it charged; null where it does not say. */
    upstream_cost_nano_usd: nanoUsd(),
    cache_discount_nano_usd: nanoUsd(),
    provider_responses: json<ProviderResponseRow[]>(),
    charged_scopes: json<ChargedScope[]>(),
  },
  (t) => [
    index('generations_workspace').on(t.workspace_id, t.id),
    index('generations_key').on(t.key_hash, t.id),
  ],
)

/** Requests that were sent upstream and are not settled yet: what a start after a crash settles. */
export const journal = table('journal', {
  generation_id: text().primaryKey(),
  key_hash: text().notNull(),
  workspace_id: text().notNull(),
  model: text().notNull(),
  provider_slug: text().notNull(),
  provider_name: text().notNull(),
  endpoint_id: text().notNull(),
  api_type: word<ApiType>().notNull(),
  streamed: boolean().notNull(),
  is_byok: boolean().notNull(),
  origin: text().notNull(),
  http_referer: text().notNull(),
  title: text().notNull(),
  user_agent: text().notNull(),
  request_id: text().notNull(),
  session_id: text(),
  external_user: text(),
  started_at: timestamp().notNull(),
  prompt_tokens_estimate: integer().notNull(),
  prompt_cost_nano_usd: nanoUsd().notNull(),
  charged_scopes: json<ChargedScope[]>(),
})

/** The counters: what was settled by one scope in one window. Own-key (BYOK) spending is counted apart. */
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

/** Sums per hour, written with the rows: usage pages read these and never the rows. */
export const usageHourly = table(
  'usage_hourly',
  {
    /** Milliseconds since 1970, the hour's start in UTC, of when the request came. */
    hour: integer().notNull(),
    workspace_id: text().notNull(),
    key_hash: text().notNull(),
    /** The key's creator. */
    user_id: text().notNull(),
    model: text().notNull(),
    provider_slug: text().notNull(),
    provider_name: text().notNull(),
    endpoint_id: text().notNull(),
    is_byok: boolean().notNull(),
    requests: integer().notNull().default(0),
    /** Those that ended in an error. */
    failed_requests: integer().notNull().default(0),
    prompt_tokens: integer().notNull().default(0),
    completion_tokens: integer().notNull().default(0),
    reasoning_tokens: integer().notNull().default(0),
    cached_tokens: integer().notNull().default(0),
    usage_nano_usd: nanoUsd().notNull().default(0),
    byok_usage_nano_usd: nanoUsd().notNull().default(0),
  },
  (t) => [
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
    }),
    index('usage_hourly_workspace').on(t.workspace_id, t.hour),
    index('usage_hourly_key').on(t.key_hash, t.hour),
  ],
)
