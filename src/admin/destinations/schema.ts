import { type Static, t } from 'elysia'
import type { destinations } from '../../db/tables.ts'
import { DESTINATION_TYPES } from '../../exporters/destination-types.ts'
import { instant, nullable, pageQuery, uuid } from '../../http/schemas.ts'
import { filterRules } from './rules-schema.ts'

export type DestinationRow = typeof destinations.$inferSelect

const types = Object.keys(DESTINATION_TYPES)
const name = t.String({ minLength: 1, maxLength: 200 })
const config = t.Record(t.String(), t.Unknown(), {
  description: 'Its fields by type; secrets are sealed at once and shown masked.',
})

const settings = {
  api_key_hashes: t.Optional(
    nullable(
      t.Array(t.String({ minLength: 1, maxLength: 128 }), {
        minItems: 1,
        maxItems: 1000,
        description: 'Only generations of these keys; null: of all.',
      }),
    ),
  ),
  broadcast_generation_cost: t.Optional(t.Boolean()),
  broadcast_generation_identity: t.Optional(t.Boolean()),
  broadcast_generation_request_context: t.Optional(t.Boolean()),
  enabled: t.Optional(t.Boolean({ description: 'Default true.' })),
  filter_rules: t.Optional(nullable(filterRules)),
  privacy_mode: t.Optional(
    t.Boolean({ description: 'Neither prompts nor answers are sent; default false.' }),
  ),
  regions: t.Optional(
    t.Array(t.Union([t.Literal('global'), t.Literal('europe'), t.Literal('us'), t.Literal('eu')]), {
      minItems: 1,
      maxItems: 10,
      description: 'Only generations of these data regions; default global. `eu` is europe.',
    }),
  ),
  sampling_rate: t.Optional(
    t.Number({
      minimum: 0.0001,
      maximum: 1,
      description: 'The share of generations that is sent; default 1.',
    }),
  ),
}

export const createDestinationBody = t.Object(
  {
    name,
    type: t.String({
      pattern: `^(?:${types.join('|')})$`,
      maxLength: 40,
      expects: `one of ${types.join(', ')}`,
      documented: { type: 'string', enum: types },
    }),
    config,
    ...settings,
    workspace_id: t.Optional(uuid("Default: the caller's workspace.")),
  },
  { additionalProperties: false },
)
export type CreateDestinationBody = Static<typeof createDestinationBody>

export const updateDestinationBody = t.Object(
  {
    name: t.Optional(name),
    config: t.Optional(config),
    ...settings,
  },
  { additionalProperties: false },
)
export type UpdateDestinationBody = Static<typeof updateDestinationBody>

export const destinationParams = t.Object({ id: uuid('The destination.') })

export const listDestinationsQuery = pageQuery({
  workspace_id: t.Optional(uuid("Default: the caller's workspace.")),
})
export type ListDestinationsQuery = Static<typeof listDestinationsQuery>

const documentedUuid = t.String({ documented: { type: 'string', format: 'uuid' } })

export const destination = t.Object({
  id: documentedUuid,
  workspace_id: documentedUuid,
  name: t.String(),
  type: t.String(),
  enabled: t.Boolean(),
  privacy_mode: t.Boolean(),
  sampling_rate: t.Number(),
  api_key_hashes: nullable(t.Array(t.String())),
  filter_rules: nullable(t.Record(t.String(), t.Unknown())),
  regions: t.Array(t.String()),
  broadcast_generation_cost: t.Boolean(),
  broadcast_generation_identity: t.Boolean(),
  broadcast_generation_request_context: t.Boolean(),
  config: t.Record(t.String(), t.Unknown(), { description: 'Secrets and headers are masked.' }),
  created_at: instant('When it was made.'),
  updated_at: instant('When it was last changed.'),
})
export type Destination = Static<typeof destination>

export const testResult = t.Object({
  success: t.Boolean({ description: 'It answered with a 2xx.' }),
  status: nullable(t.Number({ documented: { type: 'integer' }, description: 'What it answered with.' })),
  message: t.String({ description: 'What came back, as a sentence.' }),
})
export type TestResult = Static<typeof testResult>

/** What people set of a destination, but for its config. */
export const destinationSettings = ({
  id: _id,
  workspace_id: _workspace,
  sealed_config: _config,
  created_at: _created,
  updated_at: _updated,
  ...settings
}: DestinationRow) => settings

export const destinationView = (row: DestinationRow, config: Destination['config']): Destination => ({
  id: row.id,
  workspace_id: row.workspace_id,
  ...destinationSettings(row),
  config,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})
