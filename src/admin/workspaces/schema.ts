import { type Static, t } from 'elysia'
import type { workspaces } from '../../db/tables.ts'
import { instant, integer, nullable, pageQuery } from '../../http/schemas.ts'
import { rateLimitsField, rateLimitsView } from '../rate-limits-schema.ts'

export type WorkspaceRow = typeof workspaces.$inferSelect

const UUID_FORM = { type: 'string', format: 'uuid' } as const
const modelName = (what: string) =>
  t.Optional(nullable(t.String({ minLength: 1, maxLength: 256, description: `${what}; null: none.` })))

const name = t.String({ minLength: 1, maxLength: 100 })
const slug = t.String({
  minLength: 1,
  maxLength: 50,
  pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  expects: '1 to 50 lower-case letters and digits, with single dashes between them',
  documented: {
    type: 'string',
    minLength: 1,
    maxLength: 50,
    pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  },
  description: 'In paths, in place of the id.',
})

const settings = {
  description: t.Optional(nullable(t.String({ maxLength: 500 }))),
  default_image_model: modelName('Serves a request for images that names no model'),
  default_text_model: modelName('Serves a request that names no model'),
  default_provider_sort: t.Optional(
    nullable(
      t.Union(
        ['price', 'throughput', 'latency', 'exacto'].map((sort) => t.Literal(sort)),
        {
          description: 'How endpoints are ordered where the request does not say; null: spread by price.',
        },
      ),
    ),
  ),
  disabled_server_tools: t.Optional(
    nullable(
      t.Array(t.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 100,
        description: 'Server tools that requests of this workspace may not use.',
      }),
    ),
  ),
  io_logging_api_key_ids: t.Optional(
    nullable(
      t.Array(integer({ minimum: 1 }), {
        maxItems: 1000,
        description: 'Log only requests of these keys (`id` of the key record); null: of all.',
      }),
    ),
  ),
  io_logging_sampling_rate: t.Optional(
    t.Number({
      minimum: 0.0001,
      maximum: 1,
      description: 'The share of generations that are logged: which, their ids tell.',
    }),
  ),
  is_data_discount_logging_enabled: t.Optional(
    t.Boolean({ description: 'Kept for older clients; it changes nothing here.' }),
  ),
  is_observability_broadcast_enabled: t.Optional(t.Boolean()),
  rate_limits: rateLimitsField('all keys of the workspace together'),
  is_observability_io_logging_enabled: t.Optional(
    t.Boolean({
      description: 'Keep what was asked and answered, sealed, for GET /generation/content.',
    }),
  ),
  response_cache_enabled: t.Optional(
    t.Boolean({
      description:
        'Whether answers are kept and given again, at no cost, to who asks the same in this workspace. ' +
        'The header X-OpenRouter-Cache of a request goes before it.',
    }),
  ),
  response_cache_ttl_seconds: t.Optional(
    // Elysia's own integers take "60" for one.
    t.Number({
      minimum: 1,
      maximum: 86_400,
      multipleOf: 1,
      expects: 'an integer from 1 to 86400',
      documented: { type: 'integer', minimum: 1, maximum: 86_400 },
      description: 'How long an answer is kept where the request does not say; default 300.',
    }),
  ),
}

export const createWorkspaceBody = t.Object({ name, slug, ...settings }, { additionalProperties: false })
export type CreateWorkspaceBody = Static<typeof createWorkspaceBody>

export const updateWorkspaceBody = t.Object(
  { name: t.Optional(name), slug: t.Optional(slug), ...settings },
  { additionalProperties: false },
)
export type UpdateWorkspaceBody = Static<typeof updateWorkspaceBody>

export const workspaceParams = t.Object({
  id: t.String({ minLength: 1, maxLength: 100, description: 'The UUID or the slug.' }),
})

export const listWorkspacesQuery = pageQuery({})
export type ListWorkspacesQuery = Static<typeof listWorkspacesQuery>

export const deleteWorkspaceQuery = t.Object(
  {
    confirm_default_workspace_deletion: t.Optional(
      t.String({
        pattern: '^(?:true|false)$',
        maxLength: 5,
        expects: 'true or false',
        documented: { type: 'boolean' },
        description: 'Needed for the default workspace.',
      }),
    ),
  },
  { additionalProperties: true },
)

export const workspace = t.Object({
  id: t.String({ documented: UUID_FORM }),
  name: t.String(),
  slug: t.String(),
  description: nullable(t.String()),
  default_guardrail_id: t.String({
    documented: UUID_FORM,
    description: 'The guardrail of the whole workspace.',
  }),
  default_image_model: nullable(t.String()),
  default_text_model: nullable(t.String()),
  default_provider_sort: nullable(t.String()),
  disabled_server_tools: nullable(t.Array(t.String())),
  include_byok_in_budgets: t.Boolean(),
  io_logging_api_key_ids: nullable(t.Array(t.Number({ documented: { type: 'integer' } }))),
  io_logging_sampling_rate: t.Number(),
  is_data_discount_logging_enabled: t.Boolean(),
  is_observability_broadcast_enabled: t.Boolean(),
  is_observability_io_logging_enabled: t.Boolean(),
  rate_limits: rateLimitsView,
  response_cache_enabled: t.Boolean(),
  response_cache_ttl_seconds: t.Number({ documented: { type: 'integer' } }),
  created_at: instant('When it was made.'),
  created_by: t.String({ description: 'User id.' }),
  updated_at: nullable(instant('When it was last changed; null: never.')),
})
export type Workspace = Static<typeof workspace>

export const workspaceView = (row: WorkspaceRow): Workspace => ({
  id: row.id,
  ...workspaceSettings(row),
  default_guardrail_id: row.default_guardrail_id,
  include_byok_in_budgets: row.include_byok_in_budgets,
  created_at: row.created_at.toISOString(),
  created_by: row.created_by,
  updated_at: row.updated_at?.toISOString() ?? null,
})

/** What people set of a workspace. */
export const workspaceSettings = (row: WorkspaceRow) => ({
  name: row.name,
  slug: row.slug,
  description: row.description,
  default_image_model: row.default_image_model,
  default_text_model: row.default_text_model,
  default_provider_sort: row.default_provider_sort,
  disabled_server_tools: row.disabled_server_tools,
  io_logging_api_key_ids: row.io_logging_api_key_ids,
  io_logging_sampling_rate: row.io_logging_sampling_rate,
  is_data_discount_logging_enabled: row.is_data_discount_logging_enabled,
  is_observability_broadcast_enabled: row.is_observability_broadcast_enabled,
  is_observability_io_logging_enabled: row.is_observability_io_logging_enabled,
  rate_limits: row.rate_limits,
  response_cache_enabled: row.response_cache_enabled,
  response_cache_ttl_seconds: row.response_cache_ttl_seconds,
})
