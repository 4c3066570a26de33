/** Workspaces: one line for each field. */
import { Type } from '@sinclair/typebox'
import { integer as wholeNumber } from '../http/schemas.ts'
import { boolean, integer, json, real, table, text, timestamp, uniqueIndex } from './columns.ts'
import {
  columnsOf,
  createdInstant,
  given,
  hidden,
  optional,
  required,
  resourceOf,
  updatedInstant,
  withDefault,
} from './fields.ts'
import { flag, oneOf, shownUuid, words } from './kinds.ts'
import { ofOrganization, users } from './organization-tables.ts'
import { rateLimits } from './rate-limits.ts'

const SLUG = '^[a-z0-9]+(?:-[a-z0-9]+)*$'
const slug = {
  column: text(),
  body: Type.String({
    minLength: 1,
    maxLength: 50,
    pattern: SLUG,
    expects: '1 to 50 lower-case letters and digits, with single dashes between them',
    documented: { type: 'string', minLength: 1, maxLength: 50, pattern: SLUG },
    description: 'In paths, in place of the id.',
  }),
  view: Type.String(),
}
const modelName = (use: string) => words({ minLength: 1, maxLength: 256, description: `${use}; null: none.` })
const toolNames = {
  column: json<string[]>(),
  body: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 100,
    description: 'Server tools that requests of this workspace may not use.',
  }),
  view: Type.Array(Type.String()),
}
const keyIds = {
  column: json<number[]>(),
  body: Type.Array(wholeNumber({ minimum: 1 }), {
    maxItems: 1000,
    description: 'Log only requests of these keys (`id` of the key record); null: of all.',
  }),
  view: Type.Array(Type.Number({ documented: { type: 'integer' } })),
}
const samplingRate = {
  column: real(),
  body: Type.Number({
    minimum: 0.0001,
    maximum: 1,
    description: 'The share of generations that are logged, chosen by their ids.',
  }),
  view: Type.Number(),
}
const cacheTtl = {
  column: integer(),
  // The framework's integers accept "60" too.
  body: Type.Number({
    minimum: 1,
    maximum: 86_400,
    multipleOf: 1,
    expects: 'an integer from 1 to 86400',
    documented: { type: 'integer', minimum: 1, maximum: 86_400 },
    description: 'How long a reply is cached unless the request sets it; default 300.',
  }),
  view: Type.Number({ documented: { type: 'integer' } }),
}

const fields = {
  id: given(text().primaryKey(), shownUuid()),
  organization_id: hidden(ofOrganization()),
  name: required(words({ minLength: 1, maxLength: 100 })),
  slug: required(slug),
  description: optional(words({ maxLength: 500 })),
  /** The workspace names its id before the guardrail itself is stored. */
  default_guardrail_id: given(text().notNull(), shownUuid('The guardrail of the complete workspace.')),
  default_image_model: optional(modelName('Serves a request for images that names no model')),
  default_text_model: optional(modelName('Serves a request that names no model')),
  default_provider_sort: optional(
    oneOf(
      ['price', 'throughput', 'latency', 'exacto'],
      'The order of endpoints unless the request sets it; null: spread by price.',
    ),
  ),
  disabled_server_tools: optional(toolNames),
  /** Set with the budgets. */
  include_byok_in_budgets: { ...given(boolean().notNull().default(false), Type.Boolean()), initial: false },
  io_logging_api_key_ids: optional(keyIds),
  io_logging_sampling_rate: withDefault(samplingRate, 1),
  is_data_discount_logging_enabled: withDefault(
    flag('Stored for older clients; it changes nothing here.'),
    false,
  ),
  is_observability_broadcast_enabled: withDefault(flag(), false),
  is_observability_io_logging_enabled: withDefault(
    flag('Store prompts and replies, sealed, for GET /generation/content.'),
    false,
  ),
  rate_limits: optional(rateLimits('all keys of the workspace together')),
  response_cache_enabled: withDefault(
    flag(
      'Whether replies are cached and served again, at no cost, to identical requests of this workspace. ' +
        'The header X-OpenRouter-Cache of a request overrides it.',
    ),
    false,
  ),
  response_cache_ttl_seconds: withDefault(cacheTtl, 300),
  created_by: given(
    text()
      .notNull()
      .references(() => users.id),
    Type.String({ description: 'User id.' }),
  ),
  created_at: createdInstant(),
  updated_at: updatedInstant(),
  /** Deleted workspaces stay for the history; they are renamed, so that their slug is free again. */
  deleted_at: { ...hidden(timestamp()), initial: null },
}

export const workspaces = table('workspaces', columnsOf(fields), (t) => [
  uniqueIndex('workspaces_slug').on(t.slug),
])
export const workspace = resourceOf('workspace', workspaces.id, workspaces, fields)
export type WorkspaceRow = typeof workspaces.$inferSelect
