import { and, eq, gte, inArray, lt, ne, notInArray, type SQL, sql } from 'drizzle-orm'
import { badRequest } from '../core/errors.ts'
import type { Db } from '../db/database.ts'
import { usageLabels } from '../db/tables.ts'
import type { HOURLY_SUMS } from './rollups.ts'
import type { Dimension, DimensionFilter, Sums, UsageQuery } from './usage-query.ts'
import { windowStart } from './windows.ts'

/** By what the sums of a label can be split, and the column that holds it. */
const COLUMNS = {
  label: usageLabels.value,
  model: usageLabels.model,
  provider: usageLabels.provider_name,
  endpoint_id: usageLabels.endpoint_id,
  workspace_id: usageLabels.workspace_id,
  api_key_hash: usageLabels.key_hash,
  user_id: usageLabels.user_id,
} as const

const DAY_MS = 86_400_000

/** The query of a label, over full days. Throws a `GatewayError` 400 for dimensions that its sums do not have. */
export function labelQuery(query: UsageQuery): UsageQuery {
  if (query.granularity === 'hour')
    throw badRequest(
      'user and tags are summed by the day: granularity must be day, week or month',
      'granularity',
    )
  for (const name of [...query.dimensions, ...query.filters.map(({ dimension }) => dimension)]) {
    if (isColumn(name)) continue
    const known = Object.keys(COLUMNS).slice(1).join(', ')
    throw badRequest(`${name} is not known of user and tags: take ${known}`, 'dimensions')
  }
  const from = windowStart('daily', query.from)
  return { ...query, from, until: windowStart('daily', query.until + DAY_MS - 1) }
}

const isColumn = (name: Dimension): name is keyof typeof COLUMNS => Object.hasOwn(COLUMNS, name)
const columnOf = (name: Dimension) => (isColumn(name) ? COLUMNS[name] : COLUMNS.label)

type Row = { at: number } & Sums & { [Name in Dimension]?: unknown }

/** The sums of some full days; see `sumUsage`. */
export async function readLabels(
  db: Db,
  name: string,
  query: UsageQuery,
  from: number,
  until: number,
): Promise<Row[]> {
  const columns = query.dimensions.map((dimension) => [dimension, columnOf(dimension)] as const)
  const total = (sum: (typeof HOURLY_SUMS)[number]) => sql<number>`coalesce(sum(${usageLabels[sum]}), 0)`
  const rows = db
    .select({
      at: sql<number>`min(${usageLabels.day})`,
      requests: total('requests'),
      failed_requests: total('failed_requests'),
      prompt_tokens: total('prompt_tokens'),
      completion_tokens: total('completion_tokens'),
      reasoning_tokens: total('reasoning_tokens'),
      cached_tokens: total('cached_tokens'),
      usage_nano_usd: total('usage_nano_usd'),
      byok_usage_nano_usd: total('byok_usage_nano_usd'),
      ...Object.fromEntries(columns),
    })
    .from(usageLabels)
    .where(
      and(
        gte(usageLabels.day, from),
        lt(usageLabels.day, until),
        eq(usageLabels.name, name),
        ...query.filters.map(conditionOf),
      ),
    )
  const grouped = columns.map(([, column]) => column)
  const read: Row[] = await (grouped.length === 0 ? rows : rows.groupBy(...grouped))
  return read.filter(({ requests }) => requests > 0)
}

function conditionOf({ dimension, values, isNegated }: DimensionFilter): SQL {
  const column = columnOf(dimension)
  const [only = ''] = values
  if (values.length === 1) return isNegated ? ne(column, only) : eq(column, only)
  return isNegated ? notInArray(column, [...values]) : inArray(column, [...values])
}
