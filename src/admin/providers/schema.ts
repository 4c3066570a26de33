import { type Static, t } from 'elysia'
import { credential, storedEntry } from '../../db/tables.ts'
import { nullable, uuid } from '../../http/schemas.ts'
import { providerEntry } from '../../providers/entry-schema.ts'

/** For the API document: the service reads entries itself, with the sentences of the settings. */
export const entryBody = t.Object({
  ...providerEntry.properties,
  ...storedEntry.create.properties,
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
  { additionalProperties: false },
)
export type ListCredentialsQuery = Static<typeof listCredentialsQuery>

const outrankedBy = nullable(
  t.Union([t.Literal('settings'), t.Literal('environment')], {
    description: 'Where the same provider is configured with precedence; null: nowhere.',
  }),
)

export const entryView = t.Object({
  ...storedEntry.view.properties,
  outranked_by: outrankedBy,
  entry: t.Record(t.String(), t.Unknown(), { description: 'As stored; secrets are masked.' }),
})
export type EntryView = Static<typeof entryView>

const secret = t.String({
  minLength: 1,
  maxLength: 4096,
  description: 'The key of the provider. Sealed at once and never shown again.',
})
const closed = { additionalProperties: false }
export const createCredentialBody = t.Object({ ...credential.create.properties, credential: secret }, closed)
export const updateCredentialBody = t.Object(
  { ...credential.update.properties, credential: t.Optional(secret) },
  closed,
)
export const credentialReply = t.Object({ ...credential.view.properties, outranked_by: outrankedBy })

export const configuredProvider = t.Object({
  slug: t.String(),
  name: t.String(),
  origin: t.String({
    documented: { type: 'string', enum: ['settings', 'environment', 'stored', 'found', 'built-in'] },
    description: 'Where it comes from. `found`: a local server that identified itself.',
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
  success: t.Boolean({ description: 'Every credential was accepted.' }),
  data: t.Array(
    t.Object({
      credential: t.String({ description: 'Its id.' }),
      success: nullable(t.Boolean({ description: 'Null: it could not be tried.' })),
      status: nullable(t.Number({ documented: { type: 'integer' } })),
      message: t.String({ description: 'The outcome, as a sentence.' }),
    }),
  ),
})
export type ConnectionResult = Static<typeof connectionResult>
