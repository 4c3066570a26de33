import { type Static, t } from 'elysia'
import { detailFields } from '../../../catalog/override-schema.ts'
import { nullable } from '../../../http/schemas.ts'
import { factFields } from '../../../providers/entry-schema.ts'

const closed = { additionalProperties: false }

export const refreshBody = t.Object(
  {
    from: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 2_000,
        description:
          'Source of the model metadata: the URL of a document of the models.dev shape, or `built-in` for those of the program. Default: `SLUICE_MODELS_URL`.',
      }),
    ),
    document: t.Optional(
      t.Record(t.String(), t.Unknown(), { description: 'The document itself, in place of `from`.' }),
    ),
    dry_run: t.Optional(
      t.Boolean({ description: 'Whether to show the changes without applying them; default false.' }),
    ),
    digest: t.Optional(
      t.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'Identifies the changes that were shown; any other change is a 409.',
      }),
    ),
  },
  closed,
)
export type RefreshBody = Static<typeof refreshBody>

const integer = t.Number({ documented: { type: 'integer' } })
const row = t.Object({ provider: t.String(), model: t.String() })
const pricing = t.Union([t.Record(t.String(), t.Unknown()), t.Null()], {
  description: 'USD per token as plain decimals; null: no price.',
})

export const refreshView = t.Object({
  applied: t.Boolean(),
  unchanged: t.Boolean(),
  digest: t.String(),
  source: t.String(),
  facts_at: t.String({ description: 'Date of the newest fact.' }),
  added: t.Array(row, { description: 'Endpoints: a model at a provider.' }),
  removed: t.Array(row),
  price_changes: t.Array(
    t.Object({ provider: t.String(), model: t.String(), before: pricing, after: pricing }),
  ),
  other_changes: t.Array(row, { description: 'Limits, modalities, parameters or names.' }),
  warnings: t.Array(
    t.Object({
      provider: t.String(),
      model: t.String(),
      bucket: t.String(),
      price: t.String(),
      median: t.String(),
      of: t.String({ description: 'Whose median: `model` or `kind`.' }),
      message: t.String(),
    }),
    { description: 'New or changed prices that are more than ten times off.' },
  ),
})
export type RefreshView = Static<typeof refreshView>

export const catalogView = t.Object({
  source: t.String({ description: '`built-in`, or where the facts came from.' }),
  facts_at: t.String({ description: 'Date of the newest fact.' }),
  refreshed_at: nullable(t.String()),
  models: integer,
  endpoints: integer,
})
export type CatalogView = Static<typeof catalogView>

export const overrideBody = t.Object(
  {
    id: t.String({ description: 'The model, as the catalogue or a `providers:` entry has it.' }),
    provider: t.Optional(t.String({ description: 'Only there; absent: wherever it is offered.' })),
    aliases: t.Optional(t.Array(t.String())),
    hidden: t.Optional(t.Boolean({ description: 'Neither listed nor called.' })),
    name: t.Optional(t.String()),
    pricing: t.Optional(
      t.Record(t.String(), t.String(), {
        description: 'Replaces the price: USD per unit as plain decimals, by bucket.',
      }),
    ),
    context_length: t.Optional(t.Number({ documented: { type: 'integer', minimum: 1 } })),
    max_completion_tokens: t.Optional(t.Number({ documented: { type: 'integer', minimum: 1 } })),
    supported_parameters: t.Optional(t.Array(t.String())),
    ...factFields,
    zdr: t.Optional(t.Boolean({ description: 'A short form of `data_policy.zdr`: `always` or `never`.' })),
    distillable: t.Optional(t.Boolean()),
    ...detailFields,
  },
  { additionalProperties: true },
)

export const overrideView = t.Object({
  override_id: nullable(t.String()),
  origin: t.String({ description: '`settings` (the file, which holds first) or `stored`.' }),
  entry: t.Object({}, { additionalProperties: true }),
})
export const overrideParams = t.Object({ override_id: t.String({ minLength: 1, maxLength: 100 }) })

export const savedOverride = t.Object({
  ...overrideView.properties,
  warnings: t.Array(t.String(), { description: 'Prices that are more than ten times off.' }),
})
