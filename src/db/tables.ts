/**
 * Every table. Column names are the API's where the API has one; each amount of money is whole nano-dollars in a
 * column that ends in `_nano_usd`. After a change: `bun run migrations`, and commit what it wrote.
 */
import type { RateLimits } from '../core/rate-limits.ts'
import type { LimitReset } from '../core/snapshot.ts'
import {
  boolean,
  index,
  integer,
  json,
  nanoUsd,
  real,
  serial,
  table,
  text,
  timestamp,
  uniqueIndex,
  word,
} from './columns.ts'

// All of them are the one schema.
export * from './journal-tables.ts'
export * from './label-tables.ts'
export * from './ledger-tables.ts'
export * from './people-tables.ts'
export * from './record-tables.ts'
export * from './resource-tables.ts'
export * from './workspace-tables.ts'

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
  /** Null until the first start that knows of it. */
  default_workspace_id: text(),
  /** What the whole organisation may ever spend; null: without limit. */
  allowance_nano_usd: nanoUsd(),
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
    first_name: text(),
    last_name: text(),
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
    /** Of all its requests together; null: without limit. */
    rate_limits: json<RateLimits>(),
    /** Whether whole answers are kept for a while, and given again to who asks the same. */
    response_cache_enabled: boolean().notNull().default(false),
    response_cache_ttl_seconds: integer().notNull().default(300),
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
    /** Null: none of its own. */
    rate_limits: json<RateLimits>(),
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
    /** Its share of the requests beside the others of its provider; null: they are tried in their order. */
    weight: real(),
    ...timestamps(),
  },
  (t) => [index('provider_credentials_provider').on(t.provider, t.sort_order)],
)

/** Providers that the operator describes by the API: entries of the form of `providers:` in the settings. */
export const providerEntries = table(
  'provider_entries',
  {
    /** UUID */
    id: text().primaryKey(),
    slug: text().notNull(),
    /** The whole entry, secrets and all, as one sealed JSON text. */
    sealed_entry: text().notNull(),
    disabled: boolean().notNull().default(false),
    ...timestamps(),
  },
  (t) => [uniqueIndex('provider_entries_slug').on(t.slug)],
)

/** What the endpoints that could be called cost, from when on: a row for each price that differs from the one before. */
export const priceHistory = table(
  'price_history',
  {
    id: serial(),
    /** `<provider slug>/<model id>` */
    endpoint_id: text().notNull(),
    provider: text().notNull(),
    model: text().notNull(),
    /** The API's buckets, USD per unit as plain decimals; null: nobody told a price. */
    pricing: json<Record<string, unknown> | null>(),
    valid_from: timestamp().notNull(),
  },
  (t) => [
    index('price_history_model').on(t.model, t.id),
    index('price_history_endpoint').on(t.endpoint_id, t.id),
  ],
)

/** What the operator says of models by the API: entries of the form of `models:` in the settings. */
export const modelOverrides = table(
  'model_overrides',
  {
    /** UUID */
    id: text().primaryKey(),
    /** As the operator wrote it. */
    model: text().notNull(),
    /** '' for all that offer it. */
    provider: text().notNull(),
    entry: json<Record<string, unknown>>().notNull(),
    ...timestamps(),
  },
  (t) => [uniqueIndex('model_overrides_place').on(t.model, t.provider)],
)
