/** Presets, files, destinations and the provider keys that workspaces bring along. */
import type { JsonObject } from '../core/events.ts'
import { boolean, index, integer, json, real, table, text, timestamp, uniqueIndex, word } from './columns.ts'
import { byUser, createdAt, ofWorkspace } from './table-parts.ts'

export const presets = table(
  'presets',
  {
    /** UUID */
    id: text().primaryKey(),
    workspace_id: ofWorkspace(),
    slug: text().notNull(),
    name: text().notNull(),
    description: text(),
    status: word<'active' | 'disabled' | 'archived'>().notNull().default('active'),
    status_updated_at: timestamp(),
    designated_version_id: text(),
    creator_user_id: byUser(),
    created_at: createdAt(),
    updated_at: createdAt(),
  },
  (t) => [uniqueIndex('presets_slug').on(t.workspace_id, t.slug)],
)

export const presetVersions = table(
  'preset_versions',
  {
    /** UUID */
    id: text().primaryKey(),
    preset_id: text()
      .notNull()
      .references(() => presets.id, { onDelete: 'cascade' }),
    /** 1, 2, 3 … without gaps. */
    version: integer().notNull(),
    config: json<JsonObject>().notNull(),
    system_prompt: text(),
    creator_id: byUser(),
    created_at: createdAt(),
    updated_at: createdAt(),
  },
  (t) => [uniqueIndex('preset_versions_number').on(t.preset_id, t.version)],
)

/** What is known of an uploaded file; its bytes lie in the data folder under its id. */
export const files = table(
  'files',
  {
    /** `file_…` */
    id: text().primaryKey(),
    workspace_id: ofWorkspace(),
    filename: text().notNull(),
    mime_type: text().notNull(),
    size_bytes: integer().notNull(),
    /** Of the content, in hex. */
    sha256: text().notNull(),
    created_by_key: text().notNull(),
    created_at: createdAt(),
  },
  (t) => [index('files_workspace').on(t.workspace_id, t.id)],
)

export const destinations = table(
  'observability_destinations',
  {
    /** UUID */
    id: text().primaryKey(),
    workspace_id: ofWorkspace(),
    name: text().notNull(),
    type: text().notNull(),
    enabled: boolean().notNull().default(true),
    privacy_mode: boolean().notNull().default(false),
    sampling_rate: real().notNull().default(1),
    api_key_hashes: json<string[]>(),
    filter_rules: json<JsonObject>(),
    regions: json<string[]>().notNull(),
    broadcast_generation_cost: boolean().notNull().default(false),
    broadcast_generation_identity: boolean().notNull().default(false),
    broadcast_generation_request_context: boolean().notNull().default(false),
    /** The whole `config`, secrets and all, as one sealed JSON text. */
    sealed_config: text().notNull(),
    created_at: createdAt(),
    updated_at: createdAt(),
  },
  (t) => [index('observability_destinations_workspace').on(t.workspace_id, t.created_at)],
)

export const byokKeys = table(
  'byok_keys',
  {
    /** UUID */
    id: text().primaryKey(),
    workspace_id: ofWorkspace(),
    provider: text().notNull(),
    name: text(),
    /** Masked form. */
    label: text().notNull(),
    sealed_key: text().notNull(),
    disabled: boolean().notNull().default(false),
    is_fallback: boolean().notNull().default(false),
    is_required: boolean().notNull().default(false),
    is_byok_only: boolean().notNull().default(false),
    declared_zdr: boolean(),
    /** Lists: null is everybody and everything. */
    allowed_api_key_hashes: json<string[]>(),
    allowed_models: json<string[]>(),
    allowed_user_ids: json<string[]>(),
    /** Ascending is the order of trying. */
    sort_order: integer().notNull(),
    created_at: createdAt(),
    updated_at: timestamp(),
  },
  (t) => [index('byok_keys_workspace').on(t.workspace_id, t.provider, t.sort_order)],
)
