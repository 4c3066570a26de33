/** Observability destinations: one line for each field. */
import { Type } from '@sinclair/typebox'
import type { JsonObject } from '../core/events.ts'
import { inWorkspace } from '../http/schemas.ts'
import { json, real, table, text, uniqueIndex } from './columns.ts'
import {
  changedInstant,
  columnsOf,
  createdInstant,
  given,
  hidden,
  optional,
  required,
  resourceOf,
  withDefault,
} from './fields.ts'
import { filterRules, withoutGaps } from './filter-rules.ts'
import { flag, shownUuid, wordOf, words } from './kinds.ts'
import { ofWorkspace } from './table-parts.ts'

const keyHashes = {
  column: json<string[]>(),
  body: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    minItems: 1,
    maxItems: 1000,
    description: 'Only generations of these keys; null: of all.',
  }),
  view: Type.Array(Type.String()),
}
const regions = {
  column: json<string[]>(),
  body: Type.Array(wordOf(['global', 'europe', 'us', 'eu']), {
    minItems: 1,
    maxItems: 10,
    description: 'Only generations of these data regions; default global. `eu` is europe.',
  }),
  view: Type.Array(Type.String()),
  store: (named: readonly string[]) => [...new Set(named.map((name) => (name === 'eu' ? 'europe' : name)))],
}
const rules = {
  column: json<JsonObject>(),
  body: filterRules,
  view: Type.Record(Type.String(), Type.Unknown()),
  store: withoutGaps,
}
const samplingRate = {
  column: real(),
  body: Type.Number({
    minimum: 0.0001,
    maximum: 1,
    description: 'The share of generations that is sent; default 1.',
  }),
  view: Type.Number(),
}

const fields = {
  id: given(text().primaryKey(), shownUuid()),
  workspace_id: { ...given(ofWorkspace(), shownUuid()), create: inWorkspace.workspace_id },
  name: required(words({ minLength: 1, maxLength: 200 })),
  /** `create` takes it together with `config`, whose fields depend on it. */
  type: { ...given(text().notNull(), Type.String()), audited: true },
  enabled: withDefault(flag('Default true.'), true),
  privacy_mode: withDefault(flag('Neither prompts nor replies are sent; default false.'), false),
  sampling_rate: withDefault(samplingRate, 1),
  api_key_hashes: optional(keyHashes),
  filter_rules: optional(rules),
  regions: { ...required(regions), create: Type.Optional(regions.body), initial: ['global'] },
  broadcast_generation_cost: withDefault(flag(), false),
  broadcast_generation_identity: withDefault(flag(), false),
  broadcast_generation_request_context: withDefault(flag(), false),
  /** The complete `config`, secrets included, as one sealed JSON text. */
  sealed_config: hidden(text().notNull()),
  created_at: createdInstant(),
  updated_at: changedInstant(),
}

export const destinations = table('observability_destinations', columnsOf(fields), (t) => [
  uniqueIndex('observability_destinations_name').on(t.workspace_id, t.name),
])
export const destination = resourceOf('destination', destinations.id, destinations, fields)
export type DestinationRow = typeof destinations.$inferSelect
