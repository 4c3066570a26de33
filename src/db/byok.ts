/** BYOK keys: credentials of providers that belong to a workspace. One line for each field. */
import { Type } from '@sinclair/typebox'
import { inWorkspace } from '../http/schemas.ts'
import { index, integer, json, table, text, timestamp } from './columns.ts'
import {
  columnsOf,
  createdInstant,
  fixed,
  given,
  hidden,
  optional,
  required,
  resourceOf,
  withDefault,
} from './fields.ts'
import { flag, shownUuid, words } from './kinds.ts'
import { ofWorkspace } from './table-parts.ts'

const names = (minItems: 0 | 1, description: string) => ({
  column: json<string[]>(),
  body: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
    minItems,
    maxItems: 100,
    description: `${description}; null: no restriction.`,
  }),
  view: Type.Array(Type.String()),
})

const fields = {
  id: given(text().primaryKey(), shownUuid()),
  workspace_id: { ...given(ofWorkspace(), shownUuid()), create: inWorkspace.workspace_id },
  provider: fixed(
    required(words({ minLength: 1, maxLength: 256, description: 'Its slug, such as `openai`.' })),
  ),
  name: optional(words({ maxLength: 255 })),
  label: { ...given(text().notNull(), Type.String({ description: 'The key, masked.' })), audited: true },
  sealed_key: hidden(text().notNull()),
  disabled: withDefault(flag('Whether it is left unused; default false.'), false),
  is_fallback: withDefault(
    flag("Whether it is tried after the gateway's own credentials instead of before them; default false."),
    false,
  ),
  is_required: withDefault(
    flag(
      "Whether the gateway's own credentials of this provider are not used for the models that it is for; default false.",
    ),
    false,
  ),
  is_byok_only: withDefault(
    flag(
      "Whether the gateway's own credentials of this provider are not used for any model; not together with is_fallback; default false.",
    ),
    false,
  ),
  declared_zdr: optional(
    flag(
      'Whether the account has agreed with the provider that nothing is retained; null: the endpoint decides.',
    ),
  ),
  allowed_api_key_hashes: optional(names(1, 'Only for requests with these keys, by their hash')),
  allowed_models: optional(names(0, 'Only for these models, by any name that requests may use')),
  allowed_user_ids: optional(names(0, 'Only for requests with keys of these people')),
  sort_order: given(
    integer().notNull(),
    Type.Number({
      documented: { type: 'integer' },
      description: 'The keys of a workspace are tried in ascending order.',
    }),
  ),
  created_at: createdInstant('When it was stored.'),
  updated_at: { ...hidden(timestamp()), initial: null },
}

export const byokKeys = table('byok_keys', columnsOf(fields), (t) => [
  index('byok_keys_workspace').on(t.workspace_id, t.provider, t.sort_order),
])
export const byokKey = resourceOf('byok', byokKeys.id, byokKeys, fields, 'provider key')
export type ByokRow = typeof byokKeys.$inferSelect
