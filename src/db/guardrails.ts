/** Guardrails: one line per field, then their assignments. */
import { Type } from '@sinclair/typebox'
import type { JsonObject } from '../core/events.ts'
import type { LimitReset } from '../core/snapshot.ts'
import { inWorkspace } from '../http/schemas.ts'
import { index, json, table, text, uniqueIndex } from './columns.ts'
import { contentFilter, contentFilterBuiltin } from './content-filters.ts'
import {
  columnsOf,
  createdInstant,
  given,
  named,
  optional,
  required,
  resourceOf,
  updatedInstant,
  withDefault,
} from './fields.ts'
import { apiKeys } from './keys.ts'
import { flag, oneOf, shownUuid, usd, wordOf, words } from './kinds.ts'
import { rateLimits } from './rate-limits.ts'
import { byUser, ofWorkspace } from './table-parts.ts'

const names = (description: string) => ({
  column: json<string[]>(),
  body: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
    minItems: 1,
    maxItems: 1000,
    description: `${description}; null: no restriction.`,
  }),
  view: Type.Array(Type.String()),
})
const regions = {
  column: json<string[]>(),
  body: Type.Array(wordOf(['global', 'europe', 'us']), {
    minItems: 1,
    description: 'Only endpoints that process prompts in these regions; null: anywhere.',
  }),
  view: Type.Array(Type.String()),
}
const filters = <Filter extends typeof contentFilter | typeof contentFilterBuiltin>(
  filter: Filter,
  maxItems: number,
) => ({
  column: json<JsonObject[]>(),
  body: Type.Array<Filter>(filter, { maxItems }),
  view: Type.Array(Type.Record(Type.String(), Type.Unknown())),
})

const fields = {
  /** UUID. A workspace names the id of its default guardrail. */
  id: given(text().primaryKey(), shownUuid()),
  name: required(words({ minLength: 1, maxLength: 200 })),
  description: optional(words({ maxLength: 1000 })),
  allowed_models: optional(names('Only these models, by any name that requests may use')),
  ignored_models: optional(names('None of these models')),
  allowed_providers: optional(names('Only these providers, by slug or name')),
  ignored_providers: optional(names('None of these providers')),
  allowed_data_regions: optional(regions),
  content_filter_builtins: optional(filters(contentFilterBuiltin, 50)),
  content_filters: optional(filters(contentFilter, 200)),
  enable_free_model_publication: optional(flag('Whether free models that publish prompts may be used.')),
  enable_free_model_training: optional(flag('Whether free models that train on prompts may be used.')),
  enable_paid_model_training: optional(flag('Whether paid models that train on prompts may be used.')),
  enforce_zdr: optional(flag('Sets each of the flags below that is omitted. Deprecated.')),
  enforce_zdr_anthropic: optional(flag("Anthropic's models only where nothing is retained.")),
  enforce_zdr_google: optional(flag("Google's models only where nothing is retained.")),
  enforce_zdr_openai: optional(flag("OpenAI's models only where nothing is retained.")),
  enforce_zdr_xai: optional(flag("xAI's models only where nothing is retained.")),
  enforce_zdr_other: optional(flag('All other models only where nothing is retained.')),
  include_byok_in_budgets: withDefault(
    flag("Whether spending with the workspace's BYOK keys counts."),
    false,
  ),
  /** With `reset_interval`, or neither. */
  limit_nano_usd: optional(
    named(
      'limit_usd',
      usd({
        exclusiveMinimum: 0,
        description: 'What each key and each member may spend; together with reset_interval, or neither.',
      }),
    ),
  ),
  reset_interval: optional(
    oneOf<LimitReset>(
      ['daily', 'weekly', 'monthly'],
      'When the budget starts anew: at 00:00 UTC, weeks on Monday, months on the 1st.',
    ),
  ),
  rate_limits: optional(rateLimits('each key and each member')),
  workspace_id: { ...given(ofWorkspace(), shownUuid()), create: inWorkspace.workspace_id },
  created_at: createdInstant(),
  updated_at: updatedInstant(),
}

export const guardrails = table('guardrails', columnsOf(fields), (t) => [
  index('guardrails_workspace').on(t.workspace_id, t.created_at),
])
export const guardrail = resourceOf('guardrail', guardrails.id, guardrails, fields)
export type GuardrailRow = typeof guardrails.$inferSelect

const assigned = () => ({
  id: given(text().primaryKey(), shownUuid()),
  guardrail_id: given(
    text()
      .notNull()
      .references(() => guardrails.id, { onDelete: 'cascade' }),
    shownUuid(),
  ),
  assigned_by: given(byUser(), Type.String({ description: 'User id.' })),
  created_at: createdInstant('When it was assigned.'),
})
const keyFields = {
  ...assigned(),
  key_hash: given(
    text()
      .notNull()
      .references(() => apiKeys.hash),
    Type.String(),
  ),
}
// A key and a member have at most one guardrail.
export const guardrailKeys = table('guardrail_keys', columnsOf(keyFields), (t) => [
  uniqueIndex('guardrail_keys_key').on(t.key_hash),
  index('guardrail_keys_guardrail').on(t.guardrail_id),
])
export const keyAssignment = resourceOf('key_assignment', guardrailKeys.id, guardrailKeys, keyFields)

const memberFields = { ...assigned(), user_id: given(byUser(), Type.String()) }
export const guardrailMembers = table('guardrail_members', columnsOf(memberFields), (t) => [
  uniqueIndex('guardrail_members_user').on(t.user_id),
  index('guardrail_members_guardrail').on(t.guardrail_id),
])
export const memberAssignment = resourceOf(
  'member_assignment',
  guardrailMembers.id,
  guardrailMembers,
  memberFields,
)
