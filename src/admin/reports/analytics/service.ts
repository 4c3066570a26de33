import { badRequest } from '../../../core/errors.ts'
import type { Db } from '../../../db/database.ts'
import { hasItsDay } from '../../../http/instant.ts'
import { OTHER, SAID_OTHER } from '../../../ledger/labels.ts'
import { type Dimension, type Granularity, sumUsage, type UsageGroup } from '../../../ledger/usage-sums.ts'
import { type RowTest, readFilters } from './filters.ts'
import {
  dimensionNamed,
  GRANULARITY_LABELS,
  isMetric,
  labelAmong,
  METRICS,
  type MetricName,
} from './metrics.ts'
import type { AnalyticsQuery, AnalyticsResult, AnalyticsRow } from './schema.ts'

const DEFAULT_DAYS = 30
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const DEFAULT_LIMIT = 1000
const LIMITS = { timeoutMs: 10_000, maxGroups: 100_000 }
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/

/** A query, parsed and checked. */
interface Asked {
  readonly metrics: readonly MetricName[]
  /** As they are named in the answer. */
  readonly names: readonly string[]
  readonly dimensions: readonly Dimension[]
  readonly label: string | null
  readonly granularity: Granularity | null
  readonly from: number
  readonly until: number
  readonly rowTests: readonly RowTest[]
  readonly order: readonly Order[]
}

interface Order {
  readonly field: string
  readonly isDescending: boolean
}

/**
 * Computes from the sums of the organisation, never from rows. Throws a `GatewayError`: 400 for what cannot
 * be asked, 408 instead of a long wait.
 */
export async function queryAnalytics(
  db: Db,
  query: AnalyticsQuery,
  now: number,
  limits = LIMITS,
): Promise<AnalyticsResult> {
  const startedAt = performance.now()
  const { filters, rowTests } = readFilters(query)
  const asked = readQuery(query, rowTests, now)
  const groups = await sumUsage(db, { ...asked, filters }, limits)
  const rows = groups
    .map((group) => rowOf(group, asked))
    .filter((row) => asked.rowTests.every((passes) => passes(row)))
    .sort(comparing(asked.order))
  const kept = perGroup(rows, asked.names, query.group_limit)
  const data = kept.slice(0, query.limit ?? DEFAULT_LIMIT)
  const unitMs = asked.label === null ? HOUR_MS : DAY_MS
  const isWhole = asked.from % unitMs === 0 && asked.until % unitMs === 0
  return {
    data,
    metadata: {
      query_time_ms: Math.round(performance.now() - startedAt),
      row_count: data.length,
      truncated: data.length < rows.length,
    },
    ...(isWhole || query.time_range === undefined
      ? {}
      : { warnings: [asked.label === null ? WIDENED : WIDENED_TO_DAYS] }),
  }
}

const WIDENED_TO_DAYS =
  'Usage by user and by tags is stored per day: time_range was widened to complete days.'
const WIDENED = 'Usage is stored per hour: time_range was widened to complete hours.'

function readQuery(query: AnalyticsQuery, rowTests: readonly RowTest[], now: number): Asked {
  if (query.classifier_dimensions !== undefined || query.classifier_filters !== undefined) {
    const field = query.classifier_dimensions === undefined ? 'classifier_filters' : 'classifier_dimensions'
    throw badRequest('there are no classifiers here; take dimensions and filters', field)
  }
  const metrics = [...new Set(query.metrics)].filter(isMetric)
  const names = [...new Set(query.dimensions)]
  const dimensions = names.flatMap((name) => dimensionNamed(name) ?? [])
  const label = labelAmong([...names, ...(query.filters ?? []).map(({ field }) => field)])
  const granularity = isGranularity(query.granularity) ? query.granularity : null
  const { from, until } = timeOf(query, now)
  const order = orderOf(query, metrics, names, granularity)
  return { metrics, names, dimensions, label, granularity, from, until, rowTests, order }
}

const isGranularity = (name: string | null | undefined): name is Granularity =>
  typeof name === 'string' && Object.hasOwn(GRANULARITY_LABELS, name)

function timeOf({ time_range: range }: AnalyticsQuery, now: number): { from: number; until: number } {
  if (range === undefined) return { from: now - DEFAULT_DAYS * DAY_MS, until: now }
  const [from, until] = [instantIn(range.start, 'start'), instantIn(range.end, 'end')]
  if (from >= until) throw badRequest('must be after time_range.start', 'time_range.end')
  return { from, until }
}

function instantIn(text: string, name: string): number {
  const at = INSTANT.test(text) && hasItsDay(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(at)) return at
  throw badRequest(
    'must be an instant in ISO 8601 with its zone, such as 2027-01-31T00:00:00Z',
    `time_range.${name}`,
  )
}

const timeColumn = (granularity: Granularity | null): string[] =>
  granularity === null ? [] : [`date__${granularity}`]

/** The wanted order, and then what makes it the same each time. */
function orderOf(
  { order_by: wanted }: AnalyticsQuery,
  metrics: readonly MetricName[],
  dimensions: readonly string[],
  granularity: Granularity | null,
): Order[] {
  const time = timeColumn(granularity)
  const columns = [...time, ...metrics, ...dimensions]
  if (wanted !== undefined && !columns.includes(wanted.field)) {
    throw badRequest(`must be a column of the reply: ${columns.join(', ')}`, 'order_by.field')
  }
  const first =
    wanted === undefined ? [] : [{ field: wanted.field, isDescending: wanted.direction === 'desc' }]
  return [
    ...first,
    ...time.map((field) => ({ field, isDescending: false })),
    ...metrics.slice(0, 1).map((field) => ({ field, isDescending: true })),
    ...dimensions.map((field) => ({ field, isDescending: false })),
  ]
}

function rowOf(
  { bucket, values, sums }: UsageGroup,
  { metrics, names, granularity, label }: Asked,
): AnalyticsRow {
  const row: AnalyticsRow = {}
  for (const name of timeColumn(granularity)) row[name] = new Date(bucket ?? 0).toISOString()
  for (const [index, name] of names.entries()) {
    const value = values[index] ?? null
    row[name] = name === label && value === OTHER ? SAID_OTHER : value
  }
  for (const name of metrics) row[name] = METRICS[name].of(sums)
  return row
}

/** Rows without a value come last in both directions. */
const comparing =
  (order: readonly Order[]) =>
  (a: AnalyticsRow, b: AnalyticsRow): number => {
    for (const { field, isDescending } of order) {
      const [left, right] = [a[field] ?? null, b[field] ?? null]
      if (left === right) continue
      if (left === null || right === null) return left === null ? 1 : -1
      return left < right === isDescending ? 1 : -1
    }
    return 0
  }

function perGroup(
  rows: AnalyticsRow[],
  dimensions: readonly string[],
  limit: number | undefined,
): AnalyticsRow[] {
  if (limit === undefined || dimensions.length === 0) return rows
  const seen = new Map<string, number>()
  return rows.filter((row) => {
    const place = JSON.stringify(dimensions.map((name) => row[name]))
    const count = (seen.get(place) ?? 0) + 1
    seen.set(place, count)
    return count <= limit
  })
}
