import { and, asc, gt, inArray, lt, lte, sql } from 'drizzle-orm'
import { placeholders } from '../db/columns.ts'
import { type Database, transact } from '../db/database.ts'
import { prepareHot } from '../db/hot-statement.ts'
import { generationFeedback, generations, prunedCharges } from '../db/tables.ts'
import { preparePrunedLabels } from './labels.ts'
import { preparePrunedRollups } from './rollups.ts'
import { byokUsageOf, type GenerationRow, usageOf } from './row.ts'
import { windowStart } from './windows.ts'

export interface Slice {
  /** Only rows after this id; '' for the oldest. */
  readonly after: string
  /** Only rows of requests that came earlier, in milliseconds since 1970. */
  readonly before: number
  /** No more are looked at: everything stands still meanwhile. */
  readonly maxRows: number
}

export interface PrunedSlice {
  readonly pruned: number
  /** Where the next slice begins; null: there is nothing more to prune. */
  readonly next: string | null
}

/** What is read of a row before it goes: all that something is a sum of. */
const SUMMED = {
  id: generations.id,
  workspace_id: generations.workspace_id,
  key_hash: generations.key_hash,
  user_id: generations.user_id,
  model: generations.model,
  provider_slug: generations.provider_slug,
  provider_name: generations.provider_name,
  endpoint_id: generations.endpoint_id,
  is_byok: generations.is_byok,
  finish_reason: generations.finish_reason,
  created_at: generations.created_at,
  tokens_prompt: generations.tokens_prompt,
  tokens_completion: generations.tokens_completion,
  native_tokens_reasoning: generations.native_tokens_reasoning,
  native_tokens_cached: generations.native_tokens_cached,
  cost_nano_usd: generations.cost_nano_usd,
  charged_scopes: generations.charged_scopes,
  labels: generations.labels,
}
type SummedRow = Pick<GenerationRow, keyof typeof SUMMED>

/**
 * Prepares the deletion of the oldest rows, one slice a call. In one transaction: rows and what was said of them go, and
 * what they summed to is added to what is known of pruned rows. Counters and hours are not touched. Never to be called
 * while a settlement waits that could not be committed: it may be in the table all the same, is tried again, and must
 * be found there.
 */
export function preparePruning(database: Database): (slice: Slice) => PrunedSlice {
  const { sync, file } = database
  const isAfter = gt(generations.id, sql.placeholder('after'))
  const read = sync
    .select(SUMMED)
    .from(generations)
    .where(isAfter)
    .orderBy(asc(generations.id))
    .limit(sql.placeholder('maxRows'))
    .prepare()
  const old = and(
    isAfter,
    lte(generations.id, sql.placeholder('last')),
    lt(generations.created_at, sql.param(sql.placeholder('before'), generations.created_at)),
  )
  const oldIds = sync.select({ id: generations.id }).from(generations).where(old)
  const forget = prepareHot(
    database,
    sync.delete(generationFeedback).where(inArray(generationFeedback.generation_id, oldIds)),
  )
  const remove = prepareHot(database, sync.delete(generations).where(old))
  const beginLabels = preparePrunedLabels(database)
  const beginHours = preparePrunedRollups(database)
  const carryCharges = prepareCharges(database)

  return ({ after, before, maxRows }) => {
    const rows: SummedRow[] = read.all({ after, maxRows })
    const gone = rows.filter(({ created_at: at }) => at.getTime() < before)
    const last = gone.at(-1)?.id
    if (last === undefined) return { pruned: 0, next: null }
    transact(file, () => {
      const hours = beginHours()
      const labels = beginLabels()
      for (const row of gone) {
        hours.add(row)
        labels.add(row)
      }
      hours.write()
      labels.write()
      carryCharges(gone)
      const bounds = { after, last, before: new Date(before) }
      forget.run(bounds)
      const removed = remove.run(bounds)
      if (removed !== gone.length) throw new Error(`${removed} rows would go, and ${gone.length} were summed`)
    })
    return { pruned: gone.length, next: rows.length < maxRows ? null : last }
  }
}

/** Adds up what rows were booked to beside their key and their workspace. */
function prepareCharges(database: Database): (rows: readonly SummedRow[]) => void {
  const plus = (name: 'usage_nano_usd' | 'byok_usage_nano_usd') =>
    sql`${prunedCharges[name]} + excluded.${sql.identifier(name)}`
  const add = prepareHot(
    database,
    database.sync
      .insert(prunedCharges)
      .values(placeholders(prunedCharges))
      .onConflictDoUpdate({
        target: [prunedCharges.scope, prunedCharges.scope_id, prunedCharges.day],
        set: { usage_nano_usd: plus('usage_nano_usd'), byok_usage_nano_usd: plus('byok_usage_nano_usd') },
      }),
  )
  return (rows) => {
    for (const row of rows) {
      const day = windowStart('daily', row.created_at.getTime())
      for (const { scope, id } of row.charged_scopes ?? [])
        add.run({
          scope,
          scope_id: id,
          day,
          usage_nano_usd: usageOf(row),
          byok_usage_nano_usd: byokUsageOf(row),
        })
    }
  }
}

/** Whether a generation of this id would be older than every one that is there. */
export function isBeforeAll({ sync }: Database, id: string): boolean {
  const oldest = sync
    .select({ id: generations.id })
    .from(generations)
    .orderBy(asc(generations.id))
    .limit(1)
    .get()
  return oldest === undefined || id < oldest.id
}
