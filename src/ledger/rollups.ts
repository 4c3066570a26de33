import { sql } from 'drizzle-orm'
import { placeholders } from '../db/columns.ts'
import type { Database, SyncDb } from '../db/database.ts'
import { prepareHot } from '../db/hot-statement.ts'
import { prunedHourly, type prunedLabels, usageDaily, usageHourly, type usageLabels } from '../db/tables.ts'
import { byokUsageOf, type Summed, usageOf } from './summed.ts'
import { hourStart, windowStart } from './windows.ts'

export type HourlyRow = typeof usageHourly.$inferSelect
/** The tables of sums by the hour. */
type Hours = typeof usageHourly | typeof prunedHourly

/** Sums of rows by their hours and days, in memory until they are written. */
export interface Rollups {
  add(row: Summed): void
  /** How many lines `write` adds to. */
  count(): number
  /** Writes inside the caller's transaction. */
  write(): void
}

/** Prepares the statements once; each fold has sums of its own, of hours and days. */
export function prepareRollups(database: Database): () => Rollups {
  const addHourly = prepareHot(database, hourlyQuery(database.sync, usageHourly))
  const addDaily = prepareHot(database, dailyQuery(database.sync))
  return () =>
    sumsByHour((line) => {
      addHourly.run(line)
      addDaily.run({ ...line, day: windowStart('daily', line.hour) })
    })
}

/** The same for deleted rows, whose sums are stored only per hour. */
export function preparePrunedRollups(database: Database): () => Rollups {
  const addHourly = prepareHot(database, hourlyQuery(database.sync, prunedHourly))
  return () => sumsByHour(addHourly.run)
}

function sumsByHour(write: (line: HourlyRow) => void): Rollups {
  const byKey = new Map<string, HourlyRow[]>()
  let count = 0
  return {
    add(row) {
      let lines = byKey.get(row.keyHash)
      if (lines === undefined) {
        lines = []
        byKey.set(row.keyHash, lines)
      }
      const hour = hourStart(row.startedAt)
      // A key has few lines, so they are looked through.
      for (const known of lines) if (isSame(known, row, hour)) return addTo(known, row)
      count += 1
      lines.push(lineOf(row, hour))
    },
    count: () => count,
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
type SumTable = UsageTable | typeof usageLabels | typeof prunedLabels

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

/** For an upsert: each sum plus that of the row that was to be inserted. */
export const sumsOf = (of: SumTable) =>
  Object.fromEntries(HOURLY_SUMS.map((name) => [name, sql`${of[name]} + excluded.${sql.identifier(name)}`]))

/** The total of each sum, for a select. */
export function totalsOf(of: SumTable) {
  const total = (name: (typeof HOURLY_SUMS)[number]) => sql<number>`coalesce(sum(${of[name]}), 0)`
  return {
    requests: total('requests'),
    failed_requests: total('failed_requests'),
    prompt_tokens: total('prompt_tokens'),
    completion_tokens: total('completion_tokens'),
    reasoning_tokens: total('reasoning_tokens'),
    cached_tokens: total('cached_tokens'),
    usage_nano_usd: total('usage_nano_usd'),
    byok_usage_nano_usd: total('byok_usage_nano_usd'),
  }
}

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

export const NO_SUMS = {
  requests: 0,
  failed_requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  reasoning_tokens: 0,
  cached_tokens: 0,
  usage_nano_usd: 0,
  byok_usage_nano_usd: 0,
}

const isSame = (line: HourlyRow, row: Summed, hour: number): boolean =>
  line.hour === hour &&
  line.endpoint_id === row.endpointId &&
  line.model === row.model &&
  line.is_byok === row.isByok &&
  line.workspace_id === row.workspaceId &&
  line.user_id === row.userId &&
  line.provider_slug === row.providerSlug &&
  line.provider_name === row.providerName

function lineOf(row: Summed, hour: number): HourlyRow {
  const line: HourlyRow = {
    hour,
    workspace_id: row.workspaceId,
    key_hash: row.keyHash,
    user_id: row.userId,
    model: row.model,
    provider_slug: row.providerSlug,
    provider_name: row.providerName,
    endpoint_id: row.endpointId,
    is_byok: row.isByok,
    ...NO_SUMS,
  }
  addTo(line, row)
  return line
}

export function addTo(line: Pick<HourlyRow, (typeof HOURLY_SUMS)[number]>, row: Summed): void {
  line.requests += 1
  if (row.isFailed) line.failed_requests += 1
  line.prompt_tokens += row.promptTokens
  line.completion_tokens += row.completionTokens
  line.reasoning_tokens += row.reasoningTokens
  line.cached_tokens += row.cachedTokens
  line.usage_nano_usd += usageOf(row)
  line.byok_usage_nano_usd += byokUsageOf(row)
}
