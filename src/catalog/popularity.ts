import { gte, sum } from 'drizzle-orm'
import type { Db } from '../db/database.ts'
import { usageHourly } from '../db/tables.ts'
import type { Sort } from './query/schema.ts'
import type { Popularity } from './sort.ts'

const MS_PER_DAY = 86_400_000
const DAYS: Partial<Record<Sort, number>> = { 'top-weekly': 7, 'most-popular': 30 }
const NONE: Popularity = new Map()

/** This gateway's own requests by model, of the days that the sort looks back; nothing is read for other sorts. */
export async function popularityFor(sort: Sort | undefined, db: Db, now: number): Promise<Popularity> {
  const days = sort === undefined ? undefined : DAYS[sort]
  if (days === undefined) return NONE
  const rows = await db
    .select({ model: usageHourly.model, requests: sum(usageHourly.requests).mapWith(Number) })
    .from(usageHourly)
    .where(gte(usageHourly.hour, now - days * MS_PER_DAY))
    .groupBy(usageHourly.model)
  return new Map(rows.map(({ model, requests }) => [model, requests ?? 0]))
}
