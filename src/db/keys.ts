/** API keys: one line for each field. */
import { Type } from '@sinclair/typebox'
import { nullable, uuid } from '../http/schemas.ts'
import { boolean, index, integer, table, text, timestamp, uniqueIndex, word } from './columns.ts'
import * as field from './fields.ts'
import { choice, flag, usd, words } from './kinds.ts'
import { rateLimits } from './rate-limits.ts'
import { byUser, ofWorkspace } from './table-parts.ts'

const audited = true
const fields = {
  /** SHA-256 of the key, lower-case hex. */
  hash: field.given(text().primaryKey(), Type.String()),
  /** One more than the largest so far; rows are never removed. */
  id: field.given(
    integer().notNull(),
    Type.Number({ documented: { type: 'integer' }, description: 'What `io_logging_api_key_ids` names.' }),
  ),
  kind: field.hidden(word<'inference' | 'management'>().notNull()),
  name: field.required(
    words({ minLength: 1, maxLength: 1000, description: 'For people; need not be unique.' }),
  ),
  label: { ...field.given(text().notNull(), Type.String({ description: 'The masked key.' })), audited },
  disabled: field.changeable(field.withDefault(flag(), false)),
  limit_nano_usd: field.optional(
    field.named(
      'limit',
      usd({ minimum: 0, description: 'Spending limit in USD, to the nano-dollar; null: no limit.' }),
    ),
  ),
  limit_reset: field.optional(choice(['daily', 'weekly', 'monthly'])),
  include_byok_in_limit: field.withDefault(flag(), false),
  rate_limits: field.optional(rateLimits('this key')),
  expires_at: {
    ...field.shownInstant('Null: never.'),
    create: Type.Optional(
      nullable(
        Type.String({
          maxLength: 40,
          documented: { type: 'string', format: 'date-time' },
          description: 'UTC, with seconds and `Z`, in the future.',
        }),
      ),
    ),
    audited,
  },
  creator_user_id: {
    ...field.given(byUser(), Type.String()),
    create: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 100 }))),
    audited,
  },
  external_user: { ...field.given(text(), nullable(Type.String())), audited },
  workspace_id: {
    ...field.given(ofWorkspace(), uuid('The workspace that its spending belongs to.')),
    create: Type.Optional(nullable(uuid("Default: the caller's workspace."))),
    audited,
  },
  /** Set by a setting and ensured at every start. */
  bootstrap: { ...field.hidden(boolean().notNull().default(false)), initial: false },
  created_at: field.createdInstant(),
  updated_at: field.updatedInstant(),
  /** Deleted keys stay for the history. */
  deleted_at: { ...field.hidden(timestamp()), initial: null },
}

export const apiKeys = table('api_keys', field.columnsOf(fields), (t) => [
  uniqueIndex('api_keys_id').on(t.id),
  index('api_keys_workspace').on(t.workspace_id, t.created_at),
  index('api_keys_creator').on(t.creator_user_id),
])
export const apiKey = field.resourceOf('key', apiKeys.hash, apiKeys, fields, 'API key')
export type KeyRow = typeof apiKeys.$inferSelect
