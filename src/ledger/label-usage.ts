import { and, type Column, eq, gte, inArray, lt, ne, notInArray, type SQL, sql } from 'drizzle-orm'
import { badRequest } from '../core/errors.ts'
import type { Db } from '../db/database.ts'
import { usageLabels } from '../db/tables.ts'
import { totalsOf } from './rollups.ts'
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
    throw badRequest(`${name} is not summed for user and tags: choose ${known}`, 'dimensions')
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
  const rows = db
    .select({
      at: sql<number>`min(${usageLabels.day})`,
      ...totalsOf(usageLabels),
      ...Object.fromEntries(columns),
    })
    .from(usageLabels)
    .where(
      and(
        gte(usageLabels.day, from),
        lt(usageLabels.day, until),
        eq(usageLabels.name, name),
        ...query.filters.map((filter) => isAmong(columnOf(filter.dimension), filter)),
      ),
    )
  const grouped = columns.map(([, column]) => column)
  const read: Row[] = await (grouped.length === 0 ? rows : rows.groupBy(...grouped))
  return read.filter(({ requests }) => requests > 0)
}

/** True for rows whose column has one of the filter's values, or none of them. */
export function isAmong(column: Column, { values, isNegated }: DimensionFilter): SQL {
  const [only = ''] = values
  if (values.length === 1) return isNegated ? ne(column, only) : eq(column, only)
  return isNegated ? notInArray(column, [...values]) : inArray(column, [...values])
}
