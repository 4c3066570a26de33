import type { Database } from '../db/database.ts'
import { HOURLY_SUMS } from './rollups.ts'

const SUMS = HOURLY_SUMS.join(', ')
const PARTS = 'workspace_id, key_hash, user_id, model, provider_slug, provider_name, endpoint_id, is_byok'
const LABELLED = 'name, value, model, endpoint_id, provider_name, key_hash, workspace_id, user_id'

/** The generations after the watermark, each as a line of its own. */
const UNFOLDED = `
  SELECT created_at / 3600000 * 3600000 AS hour, created_at / 86400000 * 86400000 AS day, ${PARTS}, labels,
         1 AS requests, finish_reason = 'error' AS failed_requests, tokens_prompt AS prompt_tokens,
         tokens_completion AS completion_tokens, native_tokens_reasoning AS reasoning_tokens,
         native_tokens_cached AS cached_tokens, CASE WHEN is_byok THEN 0 ELSE cost_nano_usd END AS usage_nano_usd,
         CASE WHEN is_byok THEN cost_nano_usd ELSE 0 END AS byok_usage_nano_usd
  FROM main.generations WHERE rowid > (SELECT last_row FROM main.folded)`

/** Name and columns of each table of sums, and the lines that are added to it. */
const ADDED = [
  ['usage_hourly', `hour, ${PARTS}, ${SUMS}`, 'unfolded'],
  ['usage_daily', `day, ${PARTS}, ${SUMS}`, 'unfolded'],
  ['usage_labels', `day, ${LABELLED}, ${SUMS}`, 'unfolded_labels'],
] as const

/**
 * Lets what this connection reads of sums include the generations that are not in them yet, for a file that is only
 * read: a server that has it adds them within a second, and one that was killed at its next start. Temporary views
 * take the place of the tables; the file is not changed. Call it within a transaction.
 */
export function includeUnfolded({ file }: Database): void {
  // A file of an older version: sums were written with the rows.
  if (file.query("SELECT 1 FROM main.sqlite_master WHERE name = 'folded'").get() === null) return
  file.run(`CREATE TEMP TABLE unfolded AS ${UNFOLDED}`)
  if (file.query('SELECT 1 FROM unfolded LIMIT 1').get() === null) return
  file.run(
    `CREATE TEMP TABLE unfolded_labels AS
     SELECT unfolded.*, json_extract(label.value, '$[0]') AS name, json_extract(label.value, '$[1]') AS value
     FROM unfolded, json_each(unfolded.labels) AS label WHERE labels IS NOT NULL`,
  )
  for (const [table, columns, added] of ADDED)
    file.run(
      `CREATE TEMP VIEW ${table} AS
       SELECT ${columns} FROM main.${table} UNION ALL SELECT ${columns} FROM temp.${added}`,
    )
}
