import { sql } from 'drizzle-orm'
import { placeholders } from '../db/columns.ts'
import type { Database, SyncDb } from '../db/database.ts'
import { prepareHot } from '../db/hot-statement.ts'
import { prunedHourly, usageDaily, usageHourly } from '../db/tables.ts'
import { byokUsageOf, type GenerationRow, usageOf } from './row.ts'
import { hourStart, windowStart } from './windows.ts'

export type HourlyRow = typeof usageHourly.$inferSelect
/** Where sums by the hour are kept. */
type Hours = typeof usageHourly | typeof prunedHourly

/** What is summed of a row, and by what. */
export type RolledUp = Pick<
  GenerationRow,
  | 'created_at'
  | 'workspace_id'
  | 'key_hash'
  | 'user_id'
  | 'model'
  | 'provider_slug'
  | 'provider_name'
  | 'endpoint_id'
  | 'is_byok'
  | 'finish_reason'
  | 'tokens_prompt'
  | 'tokens_completion'
  | 'native_tokens_reasoning'
  | 'native_tokens_cached'
  | 'cost_nano_usd'
>

/** Adds the rows of one transaction to their hours and days. */
export interface Rollups {
  add(row: RolledUp): void
  /** Writes inside the caller's transaction. */
  write(): void
}

/** Prepares the statements once; each transaction begins its own sums, of hours and days. */
export function prepareRollups(database: Database): () => Rollups {
  const addHourly = prepareHot(database, hourlyQuery(database.sync, usageHourly))
  const addDaily = prepareHot(database, dailyQuery(database.sync))
  return () =>
    sumsByHour((line) => {
      addHourly.run(line)
      addDaily.run({ ...line, day: windowStart('daily', line.hour) })
    })
}

/** The same for rows that are pruned: their sums are kept by the hour alone. */
export function preparePrunedRollups(database: Database): () => Rollups {
  const addHourly = prepareHot(database, hourlyQuery(database.sync, prunedHourly))
  return () => sumsByHour(addHourly.run)
}

function sumsByHour(write: (line: HourlyRow) => void): Rollups {
  const byKey = new Map<string, HourlyRow[]>()
  return {
    add(row) {
      let lines = byKey.get(row.key_hash)
      if (lines === undefined) {
        lines = []
        byKey.set(row.key_hash, lines)
      }
      const hour = hourStart(row.created_at.getTime())
      // A batch has few lines for a key, so they are looked through.
      const line = lines.find((known) => isSame(known, row, hour))
      if (line === undefined) lines.push(lineOf(row, hour))
      else addTo(line, row)
    },
    write() {
      for (const line of [...byKey.values()].flat()) write(line)
    },
  }
}

const hourlyQuery = (db: SyncDb, hours: Hours) =>
  db
    .insert(hours)
    .values(placeholders(hours))
    .onConflictDoUpdate({
      target: [hours.hour, ...partsOf(hours)],
      set: sumsOf(hours),
    })

const dailyQuery = (db: SyncDb) =>
  db
    .insert(usageDaily)
    .values(placeholders(usageDaily))
    .onConflictDoUpdate({
      target: [usageDaily.day, ...partsOf(usageDaily)],
      set: sumsOf(usageDaily),
    })

type UsageTable = Hours | typeof usageDaily

const partsOf = (of: UsageTable) => [
  of.workspace_id,
  of.key_hash,
  of.user_id,
  of.model,
  of.provider_slug,
  of.provider_name,
  of.endpoint_id,
  of.is_byok,
]

const sumsOf = (of: UsageTable) =>
  Object.fromEntries(HOURLY_SUMS.map((name) => [name, sql`${of[name]} + excluded.${sql.identifier(name)}`]))

/** The columns of the hourly and the daily table that add up. */
export const HOURLY_SUMS = [
  'requests',
  'failed_requests',
  'prompt_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cached_tokens',
  'usage_nano_usd',
  'byok_usage_nano_usd',
] as const satisfies readonly (keyof HourlyRow)[]

const isSame = (line: HourlyRow, row: RolledUp, hour: number): boolean =>
  line.hour === hour &&
  line.endpoint_id === row.endpoint_id &&
  line.model === row.model &&
  line.is_byok === row.is_byok &&
  line.workspace_id === row.workspace_id &&
  line.user_id === row.user_id &&
  line.provider_slug === row.provider_slug &&
  line.provider_name === row.provider_name

function lineOf(row: RolledUp, hour: number): HourlyRow {
  const line: HourlyRow = {
    hour,
    workspace_id: row.workspace_id,
    key_hash: row.key_hash,
    user_id: row.user_id,
    model: row.model,
    provider_slug: row.provider_slug,
    provider_name: row.provider_name,
    endpoint_id: row.endpoint_id,
    is_byok: row.is_byok,
    requests: 0,
    failed_requests: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    reasoning_tokens: 0,
    cached_tokens: 0,
    usage_nano_usd: 0,
    byok_usage_nano_usd: 0,
  }
  addTo(line, row)
  return line
}

export type Added = Pick<
  GenerationRow,
  | 'is_byok'
  | 'finish_reason'
  | 'tokens_prompt'
  | 'tokens_completion'
  | 'native_tokens_reasoning'
  | 'native_tokens_cached'
  | 'cost_nano_usd'
>

export function addTo(line: Pick<HourlyRow, (typeof HOURLY_SUMS)[number]>, row: Added): void {
  line.requests += 1
  if (row.finish_reason === 'error') line.failed_requests += 1
  line.prompt_tokens += row.tokens_prompt
  line.completion_tokens += row.tokens_completion
  line.reasoning_tokens += row.native_tokens_reasoning
  line.cached_tokens += row.native_tokens_cached
  line.usage_nano_usd += usageOf(row)
  line.byok_usage_nano_usd += byokUsageOf(row)
}
