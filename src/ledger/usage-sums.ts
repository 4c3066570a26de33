import { and, asc, desc, gte, inArray, lt, notInArray, type SQL, sql } from 'drizzle-orm'
import { badRequest, GatewayError } from '../core/errors.ts'
import type { Db } from '../db/database.ts'
import { usageDaily, usageHourly } from '../db/tables.ts'
import { isAmong, labelQuery, readLabels } from './label-usage.ts'
import { HOURLY_SUMS, NO_SUMS, totalsOf } from './rollups.ts'
import {
  DIMENSIONS,
  type Dimension,
  type DimensionFilter,
  type Granularity,
  type Sums,
  type UsageQuery,
} from './usage-query.ts'
import { hourStart, windowStart } from './windows.ts'

export type { Dimension, DimensionFilter, Granularity, Sums, UsageQuery } from './usage-query.ts'

export interface UsageGroup {
  /** When the time bucket began, in milliseconds since 1970; null without granularity. */
  readonly bucket: number | null
  /** In the order of the query's dimensions. */
  readonly values: readonly (string | boolean)[]
  readonly sums: Sums
}

export interface UsageLimits {
  /** The time limit of the query. */
  readonly timeoutMs: number
  readonly maxGroups: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The longest time without yielding to other requests. */
const TURN_MS = 10

/**
 * Sums the rollups in slices: the hours of a day, or up to a week of complete days in one bucket of the granularity. No
 * statement reads more, and other requests run between two statements. Throws a `GatewayError`: 408 if it takes too long,
 * 400 if there are more groups than fit into memory.
 */
export async function sumUsage(db: Db, asked: UsageQuery, limits: UsageLimits): Promise<UsageGroup[]> {
  const query = isLabelled(asked) ? labelQuery(asked) : asked
  const startedAt = performance.now()
  const groups = new Map<string, Group>()
  // A sum without groups has a row even if nothing was used.
  if (query.dimensions.length === 0 && query.granularity === null)
    groups.set(JSON.stringify([null]), { bucket: null, values: [], sums: { ...NO_SUMS } })
  const [first, last] = await hoursOf(db, query)
  let turnEndedAt = startedAt
  for (let from = first, until: number; from < last; from = until) {
    until = endOfSlice(query, from, last)
    for (const row of await readSlice(db, query, from, until)) addTo(groups, query, row)
    if (groups.size > limits.maxGroups) throw tooMany(limits.maxGroups)
    const now = performance.now()
    if (now - startedAt > limits.timeoutMs) throw tooSlow()
    if (now - turnEndedAt < TURN_MS) continue
    await new Promise((resolve) => setImmediate(resolve))
    turnEndedAt = performance.now()
  }
  return [...groups.values()]
}

interface Group extends UsageGroup {
  readonly sums: Record<(typeof HOURLY_SUMS)[number], number>
}

/** The hours to look at: those of the query, within those that have any usage. */
async function hoursOf(db: Db, query: UsageQuery): Promise<[first: number, last: number]> {
  const { from, until } = query
  const { hour } = usageHourly
  const [oldest] = await db.select({ hour }).from(usageHourly).orderBy(asc(hour)).limit(1)
  const [newest] = await db.select({ hour }).from(usageHourly).orderBy(desc(hour)).limit(1)
  if (oldest === undefined || newest === undefined) return [0, 0]
  const first = Math.max(hourStart(from), oldest.hour)
  const last = Math.min(hourStart(until + HOUR_MS - 1), newest.hour + HOUR_MS)
  return isLabelled(query)
    ? [windowStart('daily', first), windowStart('daily', last + DAY_MS - 1)]
    : [first, last]
}

type Row = { at: number } & Sums & { [Name in Dimension]?: unknown }

const SLICE_DAYS = 7

function endOfSlice({ granularity }: UsageQuery, from: number, last: number): number {
  const nextDay = windowStart('daily', from) + DAY_MS
  const isWhole = from === windowStart('daily', from) && nextDay <= last
  if (!isWhole || granularity === 'hour' || granularity === 'day') return Math.min(nextDay, last)
  const bucket = granularity === null ? null : bucketOf(granularity, from)
  let until = nextDay
  while (
    until + DAY_MS <= Math.min(last, from + SLICE_DAYS * DAY_MS) &&
    (granularity === null || bucketOf(granularity, until) === bucket)
  )
    until += DAY_MS
  return until
}

const isLabelled = ({ label }: UsageQuery): boolean => label !== undefined && label !== null

/** Uses the daily sums for complete days without a split by hour. */
async function readSlice(db: Db, query: UsageQuery, from: number, until: number): Promise<Row[]> {
  if (query.label) return readLabels(db, query.label, query, from, until)
  const isWhole = query.granularity !== 'hour' && !query.isWithoutDays && (until - from) % DAY_MS === 0
  const usage = isWhole ? usageDaily : usageHourly
  const columns = query.dimensions.flatMap((name) =>
    name === 'label' ? [] : [[name, usage[DIMENSIONS[name]]] as const],
  )
  const at = isWhole ? usageDaily.day : usageHourly.hour
  const rows = db
    .select({
      at: sql<number>`min(${at})`,
      ...totalsOf(usage),
      ...Object.fromEntries(columns),
    })
    .from(usage)
    .where(and(gte(at, from), lt(at, until), ...query.filters.map((filter) => conditionOf(usage, filter))))
  const split = query.granularity === 'hour' ? [at] : []
  const grouped = [...split, ...columns.map(([, column]) => column)]
  const read: Row[] = await (grouped.length === 0 ? rows : rows.groupBy(...grouped))
  // Without groups SQL returns one row of nulls if there are no rows.
  return read.filter(({ requests }) => requests > 0)
}

function conditionOf(usage: typeof usageHourly | typeof usageDaily, filter: DimensionFilter): SQL {
  const { dimension, values, isNegated } = filter
  if (dimension === 'is_byok') {
    const wanted = values.map((value) => value === 'true')
    return (isNegated ? notInArray : inArray)(usage.is_byok, wanted)
  }
  if (dimension === 'label') throw new Error('only the sums of labels are split by label')
  return isAmong(usage[DIMENSIONS[dimension]], filter)
}

function addTo(groups: Map<string, Group>, { dimensions, granularity }: UsageQuery, row: Row): void {
  const bucket = granularity === null ? null : bucketOf(granularity, row.at)
  const values = dimensions.map((name) => {
    const value = row[name]
    return typeof value === 'boolean' ? value : String(value)
  })
  const place = JSON.stringify([bucket, ...values])
  const known = groups.get(place)
  if (known === undefined) {
    const sums = { ...NO_SUMS }
    for (const name of HOURLY_SUMS) sums[name] = row[name]
    groups.set(place, { bucket, values, sums })
    return
  }
  for (const name of HOURLY_SUMS) known.sums[name] += row[name]
}

const WINDOWS = { day: 'daily', week: 'weekly', month: 'monthly' } as const

const bucketOf = (granularity: Granularity, hour: number): number =>
  granularity === 'hour' ? hour : windowStart(WINDOWS[granularity], hour)

const tooMany = (most: number): GatewayError =>
  badRequest(
    `this splits usage into more than ${most} groups: use fewer dimensions, a filter, a shorter time or a coarser granularity`,
  )

const tooSlow = (): GatewayError =>
  new GatewayError(408, 'The query takes too long: take a shorter time_range or fewer dimensions', {
    metadata: { error_type: 'timeout' },
  })
