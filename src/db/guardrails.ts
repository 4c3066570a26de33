/** Guardrails: one line per field, then their assignments. */
import { Type } from '@sinclair/typebox'
import type { JsonObject } from '../core/events.ts'
import type { LimitReset } from '../core/snapshot.ts'
import { inWorkspace } from '../http/schemas.ts'
import { index, json, table, text, uniqueIndex } from './columns.ts'
import { contentFilter, contentFilterBuiltin } from './content-filters.ts'
import * as field from './fields.ts'
import { apiKeys } from './keys.ts'
import { flag, names, oneOf, serverToolNames, shownUuid, textsOf, usd, wordOf, words } from './kinds.ts'
import { pluginRules } from './plugins.ts'
import { rateLimits } from './rate-limits.ts'
import { byUser, ofWorkspace } from './table-parts.ts'

const regions = textsOf(wordOf(['global', 'europe', 'us']), {
  minItems: 1,
  description: 'Only endpoints that process prompts in these regions; null: anywhere.',
})
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
  id: field.given(text().primaryKey(), shownUuid()),
  name: field.required(words({ minLength: 1, maxLength: 200 })),
  description: field.optional(words({ maxLength: 1000 })),
  allowed_models: field.optional(names(1, 1000, 'Only these models, by any name that requests may use')),
  ignored_models: field.optional(names(1, 1000, 'None of these models')),
  allowed_providers: field.optional(names(1, 1000, 'Only these providers, by slug or name')),
  ignored_providers: field.optional(names(1, 1000, 'None of these providers')),
  allowed_data_regions: field.optional(regions),
  content_filter_builtins: field.optional(filters(contentFilterBuiltin, 50)),
  content_filters: field.optional(filters(contentFilter, 200)),
  disabled_server_tools: field.optional(serverToolNames('guardrail')),
  enable_free_model_publication: field.optional(
    flag('Whether free models that publish prompts may be used.'),
  ),
  enable_free_model_training: field.optional(flag('Whether free models that train on prompts may be used.')),
  enable_paid_model_training: field.optional(flag('Whether paid models that train on prompts may be used.')),
  enforce_zdr: field.optional(flag('Sets each of the flags below that is omitted. Deprecated.')),
  enforce_zdr_anthropic: field.optional(flag("Anthropic's models only at endpoints that retain nothing.")),
  enforce_zdr_google: field.optional(flag("Google's models only at endpoints that retain nothing.")),
  enforce_zdr_openai: field.optional(flag("OpenAI's models only at endpoints that retain nothing.")),
  enforce_zdr_xai: field.optional(flag("xAI's models only at endpoints that retain nothing.")),
  enforce_zdr_other: field.optional(flag('All other models only at endpoints that retain nothing.')),
  include_byok_in_budgets: field.withDefault(
    flag("Whether spending with the workspace's BYOK keys counts."),
    false,
  ),
  /** With `reset_interval`, or neither. */
  limit_nano_usd: field.optional(
    field.named(
      'limit_usd',
      usd({
        exclusiveMinimum: 0,
        description: 'What each key and each member may spend; together with reset_interval, or neither.',
      }),
    ),
  ),
  reset_interval: field.optional(
    oneOf<LimitReset>(
      ['daily', 'weekly', 'monthly'],
      'When the budget resets: at 00:00 UTC, weeks on Monday, months on the 1st.',
    ),
  ),
  plugins: field.optional(pluginRules),
  rate_limits: field.optional(rateLimits('each key and each member')),
  workspace_id: { ...field.given(ofWorkspace(), shownUuid()), create: inWorkspace.workspace_id },
  created_at: field.createdInstant(),
  updated_at: field.updatedInstant(),
}

export const guardrails = table('guardrails', field.columnsOf(fields), (t) => [
  index('guardrails_workspace').on(t.workspace_id, t.created_at),
])
export const guardrail = field.resourceOf('guardrail', guardrails.id, guardrails, fields)
export type GuardrailRow = typeof guardrails.$inferSelect

const assigned = () => ({
  id: field.given(text().primaryKey(), shownUuid()),
  guardrail_id: field.given(
    text()
      .notNull()
      .references(() => guardrails.id, { onDelete: 'cascade' }),
    shownUuid(),
  ),
  assigned_by: field.given(byUser(), Type.String({ description: 'User id.' })),
  created_at: field.createdInstant('When it was assigned.'),
})
const keyFields = {
  ...assigned(),
  key_hash: field.given(
    text()
      .notNull()
      .references(() => apiKeys.hash),
    Type.String(),
  ),
}
// A key and a member have at most one guardrail.
export const guardrailKeys = table('guardrail_keys', field.columnsOf(keyFields), (t) => [
  uniqueIndex('guardrail_keys_key').on(t.key_hash),
  index('guardrail_keys_guardrail').on(t.guardrail_id),
])
export const keyAssignment = field.resourceOf('key_assignment', guardrailKeys.id, guardrailKeys, keyFields)

const memberFields = { ...assigned(), user_id: field.given(byUser(), Type.String()) }
export const guardrailMembers = table('guardrail_members', field.columnsOf(memberFields), (t) => [
  uniqueIndex('guardrail_members_user').on(t.user_id),
  index('guardrail_members_guardrail').on(t.guardrail_id),
])
export const memberAssignment = field.resourceOf(
  'member_assignment',
  guardrailMembers.id,
  guardrailMembers,
  memberFields,
)
