import { type Static, t } from 'elysia'
import { usdOf } from '../../core/money.ts'
import type { guardrails } from '../../db/tables.ts'
import { instant, nullable, pageQuery, uuid } from '../../http/schemas.ts'
import { rateLimitsField, rateLimitsView } from '../rate-limits-schema.ts'
import { contentFilter, contentFilterBuiltin } from './filters-schema.ts'

export type GuardrailRow = typeof guardrails.$inferSelect

/** 2^53 nano-dollars, the largest amount that a counter holds, in whole dollars. */
const MAX_LIMIT_USD = 9_007_199

const words = (description: string) =>
  t.Optional(
    nullable(
      t.Array(t.String({ minLength: 1, maxLength: 256 }), {
        minItems: 1,
        maxItems: 1000,
        description: `${description}; null: no restriction.`,
      }),
    ),
  )
const flag = (description: string) => t.Optional(nullable(t.Boolean({ description })))

const name = t.String({ minLength: 1, maxLength: 200 })
const resetInterval = t.Union([t.Literal('daily'), t.Literal('weekly'), t.Literal('monthly')], {
  description: 'When the budget starts anew: at 00:00 UTC, weeks on Monday, months on the 1st.',
})

const settings = {
  description: t.Optional(nullable(t.String({ maxLength: 1000 }))),
  allowed_models: words('Only these models, by any name that requests may use'),
  ignored_models: words('None of these models'),
  allowed_providers: words('Only these providers, by slug or name'),
  ignored_providers: words('None of these providers'),
  allowed_data_regions: t.Optional(
    nullable(
      t.Array(t.Union([t.Literal('global'), t.Literal('europe'), t.Literal('us')]), {
        minItems: 1,
        description: 'Only endpoints that process prompts in these regions; null: anywhere.',
      }),
    ),
  ),
  content_filter_builtins: t.Optional(nullable(t.Array(contentFilterBuiltin, { maxItems: 50 }))),
  content_filters: t.Optional(nullable(t.Array(contentFilter, { maxItems: 200 }))),
  enable_free_model_publication: flag('Whether free models that publish prompts may be used.'),
  enable_free_model_training: flag('Whether free models that train on prompts may be used.'),
  enable_paid_model_training: flag('Whether paid models that train on prompts may be used.'),
  enforce_zdr: flag('Sets each of the flags below that is left out. Deprecated.'),
  enforce_zdr_anthropic: flag("Anthropic's models only where nothing is retained."),
  enforce_zdr_google: flag("Google's models only where nothing is retained."),
  enforce_zdr_openai: flag("OpenAI's models only where nothing is retained."),
  enforce_zdr_xai: flag("xAI's models only where nothing is retained."),
  enforce_zdr_other: flag('All other models only where nothing is retained.'),
  include_byok_in_budgets: t.Optional(
    t.Boolean({ description: "Whether spending on the workspace's own provider keys counts." }),
  ),
  limit_usd: t.Optional(
    nullable(
      t.Number({
        exclusiveMinimum: 0,
        maximum: MAX_LIMIT_USD,
        description: 'What each key and each member may spend; together with reset_interval, or neither.',
      }),
    ),
  ),
  reset_interval: t.Optional(nullable(resetInterval)),
  rate_limits: rateLimitsField('each key and each member'),
}

export const createGuardrailBody = t.Object(
  { name, ...settings, workspace_id: t.Optional(uuid("Default: the caller's workspace.")) },
  { additionalProperties: false },
)
export type CreateGuardrailBody = Static<typeof createGuardrailBody>

export const updateGuardrailBody = t.Object(
  { name: t.Optional(name), ...settings },
  { additionalProperties: false },
)
export type UpdateGuardrailBody = Static<typeof updateGuardrailBody>

export const guardrailParams = t.Object({ id: uuid('The guardrail.') })

export const listGuardrailsQuery = pageQuery({
  workspace_id: t.Optional(uuid("Default: the caller's workspace.")),
})
export type ListGuardrailsQuery = Static<typeof listGuardrailsQuery>

const list = nullable(t.Array(t.String()))
const flagView = nullable(t.Boolean())

export const guardrail = t.Object({
  id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  workspace_id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  name: t.String(),
  description: nullable(t.String()),
  allowed_models: list,
  ignored_models: list,
  allowed_providers: list,
  ignored_providers: list,
  allowed_data_regions: list,
  content_filter_builtins: nullable(t.Array(t.Record(t.String(), t.Unknown()))),
  content_filters: nullable(t.Array(t.Record(t.String(), t.Unknown()))),
  enable_free_model_publication: flagView,
  enable_free_model_training: flagView,
  enable_paid_model_training: flagView,
  enforce_zdr: flagView,
  enforce_zdr_anthropic: flagView,
  enforce_zdr_google: flagView,
  enforce_zdr_openai: flagView,
  enforce_zdr_other: flagView,
  enforce_zdr_xai: flagView,
  include_byok_in_budgets: t.Boolean(),
  limit_usd: nullable(t.Number()),
  reset_interval: nullable(t.String()),
  rate_limits: rateLimitsView,
  created_at: instant('When it was made.'),
  updated_at: nullable(instant('When it was last changed; null: never.')),
})
export type Guardrail = Static<typeof guardrail>

/** What people set of a guardrail. */
export const guardrailSettings = ({
  id: _id,
  workspace_id: _workspace,
  limit_nano_usd: limit,
  created_at: _created,
  updated_at: _updated,
  ...settings
}: GuardrailRow) => ({ ...settings, limit_usd: limit === null ? null : usdOf(limit) })

export const guardrailView = (row: GuardrailRow): Guardrail => ({
  id: row.id,
  workspace_id: row.workspace_id,
  ...guardrailSettings(row),
  enforce_zdr: row.enforce_zdr ?? false,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at?.toISOString() ?? null,
})
