/** Observability destinations: one line for each field. */
import { Type } from '@sinclair/typebox'
import { inWorkspace } from '../http/schemas.ts'
import { json, table, text, uniqueIndex } from './columns.ts'
import * as field from './fields.ts'
import { type FilterRules, filterRules, withoutGaps } from './filter-rules.ts'
import { flag, samplingRate, shownUuid, textsOf, wordOf, words } from './kinds.ts'
import { ofWorkspace } from './table-parts.ts'

const keyHashes = textsOf(Type.String({ minLength: 1, maxLength: 128 }), {
  minItems: 1,
  maxItems: 1000,
  description: 'Only generations of these keys; null: of all.',
})
const regions = {
  ...textsOf(wordOf(['global', 'europe', 'us', 'eu']), {
    minItems: 1,
    maxItems: 10,
    description: 'Only generations of these data regions; default global. `eu` is europe.',
  }),
  store: (named: readonly string[]) => [...new Set(named.map((name) => (name === 'eu' ? 'europe' : name)))],
}
const rules = {
  column: json<FilterRules>(),
  body: filterRules,
  view: Type.Record(Type.String(), Type.Unknown()),
  store: withoutGaps,
}

const fields = {
  id: field.given(text().primaryKey(), shownUuid()),
  workspace_id: { ...field.given(ofWorkspace(), shownUuid()), create: inWorkspace.workspace_id },
  name: field.required(words({ minLength: 1, maxLength: 200 })),
  /** `create` takes it together with `config`, whose fields depend on it. */
  type: { ...field.given(text().notNull(), Type.String()), audited: true },
  enabled: field.withDefault(flag('Default true.'), true),
  privacy_mode: field.withDefault(flag('Neither prompts nor replies are sent; default false.'), false),
  sampling_rate: field.withDefault(samplingRate('The share of generations that is sent; default 1.'), 1),
  api_key_hashes: field.optional(keyHashes),
  filter_rules: field.optional(rules),
  regions: { ...field.required(regions), create: Type.Optional(regions.body), initial: ['global'] },
  broadcast_generation_cost: field.withDefault(flag(), false),
  broadcast_generation_identity: field.withDefault(flag(), false),
  broadcast_generation_request_context: field.withDefault(flag(), false),
  /** The complete `config`, secrets included, as one sealed JSON text. */
  sealed_config: field.hidden(text().notNull()),
  created_at: field.createdInstant(),
  updated_at: field.changedInstant(),
}

export const destinations = table('observability_destinations', field.columnsOf(fields), (t) => [
  uniqueIndex('observability_destinations_name').on(t.workspace_id, t.name),
])
export const destination = field.resourceOf('destination', destinations.id, destinations, fields)
export type DestinationRow = typeof destinations.$inferSelect
