/** Workspaces: one line for each field. */
import { Type } from '@sinclair/typebox'
import { integer as wholeNumber } from '../http/schemas.ts'
import { boolean, integer, json, table, text, timestamp, uniqueIndex } from './columns.ts'
import * as field from './fields.ts'
import { flag, oneOf, samplingRate, serverToolNames, shownUuid, words } from './kinds.ts'
import { ofOrganization, users } from './organization-tables.ts'
import { defaultPlugins } from './plugins.ts'
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
const keyIds = {
  column: json<number[]>(),
  body: Type.Array(wholeNumber({ minimum: 1 }), {
    maxItems: 1000,
    description: 'Log only requests of these keys (`id` of the key record); null: of all.',
  }),
  view: Type.Array(Type.Number({ documented: { type: 'integer' } })),
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
  id: field.given(text().primaryKey(), shownUuid()),
  organization_id: field.hidden(ofOrganization()),
  name: field.required(words({ minLength: 1, maxLength: 100 })),
  slug: field.required(slug),
  description: field.optional(words({ maxLength: 500 })),
  /** The workspace names its id before the guardrail itself is stored. */
  default_guardrail_id: field.given(
    text().notNull(),
    shownUuid('The guardrail that applies to every key of the workspace.'),
  ),
  default_image_model: field.optional(modelName('Serves a request for images that names no model')),
  default_text_model: field.optional(modelName('Serves a request that names no model')),
  default_provider_sort: field.optional(
    oneOf(
      ['price', 'throughput', 'latency', 'exacto'],
      'The order of endpoints unless the request sets it; null: spread by price.',
    ),
  ),
  disabled_server_tools: field.optional(serverToolNames('workspace')),
  /** Set with the budgets. */
  include_byok_in_budgets: {
    ...field.given(boolean().notNull().default(false), Type.Boolean()),
    initial: false,
  },
  io_logging_api_key_ids: field.optional(keyIds),
  io_logging_sampling_rate: field.withDefault(
    samplingRate('The share of generations that are logged, chosen by their ids.'),
    1,
  ),
  is_data_discount_logging_enabled: field.withDefault(
    flag('Stored for older clients; it changes nothing here.'),
    false,
  ),
  is_observability_broadcast_enabled: {
    ...field.withDefault(
      flag('Generations are sent to its observability destinations; default true.'),
      false,
    ),
    // Creating a destination is the decision to send; this is the switch that stops all of them.
    initial: true,
  },
  is_observability_io_logging_enabled: field.withDefault(
    flag('Store prompts and replies, sealed, for GET /generation/content.'),
    false,
  ),
  plugins: field.optional(defaultPlugins),
  rate_limits: field.optional(rateLimits('all keys of the workspace together')),
  response_cache_enabled: field.withDefault(
    flag(
      'Whether replies are cached and served again, at no cost, to identical requests of this workspace. ' +
        'The header X-OpenRouter-Cache of a request overrides it.',
    ),
    false,
  ),
  response_cache_ttl_seconds: field.withDefault(cacheTtl, 300),
  created_by: field.given(
    text()
      .notNull()
      .references(() => users.id),
    Type.String({ description: 'User id.' }),
  ),
  created_at: field.createdInstant(),
  updated_at: field.updatedInstant(),
  /** Deleted workspaces stay for the history; they are renamed, so that their slug is free again. */
  deleted_at: { ...field.hidden(timestamp()), initial: null },
}

export const workspaces = table('workspaces', field.columnsOf(fields), (t) => [
  uniqueIndex('workspaces_slug').on(t.slug),
])
export const workspace = field.resourceOf('workspace', workspaces.id, workspaces, fields)
export type WorkspaceRow = typeof workspaces.$inferSelect
