import { asc, sql } from 'drizzle-orm'
import { placeholders } from '../db/columns.ts'
import { type Database, transact } from '../db/database.ts'
import { prepareHot } from '../db/hot-statement.ts'
import { generations, prunedCharges } from '../db/tables.ts'
import { preparePrunedLabels } from './labels.ts'
import { preparePrunedRollups } from './rollups.ts'
import { byokUsageOf, type StoredSummed, SUMMED_COLUMNS, type Summed, summedOf, usageOf } from './summed.ts'
import { windowStart } from './windows.ts'

export interface Slice {
  /** Only rows after this id; '' for the oldest. */
  readonly after: string
  /** Only rows of earlier requests, in milliseconds since 1970. */
  readonly before: number
  /** The most rows in one slice: all requests wait meanwhile. */
  readonly maxRows: number
}

export interface PrunedSlice {
  readonly pruned: number
  /** Where the next slice begins; null: there is nothing more to prune. */
  readonly next: string | null
}

interface Read {
  readonly id: string
  readonly row: number
  readonly summed: Summed
}

/**
 * Prepares the deletion of the oldest rows, one slice per call. One transaction deletes the rows with their feedback and
 * adds their sums to those of pruned rows. Counters and hours do not change. Must not be called while a settlement waits
 * whose commit failed: its row may be in the table, and the retry must find it there.
 */
export function preparePruning(database: Database): (slice: Slice) => PrunedSlice {
  const { file } = database
  const read = file.prepare<StoredSummed & { id: string; row: number }, [string, number]>(
    `SELECT id, rowid AS row, ${SUMMED_COLUMNS} FROM generations WHERE id > ? ORDER BY id LIMIT ?`,
  )
  const folded = file.prepare<{ last_row: number }, []>('SELECT last_row FROM folded')
  const old = 'FROM generations WHERE id > ? AND id <= ? AND created_at < ? AND rowid <= ?'
  const forget = file.prepare<unknown, Bounds>(
    `DELETE FROM generation_feedback WHERE generation_id IN (SELECT id ${old})`,
  )
  const remove = file.prepare<unknown, Bounds>(`DELETE ${old}`)
  // SQLite reuses the row ids of rows that were deleted at the end of the table.
  const keepWatermark = file.prepare(
    'UPDATE folded SET last_row = min(last_row, (SELECT coalesce(max(rowid), 0) FROM generations))',
  )
  const beginLabels = preparePrunedLabels(database)
  const beginHours = preparePrunedRollups(database)
  const carryCharges = prepareCharges(database)

  function take(gone: readonly Read[], bounds: Bounds): void {
    const hours = beginHours()
    const labels = beginLabels()
    for (const { summed } of gone) {
      hours.add(summed)
      labels.add(summed)
    }
    hours.write()
    labels.write()
    carryCharges(gone.map(({ summed }) => summed))
    forget.run(...bounds)
    const removed = remove.run(...bounds).changes
    if (removed !== gone.length)
      throw new Error(`${removed} rows would be deleted, but ${gone.length} were summed`)
    keepWatermark.run()
  }

  return ({ after, before, maxRows }) => {
    const rows: Read[] = read
      .all(after, maxRows)
      .map((stored) => ({ id: stored.id, row: stored.row, summed: summedOf(stored) }))
    // Rows stay until they are in the sums.
    const lastFolded = folded.get()?.last_row ?? 0
    const gone = rows.filter(({ row, summed }) => summed.startedAt < before && row <= lastFolded)
    const last = gone.at(-1)?.id
    if (last === undefined) return { pruned: 0, next: null }
    transact(file, () => take(gone, [after, last, before, lastFolded]))
    return { pruned: gone.length, next: rows.length < maxRows ? null : last }
  }
}

/** After and up to which id, before which instant, up to which row. */
type Bounds = [after: string, last: string, before: number, row: number]

/** Sums the charges of rows to scopes other than their key and workspace. */
function prepareCharges(database: Database): (rows: readonly Summed[]) => void {
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
      const day = windowStart('daily', row.startedAt)
      for (const { scope, id } of row.chargedScopes ?? [])
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

/** True if a generation with this id would be older than every stored one. */
export function isBeforeAll({ sync }: Database, id: string): boolean {
  const oldest = sync
    .select({ id: generations.id })
    .from(generations)
    .orderBy(asc(generations.id))
    .limit(1)
    .get()
  return oldest === undefined || id < oldest.id
}
