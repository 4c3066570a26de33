import { integer, nanoUsd, primaryKey, table, text } from './columns.ts'

/** Sums of what callers label their requests with: their `user`, and their tags (`metadata`). */
const labelColumns = () => ({
  /** Milliseconds since 1970, the day's start in UTC, of when the request came. */
  day: integer().notNull(),
  /** `user`, or `tag:` and the name of a tag. */
  name: text().notNull(),
  /** '': all values together that are beyond the bounds of a day. */
  value: text().notNull(),
  model: text().notNull(),
  endpoint_id: text().notNull(),
  provider_name: text().notNull(),
  key_hash: text().notNull(),
  workspace_id: text().notNull(),
  /** The key's creator. */
  user_id: text().notNull(),
  requests: integer().notNull().default(0),
  failed_requests: integer().notNull().default(0),
  prompt_tokens: integer().notNull().default(0),
  completion_tokens: integer().notNull().default(0),
  reasoning_tokens: integer().notNull().default(0),
  cached_tokens: integer().notNull().default(0),
  usage_nano_usd: nanoUsd().notNull().default(0),
  byok_usage_nano_usd: nanoUsd().notNull().default(0),
})

/** They follow the rows, by UTC day. Bounded by day and key, see `ledger/labels.ts`; kept for ever. */
export const usageLabels = table('usage_labels', labelColumns(), (t) => [
  primaryKey({
    columns: [
      t.day,
      t.name,
      t.value,
      t.model,
      t.endpoint_id,
      t.provider_name,
      t.key_hash,
      t.workspace_id,
      t.user_id,
    ],
  }),
])

/** What the labels of pruned rows summed to: with those of the rows that are there it is `usage_labels`. */
export const prunedLabels = table('pruned_labels', labelColumns(), (t) => [
  primaryKey({
    columns: [
      t.day,
      t.name,
      t.value,
      t.model,
      t.endpoint_id,
      t.provider_name,
      t.key_hash,
      t.workspace_id,
      t.user_id,
    ],
  }),
])
