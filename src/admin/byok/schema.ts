import { type Static, t } from 'elysia'
import type { byokKeys } from '../../db/tables.ts'
import { instant, nullable, pageQuery, uuid } from '../../http/schemas.ts'

export type ByokRow = typeof byokKeys.$inferSelect

/** A service account of a cloud, whole, is the longest. */
const MOST_CHARACTERS = 16_384

const key = t.String({
  minLength: 1,
  maxLength: MOST_CHARACTERS,
  description:
    "The provider's API key (Bedrock's may be the JSON of an access key, Vertex's the JSON of a service account). Sealed at once and never shown again.",
})

const names = (least: 0 | 1, description: string) =>
  t.Optional(
    nullable(
      t.Array(t.String({ minLength: 1, maxLength: 256 }), {
        minItems: least,
        maxItems: 100,
        description: `${description}; null: no restriction.`,
      }),
    ),
  )
const flag = (description: string) => t.Optional(t.Boolean({ description }))

const settings = {
  name: t.Optional(nullable(t.String({ maxLength: 255 }))),
  disabled: flag('Whether it is left unused; default false.'),
  is_fallback: flag(
    "Whether it is tried after the gateway's own credentials, in place of before them; default false.",
  ),
  is_required: flag(
    "Whether the gateway's own credentials of this provider are not used for the models that it is for; default false.",
  ),
  is_byok_only: flag(
    "Whether the gateway's own credentials of this provider are not used for any model; not together with is_fallback; default false.",
  ),
  declared_zdr: t.Optional(
    nullable(
      t.Boolean({
        description:
          'What the account has agreed with the provider: that nothing is retained, or not; null: what is known of the endpoint.',
      }),
    ),
  ),
  allowed_api_key_hashes: names(1, 'Only for requests with these keys, by their hash'),
  allowed_models: names(0, 'Only for these models, by any name that requests may use'),
  allowed_user_ids: names(0, 'Only for requests with keys of these people'),
}

export const createByokBody = t.Object(
  {
    provider: t.String({ minLength: 1, maxLength: 256, description: 'Its slug, such as `openai`.' }),
    key,
    ...settings,
    workspace_id: t.Optional(uuid("Default: the caller's workspace.")),
  },
  { additionalProperties: false },
)
export type CreateByokBody = Static<typeof createByokBody>

export const updateByokBody = t.Object({ key: t.Optional(key), ...settings }, { additionalProperties: false })
export type UpdateByokBody = Static<typeof updateByokBody>

export const byokParams = t.Object({ id: uuid('The provider key.') })

export const listByokQuery = pageQuery({
  workspace_id: t.Optional(uuid("Default: the caller's workspace.")),
  provider: t.Optional(t.String({ maxLength: 256, description: 'Only keys of this provider, by slug.' })),
})
export type ListByokQuery = Static<typeof listByokQuery>

const list = nullable(t.Array(t.String()))

export const byokKey = t.Object({
  id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  workspace_id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  provider: t.String(),
  name: nullable(t.String()),
  label: t.String({ description: 'The key, masked.' }),
  disabled: t.Boolean(),
  is_fallback: t.Boolean(),
  is_required: t.Boolean(),
  is_byok_only: t.Boolean(),
  declared_zdr: nullable(t.Boolean()),
  allowed_api_key_hashes: list,
  allowed_models: list,
  allowed_user_ids: list,
  sort_order: t.Number({
    documented: { type: 'integer' },
    description: 'Those of a workspace are tried in ascending order.',
  }),
  created_at: instant('When it was stored.'),
})
export type ByokKey = Static<typeof byokKey>

/** What the audit log may tell: the label in place of the key. */
export const byokSettings = ({
  id: _id,
  workspace_id: _workspace,
  sealed_key: _sealed,
  sort_order: _order,
  created_at: _created,
  updated_at: _updated,
  ...settings
}: ByokRow) => settings

export const byokView = (row: ByokRow): ByokKey => ({
  id: row.id,
  workspace_id: row.workspace_id,
  ...byokSettings(row),
  sort_order: row.sort_order,
  created_at: row.created_at.toISOString(),
})
