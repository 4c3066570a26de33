import type { Database } from '../db/database.ts'
import { type CounterKey, counterKey, nameOf, type Scope } from './counter-key.ts'
import { HOURLY_SUMS } from './rollups.ts'
import { formatInstant, INTERVALS } from './windows.ts'

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

/** The sums to compare. Deleted rows count by their stored sums. */
const formatRows = ({ file }: Database): string =>
  file.query('SELECT 1 FROM pruned_hourly LIMIT 1').get() === null
    ? 'the rows'
    : 'the rows, with those that were pruned,'

/** Recomputes the counters from the rows, by day in SQL and by window here, and compares. */
export function compareCounters(database: Database): Comparison {
  const source = formatRows(database)
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
        `${formatCounter(key)}: the ${what === 'byok' ? 'BYOK ' : ''}counter is ${counter[what]} nano-dollars, ` +
          `${source} sum to ${sum[what]}`,
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

/** The rows that the sums have followed. The others are added by the server within a second, or at its next start. */
const FOLDED = '(SELECT * FROM generations WHERE rowid <= (SELECT last_row FROM folded)) AS generations'

const SPENT = `sum(CASE WHEN is_byok THEN 0 ELSE cost_nano_usd END) AS usage,
               sum(CASE WHEN is_byok THEN cost_nano_usd ELSE 0 END) AS byok`
const CARRIED = 'sum(usage_nano_usd) AS usage, sum(byok_usage_nano_usd) AS byok'

/** What each scope spent on each day: by the rows, and by what pruned rows summed to. */
const SUMS_BY_DAY = [
  ...(['key', 'workspace'] as const).flatMap((scope) => {
    const id = scope === 'key' ? 'key_hash' : 'workspace_id'
    const named = `'${scope}' AS scope, ${id} AS id`
    return [
      `SELECT ${named}, created_at / 86400000 AS day, ${SPENT} FROM ${FOLDED} GROUP BY 1, 2, 3`,
      `SELECT ${named}, hour / 86400000 AS day, ${CARRIED} FROM pruned_hourly GROUP BY 1, 2, 3`,
    ]
  }),
  `SELECT json_extract(charged.value, '$.scope') AS scope, json_extract(charged.value, '$.id') AS id,
          created_at / 86400000 AS day, ${SPENT}
   FROM ${FOLDED}, json_each(generations.charged_scopes) AS charged
   WHERE charged_scopes IS NOT NULL GROUP BY 1, 2, 3`,
  `SELECT scope, scope_id AS id, day / 86400000 AS day, ${CARRIED} FROM pruned_charges GROUP BY 1, 2, 3`,
]

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
  for (const sums of SUMS_BY_DAY) {
    const days = file.query<{ scope: Scope; id: string; day: number } & Amounts, []>(sums)
    for (const row of days.iterate()) add(row.scope, row.id, row.day * DAY_MS, row)
  }
  return summed
}

const formatCounter = (key: CounterKey): string =>
  key.interval === 'lifetime'
    ? `${key.scope} ${key.scopeId}, lifetime`
    : `${key.scope} ${key.scopeId}, ${key.interval} from ${formatInstant(key.windowStart)}`

type Sum = Record<(typeof HOURLY_SUMS)[number], number> & { name: string }

const PARTS = 'workspace_id, key_hash, user_id, model, provider_slug, provider_name, endpoint_id, is_byok'

/** Recomputes the hours from the rows in SQL, adds the sums of deleted rows, and compares with the hourly table. */
export function compareHours(database: Database): Comparison {
  const { file } = database
  const names = `json_array(hour, ${PARTS})`
  const stored = file.query<Sum, []>(`SELECT ${names} AS name, ${HOURLY_SUMS.join(', ')} FROM usage_hourly`)
  const summed = file.query<Sum, []>(
    `SELECT ${names} AS name, count(*) AS requests, sum(finish_reason = 'error') AS failed_requests,
            sum(tokens_prompt) AS prompt_tokens, sum(tokens_completion) AS completion_tokens,
            sum(native_tokens_reasoning) AS reasoning_tokens, sum(native_tokens_cached) AS cached_tokens,
            sum(CASE WHEN is_byok THEN 0 ELSE cost_nano_usd END) AS usage_nano_usd,
            sum(CASE WHEN is_byok THEN cost_nano_usd ELSE 0 END) AS byok_usage_nano_usd
     FROM (SELECT *, created_at / 3600000 * 3600000 AS hour FROM ${FOLDED}) GROUP BY 1`,
  )
  const carried = file.query<Sum, []>(`SELECT ${names} AS name, ${HOURLY_SUMS.join(', ')} FROM pruned_hourly`)
  const rows = new Map(summed.all().map((line) => [line.name, line]))
  for (const line of carried.iterate()) {
    const known = rows.get(line.name)
    if (known === undefined) rows.set(line.name, line)
    else for (const sum of HOURLY_SUMS) known[sum] += line[sum]
  }
  return compareSums('hour', stored.iterate(), [...rows.values()], formatRows(database))
}

/** Sums the hourly table by day and compares with the daily one. */
export function compareDays({ file }: Database): Comparison {
  const names = `json_array(day, ${PARTS})`
  const stored = file.query<Sum, []>(`SELECT ${names} AS name, ${HOURLY_SUMS.join(', ')} FROM usage_daily`)
  const summed = file.query<Sum, []>(
    `SELECT ${names} AS name, ${HOURLY_SUMS.map((sum) => `sum(${sum}) AS ${sum}`).join(', ')}
     FROM (SELECT *, hour / 86400000 * 86400000 AS day FROM usage_hourly) GROUP BY 1`,
  )
  return compareSums('day', stored.iterate(), summed.all(), 'the hours')
}

const LABELLED = 'name, value, model, endpoint_id, provider_name, key_hash, workspace_id, user_id'

/** Recomputes the sums by label from the rows, adds the sums of deleted rows, and compares with the label tables. */
export function compareLabels(database: Database): Comparison {
  const { file } = database
  const names = `json_array(day, ${LABELLED})`
  const stored = file.query<Sum, []>(`SELECT ${names} AS name, ${HOURLY_SUMS.join(', ')} FROM usage_labels`)
  const rows = file.query<Sum, []>(
    `SELECT ${names} AS name, ${HOURLY_SUMS.map((sum) => `sum(${sum}) AS ${sum}`).join(', ')} FROM (
       SELECT created_at / 86400000 * 86400000 AS day, json_extract(label.value, '$[0]') AS name,
              json_extract(label.value, '$[1]') AS value, model, endpoint_id, provider_name, key_hash, workspace_id,
              user_id, 1 AS requests, finish_reason = 'error' AS failed_requests, tokens_prompt AS prompt_tokens,
              tokens_completion AS completion_tokens, native_tokens_reasoning AS reasoning_tokens,
              native_tokens_cached AS cached_tokens, CASE WHEN is_byok THEN 0 ELSE cost_nano_usd END AS usage_nano_usd,
              CASE WHEN is_byok THEN cost_nano_usd ELSE 0 END AS byok_usage_nano_usd
       FROM ${FOLDED}, json_each(generations.labels) AS label WHERE labels IS NOT NULL
       UNION ALL SELECT day, ${LABELLED}, ${HOURLY_SUMS.join(', ')} FROM pruned_labels
     ) GROUP BY 1`,
  )
  return compareSums('label', stored.iterate(), rows.all(), formatRows(database))
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
  const compare = (name: string, line: Sum | undefined, sum: Sum | undefined): void => {
    for (const column of HOURLY_SUMS) {
      const [a, b] = [line?.[column] ?? 0, sum?.[column] ?? 0]
      if (a !== b) differences.push(`${what} ${name}: ${column} is ${a}, ${summands} sum to ${b}`)
    }
  }
  for (const line of stored) {
    seen.add(line.name)
    compare(line.name, line, sums.get(line.name))
  }
  for (const [name, line] of sums) if (!seen.has(name)) compare(name, undefined, line)
  return { compared: new Set([...seen, ...sums.keys()]).size, differences }
}
