/** Tables of the ledger's state between commits: see tables.ts. */
import type { JsonObject } from '../core/events.ts'
import type { CallerTrace } from '../core/export-note.ts'
import type { Label } from '../core/generation.ts'
import type { ApiType } from '../core/request.ts'
import { boolean, integer, json, nanoUsd, table, text, timestamp, word } from './columns.ts'
import type { ChargedScope, StepRow } from './ledger-tables.ts'

/**
 * How far the sums (`spending`, `usage_hourly`, `usage_daily`, `usage_labels`) have followed the rows of `generations`:
 * one row. Commits write rows alone, and sums follow within a second, in the transaction that moves this on.
 */
export const folded = table('folded', {
  id: integer().primaryKey(),
  /** SQLite's row id of the last generation that is in the sums; row ids count up in the order of commits. */
  last_row: integer().notNull(),
})

/**
 * Requests that were sent upstream and are not settled yet; a start after a crash settles them. May still have rows of
 * generations that are not in the sums yet. In SQLite the table has no row ids (see 0013_folded_sums.sql).
 */
export const journal = table('journal', {
  generation_id: text().primaryKey(),
  key_hash: text().notNull(),
  workspace_id: text().notNull(),
  model: text().notNull(),
  provider_slug: text().notNull(),
  provider_name: text().notNull(),
  endpoint_id: text().notNull(),
  api_type: word<ApiType | 'tool'>().notNull(),
  streamed: boolean().notNull(),
  is_byok: boolean().notNull(),
  origin: text().notNull(),
  http_referer: text().notNull(),
  title: text().notNull(),
  user_agent: text().notNull(),
  request_id: text().notNull(),
  session_id: text(),
  external_user: text(),
  started_at: timestamp().notNull(),
  prompt_tokens_estimate: integer().notNull(),
  prompt_cost_nano_usd: nanoUsd().notNull(),
  charged_scopes: json<readonly ChargedScope[]>(),
  labels: json<readonly Label[]>(),
  parent_id: text(),
  step: json<StepRow>(),
  /** The request's `trace`; null: none. */
  trace: json<JsonObject>(),
  /** Null: its caller sent no `traceparent`. */
  caller_trace: json<CallerTrace>(),
})
