import type { Database } from '../db/database.ts'
import { type CounterKey, counterKey, nameOf, type Scope } from './counters.ts'
import { HOURLY_SUMS } from './rollups.ts'
import { INTERVALS, sayInstant } from './windows.ts'

export interface Comparison {
  /** How many sums were compared. */
  compared: number
  /** A sentence each. */
  differences: string[]
}

const DAY_MS = 86_400_000

interface Amounts {
  usage: number
  byok: number
}

/** Sums the rows anew, day by day in SQL and days into windows here, and compares with the counters. */
export function compareCounters(database: Database): Comparison {
  const summed = sumCounters(database)
  const differences: string[] = []
  const rows = database.file
    .query<
      { scope: Scope; scopeId: string; interval: CounterKey['interval']; windowStart: number } & Amounts,
      []
    >(
      `SELECT scope, scope_id AS scopeId, interval, window_start AS windowStart,
              usage_nano_usd AS usage, byok_usage_nano_usd AS byok FROM spending`,
    )
    .all()
  const compare = (key: CounterKey, counter: Amounts, sum: Amounts) => {
    for (const what of ['usage', 'byok'] as const) {
      if (counter[what] === sum[what]) continue
      differences.push(
        `${sayCounter(key)}: the ${what === 'byok' ? 'own-key ' : ''}counter says ${counter[what]} nano-dollars, ` +
          `the rows sum to ${sum[what]}`,
      )
    }
  }
  const seen = new Set<string>()
  for (const row of rows) {
    const name = nameOf(row)
    seen.add(name)
    compare(row, row, summed.get(name)?.sum ?? { usage: 0, byok: 0 })
  }
  for (const [name, { key, sum }] of summed) {
    if (!seen.has(name)) compare(key, { usage: 0, byok: 0 }, sum)
  }
  return { compared: new Set([...seen, ...summed.keys()]).size, differences }
}

function sumCounters({ file }: Database): Map<string, { key: CounterKey; sum: Amounts }> {
  const summed = new Map<string, { key: CounterKey; sum: Amounts }>()
  const add = (scope: Scope, scopeId: string, at: number, { usage, byok }: Amounts) => {
    for (const interval of INTERVALS) {
      const key = counterKey(scope, scopeId, interval, at)
      const known = summed.get(nameOf(key))
      if (known === undefined) summed.set(nameOf(key), { key, sum: { usage, byok } })
      else {
        known.sum.usage += usage
        known.sum.byok += byok
      }
    }
  }
  const days = file.query<{ id: string; day: number } & Amounts, []>(
    `SELECT key_hash AS id, created_at / 86400000 AS day,
            sum(CASE WHEN is_byok THEN 0 ELSE cost_nano_usd END) AS usage,
            sum(CASE WHEN is_byok THEN cost_nano_usd ELSE 0 END) AS byok
     FROM generations GROUP BY 1, 2`,
  )
  for (const row of days.iterate()) add('key', row.id, row.day * DAY_MS, row)
  const workspaceDays = file.query<{ id: string; day: number } & Amounts, []>(
    `SELECT workspace_id AS id, created_at / 86400000 AS day,
            sum(CASE WHEN is_byok THEN 0 ELSE cost_nano_usd END) AS usage,
            sum(CASE WHEN is_byok THEN cost_nano_usd ELSE 0 END) AS byok
     FROM generations GROUP BY 1, 2`,
  )
  for (const row of workspaceDays.iterate()) add('workspace', row.id, row.day * DAY_MS, row)
  const charged = file.query<{ scope: Scope; id: string; day: number } & Amounts, []>(
    `SELECT json_extract(charged.value, '$.scope') AS scope, json_extract(charged.value, '$.id') AS id,
            created_at / 86400000 AS day,
            sum(CASE WHEN is_byok THEN 0 ELSE cost_nano_usd END) AS usage,
            sum(CASE WHEN is_byok THEN cost_nano_usd ELSE 0 END) AS byok
     FROM generations, json_each(generations.charged_scopes) AS charged
     WHERE charged_scopes IS NOT NULL GROUP BY 1, 2, 3`,
  )
  for (const row of charged.iterate()) add(row.scope, row.id, row.day * DAY_MS, row)
  return summed
}

const sayCounter = (key: CounterKey): string =>
  key.interval === 'lifetime'
    ? `${key.scope} ${key.scopeId}, lifetime`
    : `${key.scope} ${key.scopeId}, ${key.interval} from ${sayInstant(key.windowStart)}`

type Sum = Record<(typeof HOURLY_SUMS)[number], number> & { name: string }

const PARTS = 'workspace_id, key_hash, user_id, model, provider_slug, provider_name, endpoint_id, is_byok'

/** Sums the rows by hour anew, in SQL, and compares with the hourly table. */
export function compareHours({ file }: Database): Comparison {
  const names = `json_array(hour, ${PARTS})`
  const stored = file.query<Sum, []>(`SELECT ${names} AS name, ${HOURLY_SUMS.join(', ')} FROM usage_hourly`)
  const summed = file.query<Sum, []>(
    `SELECT ${names} AS name, count(*) AS requests, sum(finish_reason = 'error') AS failed_requests,
            sum(tokens_prompt) AS prompt_tokens, sum(tokens_completion) AS completion_tokens,
            sum(native_tokens_reasoning) AS reasoning_tokens, sum(native_tokens_cached) AS cached_tokens,
            sum(CASE WHEN is_byok THEN 0 ELSE cost_nano_usd END) AS usage_nano_usd,
            sum(CASE WHEN is_byok THEN cost_nano_usd ELSE 0 END) AS byok_usage_nano_usd
     FROM (SELECT *, created_at / 3600000 * 3600000 AS hour FROM generations) GROUP BY 1`,
  )
  return compareSums('hour', stored.iterate(), summed.all(), 'rows')
}

/** Sums the hourly table by day and compares with the daily one. */
export function compareDays({ file }: Database): Comparison {
  const names = `json_array(day, ${PARTS})`
  const stored = file.query<Sum, []>(`SELECT ${names} AS name, ${HOURLY_SUMS.join(', ')} FROM usage_daily`)
  const summed = file.query<Sum, []>(
    `SELECT ${names} AS name, ${HOURLY_SUMS.map((sum) => `sum(${sum}) AS ${sum}`).join(', ')}
     FROM (SELECT *, hour / 86400000 * 86400000 AS day FROM usage_hourly) GROUP BY 1`,
  )
  return compareSums('day', stored.iterate(), summed.all(), 'hours')
}

function compareSums(
  what: string,
  stored: Iterable<Sum>,
  summed: readonly Sum[],
  summands: string,
): Comparison {
  const sums = new Map(summed.map((line) => [line.name, line]))
  const differences: string[] = []
  const seen = new Set<string>()
  const compare = (name: string, said: Sum | undefined, sum: Sum | undefined): void => {
    for (const column of HOURLY_SUMS) {
      const [a, b] = [said?.[column] ?? 0, sum?.[column] ?? 0]
      if (a !== b) differences.push(`${what} ${name}: ${column} says ${a}, the ${summands} sum to ${b}`)
    }
  }
  for (const line of stored) {
    seen.add(line.name)
    compare(line.name, line, sums.get(line.name))
  }
  for (const [name, line] of sums) if (!seen.has(name)) compare(name, undefined, line)
  return { compared: new Set([...seen, ...sums.keys()]).size, differences }
}
