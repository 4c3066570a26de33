/** What workspaces hold beside keys: members, budgets, guardrails and who they are assigned to. */
import type { JsonObject } from '../core/events.ts'
import type { RateLimits } from '../core/rate-limits.ts'
import type { LimitReset } from '../core/snapshot.ts'
import { boolean, index, json, nanoUsd, table, text, timestamp, uniqueIndex, word } from './columns.ts'
import { byUser, createdAt, ofWorkspace } from './table-parts.ts'
import { apiKeys } from './tables.ts'

export const workspaceMembers = table(
  'workspace_members',
  {
    /** UUID */
    id: text().primaryKey(),
    workspace_id: ofWorkspace(),
    user_id: byUser(),
    created_at: createdAt(),
  },
  (t) => [
    uniqueIndex('workspace_members_pair').on(t.workspace_id, t.user_id),
    index('workspace_members_user').on(t.user_id),
  ],
)

export const workspaceBudgets = table(
  'workspace_budgets',
  {
    /** UUID */
    id: text().primaryKey(),
    workspace_id: ofWorkspace(),
    interval: word<LimitReset | 'lifetime'>().notNull(),
    limit_nano_usd: nanoUsd().notNull(),
    created_at: createdAt(),
    updated_at: createdAt(),
  },
  (t) => [uniqueIndex('workspace_budgets_interval').on(t.workspace_id, t.interval)],
)

export const guardrails = table(
  'guardrails',
  {
    /** UUID. A workspace's default guardrail has the id that the workspace promises. */
    id: text().primaryKey(),
    workspace_id: ofWorkspace(),
    name: text().notNull(),
    description: text(),
    /** Lists: null is no restriction. */
    allowed_models: json<string[]>(),
    ignored_models: json<string[]>(),
    allowed_providers: json<string[]>(),
    ignored_providers: json<string[]>(),
    allowed_data_regions: json<string[]>(),
    content_filter_builtins: json<JsonObject[]>(),
    content_filters: json<JsonObject[]>(),
    enable_free_model_publication: boolean(),
    enable_free_model_training: boolean(),
    enable_paid_model_training: boolean(),
    enforce_zdr: boolean(),
    enforce_zdr_anthropic: boolean(),
    enforce_zdr_google: boolean(),
    enforce_zdr_openai: boolean(),
    enforce_zdr_other: boolean(),
    enforce_zdr_xai: boolean(),
    include_byok_in_budgets: boolean().notNull().default(false),
    /** Both or neither. */
    limit_nano_usd: nanoUsd(),
    reset_interval: word<LimitReset>(),
    /** Of each key and each member that it holds for; null: without limit. */
    rate_limits: json<RateLimits>(),
    created_at: createdAt(),
    updated_at: timestamp(),
  },
  (t) => [index('guardrails_workspace').on(t.workspace_id, t.created_at)],
)

export const guardrailKeys = table(
  'guardrail_keys',
  {
    /** UUID */
    id: text().primaryKey(),
    guardrail_id: text()
      .notNull()
      .references(() => guardrails.id, { onDelete: 'cascade' }),
    key_hash: text()
      .notNull()
      .references(() => apiKeys.hash),
    assigned_by: byUser(),
    created_at: createdAt(),
  },
  // A key holds at most one guardrail.
  (t) => [
    uniqueIndex('guardrail_keys_key').on(t.key_hash),
    index('guardrail_keys_guardrail').on(t.guardrail_id),
  ],
)

export const guardrailMembers = table(
  'guardrail_members',
  {
    /** UUID */
    id: text().primaryKey(),
    guardrail_id: text()
      .notNull()
      .references(() => guardrails.id, { onDelete: 'cascade' }),
    user_id: byUser(),
    assigned_by: byUser(),
    created_at: createdAt(),
  },
  // A member holds at most one guardrail.
  (t) => [
    uniqueIndex('guardrail_members_user').on(t.user_id),
    index('guardrail_members_guardrail').on(t.guardrail_id),
  ],
)
