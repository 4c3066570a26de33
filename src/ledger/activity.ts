import { and, asc, type Column, desc, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import { usdOf } from '../core/money.ts'
import type { Db } from '../db/database.ts'
import { usageHourly } from '../db/tables.ts'
import { windowStart } from './windows.ts'

const DAY_MS = 86_400_000
/** Today and the 29 days before it. */
const DAYS = 30

export interface ActivityFilter {
  /** `YYYY-MM-DD` in UTC, one of the last 30 days; undefined: all of them. */
  date?: string
  apiKeyHash?: string
  /** The creator of the keys. */
  userId?: string
  workspaceId?: string
  groupByWorkspace?: boolean
}

export interface ActivityItem {
  date: string
  model: string
  model_permaslug: string
  endpoint_id: string
  provider_name: string
  /** USD. */
  usage: number
  byok_usage_inference: number
  /** Every settled generation, failures too. */
  requests: number
  prompt_tokens: number
  completion_tokens: number
  reasoning_tokens: number
  workspace_id?: string
}

/** The first day that GET /activity answers for, as `YYYY-MM-DD`; the last one is today. */
export const firstActivityDay = (now: number): string =>
  dayOf(windowStart('daily', now) - (DAYS - 1) * DAY_MS)

/** Usage by day, model and endpoint, from the hourly sums: newest day first, then the dearest. */
export async function listActivity(db: Db, filter: ActivityFilter, now: number): Promise<ActivityItem[]> {
  const from = Date.parse(`${filter.date ?? firstActivityDay(now)}T00:00:00Z`)
  const until = filter.date === undefined ? windowStart('daily', now) + DAY_MS : from + DAY_MS
  const conditions: (SQL | undefined)[] = [
    gte(usageHourly.hour, from),
    lt(usageHourly.hour, until),
    filter.apiKeyHash === undefined ? undefined : eq(usageHourly.key_hash, filter.apiKeyHash),
    filter.userId === undefined ? undefined : eq(usageHourly.user_id, filter.userId),
    filter.workspaceId === undefined ? undefined : eq(usageHourly.workspace_id, filter.workspaceId),
  ]
  const day = sql<number>`${usageHourly.hour} / 86400000`
  const workspaces = filter.groupByWorkspace === true ? [usageHourly.workspace_id] : []
  const spent = total(usageHourly.usage_nano_usd)
  const rows = await db
    .select({
      day,
      workspaceId: sql<string>`min(${usageHourly.workspace_id})`,
      model: usageHourly.model,
      endpointId: usageHourly.endpoint_id,
      providerName: usageHourly.provider_name,
      spent,
      byokSpent: total(usageHourly.byok_usage_nano_usd),
      requests: total(usageHourly.requests),
      promptTokens: total(usageHourly.prompt_tokens),
      completionTokens: total(usageHourly.completion_tokens),
      reasoningTokens: total(usageHourly.reasoning_tokens),
    })
    .from(usageHourly)
    .where(and(...conditions))
    .groupBy(day, ...workspaces, usageHourly.model, usageHourly.endpoint_id, usageHourly.provider_name)
    .orderBy(desc(day), desc(spent), asc(usageHourly.model), asc(usageHourly.endpoint_id))
  return rows.map((row) => ({
    date: dayOf(row.day * DAY_MS),
    model: row.model,
    model_permaslug: row.model,
    endpoint_id: row.endpointId,
    provider_name: row.providerName,
    usage: usdOf(row.spent),
    byok_usage_inference: usdOf(row.byokSpent),
    requests: row.requests,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    reasoning_tokens: row.reasoningTokens,
    ...(filter.groupByWorkspace === true && { workspace_id: row.workspaceId }),
  }))
}

const total = (column: Column) => sql<number>`sum(${column})`

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
