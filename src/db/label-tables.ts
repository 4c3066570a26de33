import { type AnyColumn, integer, primaryKey, table, text } from './columns.ts'
import { usageSums } from './ledger-tables.ts'

/** Sums by the labels of callers: `user`, and the tags of `metadata`. */
const labelColumns = () => ({
  /** Milliseconds since 1970, the day's start in UTC, of when the request came. */
  day: integer().notNull(),
  /** `user`, or `tag:` and the name of a tag. */
  name: text().notNull(),
  /** '': the sum of all values beyond the daily bound. */
  value: text().notNull(),
  model: text().notNull(),
  endpoint_id: text().notNull(),
  provider_name: text().notNull(),
  key_hash: text().notNull(),
  workspace_id: text().notNull(),
  /** The key's creator. */
  user_id: text().notNull(),
  ...usageSums(),
})

const keyOf = (t: Record<keyof ReturnType<typeof labelColumns>, AnyColumn>) =>
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
  })

/** Folded from the rows, by UTC day. Bounded by day and key, see `ledger/label-bounds.ts`. Kept forever. */
export const usageLabels = table('usage_labels', labelColumns(), (t) => [keyOf(t)])

/** Sums of deleted rows: with those of the present rows they equal `usage_labels`. */
export const prunedLabels = table('pruned_labels', labelColumns(), (t) => [keyOf(t)])
