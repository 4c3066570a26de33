/** BYOK keys: credentials of providers that belong to a workspace. One line for each field. */
import { Type } from '@sinclair/typebox'
import { inWorkspace } from '../http/schemas.ts'
import { index, integer, table, text, timestamp } from './columns.ts'
import * as field from './fields.ts'
import { flag, names, shownUuid, words } from './kinds.ts'
import { ofWorkspace } from './table-parts.ts'

const fields = {
  id: field.given(text().primaryKey(), shownUuid()),
  workspace_id: { ...field.given(ofWorkspace(), shownUuid()), create: inWorkspace.workspace_id },
  provider: field.fixed(
    field.required(words({ minLength: 1, maxLength: 256, description: 'Its slug, such as `openai`.' })),
  ),
  name: field.optional(words({ maxLength: 255 })),
  label: {
    ...field.given(text().notNull(), Type.String({ description: 'The key, masked.' })),
    audited: true,
  },
  sealed_key: field.hidden(text().notNull()),
  disabled: field.withDefault(flag('Whether it is disabled; default false.'), false),
  is_fallback: field.withDefault(
    flag("Whether it is tried after the gateway's own credentials instead of before them; default false."),
    false,
  ),
  is_required: field.withDefault(
    flag(
      "Whether the gateway's own credentials of this provider are not used for the models that it is for; default false.",
    ),
    false,
  ),
  is_byok_only: field.withDefault(
    flag(
      "Whether the gateway's own credentials of this provider are not used for any model; not together with is_fallback; default false.",
    ),
    false,
  ),
  declared_zdr: field.optional(
    flag(
      'Whether the account has agreed with the provider that nothing is retained; null: the endpoint decides.',
    ),
  ),
  allowed_api_key_hashes: field.optional(names(1, 100, 'Only for requests with these keys, by their hash')),
  allowed_models: field.optional(names(0, 100, 'Only for these models, by any name that requests may use')),
  allowed_user_ids: field.optional(names(0, 100, 'Only for requests with keys of these people')),
  sort_order: field.given(
    integer().notNull(),
    Type.Number({
      documented: { type: 'integer' },
      description: 'Keys are tried in ascending order.',
    }),
  ),
  created_at: field.createdInstant('When it was stored.'),
  updated_at: { ...field.hidden(timestamp()), initial: null },
}

export const byokKeys = table('byok_keys', field.columnsOf(fields), (t) => [
  index('byok_keys_workspace').on(t.workspace_id, t.provider, t.sort_order),
])
export const byokKey = field.resourceOf('byok', byokKeys.id, byokKeys, fields, 'provider key')
export type ByokRow = typeof byokKeys.$inferSelect
