import { sql } from 'drizzle-orm'
import { placeholders } from '../db/columns.ts'
import type { Database, SyncDb } from '../db/database.ts'
import { prepareHot } from '../db/hot-statement.ts'
import { spending, usageHourly } from '../db/tables.ts'
import { type CounterKey, counterKey, nameOf, type Spent } from './counters.ts'
import type { GenerationRow } from './row.ts'
import { hourStart, INTERVALS } from './windows.ts'

export type SpendingRow = typeof spending.$inferSelect
export type HourlyRow = typeof usageHourly.$inferSelect

/** What a batch of rows adds to the counters and to the hourly sums: one line for each that it touches. */
export interface Sums {
  readonly spending: ReadonlyMap<string, { key: CounterKey; usageNanoUsd: number; byokUsageNanoUsd: number }>
  readonly hourly: ReadonlyMap<string, HourlyRow>
}

export interface SumsWriter {
  add(row: GenerationRow): void
  /** Names the counters of a row without adding to them, so that their committed values are read again. */
  touch(row: GenerationRow): void
  /** Writes inside the caller's transaction; gives back what the touched counters then hold. */
  write(): { key: CounterKey; spent: Spent }[]
}

/** Prepares the statements once; each transaction begins its own sums. */
export function prepareSums(database: Database): () => SumsWriter {
  const addSpending = prepareHot(
    database,
    database.sync
      .insert(spending)
      .values(placeholders(spending))
      .onConflictDoUpdate({
        target: [spending.scope, spending.scope_id, spending.interval, spending.window_start],
        set: {
          usage_nano_usd: sql`${spending.usage_nano_usd} + excluded.usage_nano_usd`,
          byok_usage_nano_usd: sql`${spending.byok_usage_nano_usd} + excluded.byok_usage_nano_usd`,
        },
      })
      .returning({
        usage_nano_usd: spending.usage_nano_usd,
        byok_usage_nano_usd: spending.byok_usage_nano_usd,
      }),
  )
  const addHourly = prepareHot(database, hourlyQuery(database.sync))

  return () => {
    const spent = new Map<string, SpendingRow & { key: CounterKey }>()
    const hourly = new Map<string, HourlyRow>()

    function book(row: GenerationRow, usageNanoUsd: number, byokUsageNanoUsd: number): void {
      for (const key of countersOf(row)) {
        const name = nameOf(key)
        const line = spent.get(name)
        if (line === undefined)
          spent.set(name, { ...lineOf(key), key, ...amounts(usageNanoUsd, byokUsageNanoUsd) })
        else {
          line.usage_nano_usd += usageNanoUsd
          line.byok_usage_nano_usd += byokUsageNanoUsd
        }
      }
    }

    return {
      add(row) {
        book(row, usageOf(row), byokUsageOf(row))
        addToHour(hourly, row)
      },
      touch: (row) => book(row, 0, 0),
      write() {
        for (const line of hourly.values()) addHourly.run(line)
        return [...spent.values()].map(({ key, ...line }) => ({ key, spent: spentOf(addSpending.get(line)) }))
      },
    }
  }
}

function hourlyQuery(db: SyncDb) {
  const plus = (name: (typeof HOURLY_SUMS)[number]) =>
    sql`${usageHourly[name]} + excluded.${sql.identifier(name)}`
  return db
    .insert(usageHourly)
    .values(placeholders(usageHourly))
    .onConflictDoUpdate({
      target: [
        usageHourly.hour,
        usageHourly.workspace_id,
        usageHourly.key_hash,
        usageHourly.user_id,
        usageHourly.model,
        usageHourly.provider_slug,
        usageHourly.provider_name,
        usageHourly.endpoint_id,
        usageHourly.is_byok,
      ],
      set: Object.fromEntries(HOURLY_SUMS.map((name) => [name, plus(name)])),
    })
}

function spentOf(row: Readonly<Record<string, unknown>> | null): Spent {
  const usageNanoUsd = row?.['usage_nano_usd']
  const byokUsageNanoUsd = row?.['byok_usage_nano_usd']
  if (typeof usageNanoUsd !== 'number' || typeof byokUsageNanoUsd !== 'number') {
    throw new Error('a counter was written and did not come back')
  }
  return { usageNanoUsd, byokUsageNanoUsd }
}

/** The columns of the hourly table that add up. */
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

/** Spending with the gateway's own credentials; what a caller's own provider key paid is counted apart. */
const usageOf = (row: GenerationRow): number => (row.is_byok ? 0 : row.cost_nano_usd)
const byokUsageOf = (row: GenerationRow): number => (row.is_byok ? row.cost_nano_usd : 0)

/** Every counter that a row is booked to: by when the request came, not by when it was settled. */
function countersOf(row: GenerationRow): CounterKey[] {
  const at = row.created_at.getTime()
  const scopes: { scope: CounterKey['scope']; id: string }[] = [
    { scope: 'key', id: row.key_hash },
    { scope: 'workspace', id: row.workspace_id },
    ...(row.charged_scopes ?? []),
  ]
  return scopes.flatMap(({ scope, id }) => INTERVALS.map((interval) => counterKey(scope, id, interval, at)))
}

const lineOf = (key: CounterKey) => ({
  scope: key.scope,
  scope_id: key.scopeId,
  interval: key.interval,
  window_start: key.windowStart,
})

const amounts = (usageNanoUsd: number, byokUsageNanoUsd: number) => ({
  usage_nano_usd: usageNanoUsd,
  byok_usage_nano_usd: byokUsageNanoUsd,
})

function addToHour(hours: Map<string, HourlyRow>, row: GenerationRow): void {
  const line: HourlyRow = {
    hour: hourStart(row.created_at.getTime()),
    workspace_id: row.workspace_id,
    key_hash: row.key_hash,
    user_id: row.user_id,
    model: row.model,
    provider_slug: row.provider_slug,
    provider_name: row.provider_name,
    endpoint_id: row.endpoint_id,
    is_byok: row.is_byok,
    requests: 1,
    failed_requests: row.finish_reason === 'error' ? 1 : 0,
    prompt_tokens: row.tokens_prompt,
    completion_tokens: row.tokens_completion,
    reasoning_tokens: row.native_tokens_reasoning,
    cached_tokens: row.native_tokens_cached,
    usage_nano_usd: usageOf(row),
    byok_usage_nano_usd: byokUsageOf(row),
  }
  const name = JSON.stringify([
    line.hour,
    line.workspace_id,
    line.key_hash,
    line.model,
    line.provider_name,
    line.endpoint_id,
    line.is_byok,
  ])
  const known = hours.get(name)
  if (known === undefined) hours.set(name, line)
  else for (const sum of HOURLY_SUMS) known[sum] += line[sum]
}
