import { type Static, t } from 'elysia'
import type { providerCredentials } from '../../db/tables.ts'
import { instant, integer, nullable, uuid } from '../../http/schemas.ts'
import { providerEntry } from '../../providers/entry-schema.ts'

export type CredentialRow = typeof providerCredentials.$inferSelect

/** For the API document: the service reads entries itself, with the sentences of the settings. */
export const entryBody = t.Object({
  ...providerEntry.properties,
  disabled: t.Optional(t.Boolean({ description: 'Nothing is sent to it; default false.' })),
})

export const slugParams = t.Object({
  slug: t.String({ minLength: 1, maxLength: 100, description: 'The slug of the provider.' }),
})
export const credentialParams = t.Object({ id: uuid('The credential.') })
export const listCredentialsQuery = t.Object(
  {
    provider: t.Optional(
      t.String({ minLength: 1, maxLength: 100, description: 'Only those of the provider with this slug.' }),
    ),
  },
  { additionalProperties: true },
)
export type ListCredentialsQuery = Static<typeof listCredentialsQuery>

const outrankedBy = nullable(
  t.Union([t.Literal('settings'), t.Literal('environment')], {
    description: 'What names the same provider and is used instead; null: nothing.',
  }),
)

export const entryView = t.Object({
  id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  slug: t.String(),
  disabled: t.Boolean(),
  outranked_by: outrankedBy,
  entry: t.Record(t.String(), t.Unknown(), { description: 'As it was given; secrets are masked.' }),
  created_at: instant('When it was made.'),
  updated_at: nullable(instant('When it was last changed; null: never.')),
})

const secret = t.String({
  minLength: 1,
  maxLength: 4096,
  description: 'The key of the provider. Sealed at once and never shown again.',
})
const settings = {
  name: t.Optional(t.String({ minLength: 1, maxLength: 200 })),
  disabled: t.Optional(t.Boolean({ description: 'Whether it is left unused; default false.' })),
  sort_order: t.Optional(
    integer({ minimum: 0, maximum: 1_000_000, description: 'Ascending is the order of trying.' }),
  ),
  weight: t.Optional(
    nullable(
      t.Number({
        minimum: 0.001,
        maximum: 1000,
        description:
          'Its share of the requests beside the others of its provider, where one without a weight counts as 1; null: they are tried in their order.',
      }),
    ),
  ),
}

export const createCredentialBody = t.Object(
  {
    provider: t.String({
      minLength: 1,
      maxLength: 100,
      description: 'The slug of a vendor, such as `openai`, or of a stored entry.',
    }),
    credential: secret,
    base_url: t.Optional(
      t.String({ minLength: 1, maxLength: 2000, description: "Default: the vendor's own address." }),
    ),
    ...settings,
  },
  { additionalProperties: false },
)
export type CreateCredentialBody = Static<typeof createCredentialBody>

export const updateCredentialBody = t.Object(
  { credential: t.Optional(secret), ...settings },
  { additionalProperties: false },
)
export type UpdateCredentialBody = Static<typeof updateCredentialBody>

export const credentialReply = t.Object({
  id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  provider: t.String(),
  name: t.String(),
  label: t.String({ description: 'Masked form.' }),
  base_url: nullable(t.String({ description: "Null: the vendor's own address, or the entry's." })),
  disabled: t.Boolean(),
  sort_order: t.Number({ documented: { type: 'integer' } }),
  weight: nullable(t.Number()),
  outranked_by: outrankedBy,
  created_at: instant('When it was made.'),
  updated_at: nullable(instant('When it was last changed; null: never.')),
})
export type CredentialView = Static<typeof credentialReply>

/** What may be told of a credential: the label, never the secret. */
export const credentialSettings = ({
  id: _id,
  sealed_secret: _secret,
  created_at: _created,
  updated_at: _updated,
  ...settings
}: CredentialRow) => settings

export const credentialView = (row: CredentialRow, origin: string | null): CredentialView => ({
  id: row.id,
  ...credentialSettings(row),
  outranked_by: origin === 'settings' || origin === 'environment' ? origin : null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at?.toISOString() ?? null,
})

export const configuredProvider = t.Object({
  slug: t.String(),
  name: t.String(),
  origin: t.String({
    documented: { type: 'string', enum: ['settings', 'environment', 'stored', 'found', 'built-in'] },
    description: 'Where it comes from. `found`: a server nearby that told what it is.',
  }),
  dialects: t.Array(t.String()),
  base_url: t.String(),
  credentials: t.Array(
    t.Object({
      id: t.String({ description: 'A variable, the slug of an entry, or the id of a stored credential.' }),
      weight: nullable(t.Number()),
    }),
  ),
  model_count: t.Number({ documented: { type: 'integer' } }),
})

export const connectionResult = t.Object({
  success: t.Boolean({ description: 'Every credential was taken.' }),
  data: t.Array(
    t.Object({
      credential: t.String({ description: 'Its id.' }),
      success: nullable(t.Boolean({ description: 'Null: it could not be tried.' })),
      status: nullable(t.Number({ documented: { type: 'integer' } })),
      message: t.String({ description: 'What came back, as a sentence.' }),
    }),
  ),
})
export type ConnectionResult = Static<typeof connectionResult>
