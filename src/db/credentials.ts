/** Stored credentials of providers: one line for each field. */
import { Type } from '@sinclair/typebox'
import { nullable, integer as wholeNumber } from '../http/schemas.ts'
import { index, integer, real, table, text } from './columns.ts'
import * as field from './fields.ts'
import { flag, shownUuid, words } from './kinds.ts'

const audited = true
const order = {
  column: integer(),
  body: wholeNumber({ minimum: 0, maximum: 1_000_000, description: 'Keys are tried in ascending order.' }),
  view: Type.Number({ documented: { type: 'integer' } }),
}
const share = {
  column: real(),
  body: Type.Number({
    minimum: 0.001,
    maximum: 1000,
    description:
      'Its share of the requests among the credentials of its provider; one without a weight counts as 1. Null: credentials are tried in their order.',
  }),
  view: Type.Number(),
}
const name = field.required(words({ minLength: 1, maxLength: 200 }))

const fields = {
  id: field.given(text().primaryKey(), shownUuid()),
  provider: field.fixed(
    field.required(
      words({
        minLength: 1,
        maxLength: 100,
        description: 'The slug of a vendor, such as `openai`, or of a stored entry.',
      }),
    ),
  ),
  /** Default: the vendor's. */
  name: { ...name, create: Type.Optional(name.create) },
  label: { ...field.given(text().notNull(), Type.String({ description: 'Masked form.' })), audited },
  /** `v1.<key id>.<nonce>.<ciphertext and tag>`: see db/seal.ts. */
  sealed_secret: field.hidden(text().notNull()),
  base_url: {
    ...field.given(
      text(),
      nullable(Type.String({ description: "Null: the vendor's own address, or the entry's." })),
    ),
    create: Type.Optional(
      Type.String({ minLength: 1, maxLength: 2000, description: "Default: the vendor's own address." }),
    ),
    audited,
  },
  disabled: field.withDefault(flag('Whether it is disabled; default false.'), false),
  sort_order: field.withDefault(order, 0),
  weight: field.optional(share),
  created_at: field.createdInstant(),
  updated_at: field.updatedInstant(),
}

export const providerCredentials = table('provider_credentials', field.columnsOf(fields), (t) => [
  index('provider_credentials_provider').on(t.provider, t.sort_order),
])
export const credential = field.resourceOf(
  'credential',
  providerCredentials.id,
  providerCredentials,
  fields,
  'stored credential',
)
export type CredentialRow = typeof providerCredentials.$inferSelect
