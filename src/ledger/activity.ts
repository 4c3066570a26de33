import { and, asc, type Column, desc, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import { usdOf } from '../core/money.ts'
import type { Db } from '../db/database.ts'
import { usageDaily } from '../db/tables.ts'
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

/** Usage by day, model and endpoint, from the daily sums: newest day first, then the dearest. */
export async function listActivity(db: Db, filter: ActivityFilter, now: number): Promise<ActivityItem[]> {
  const from = Date.parse(`${filter.date ?? firstActivityDay(now)}T00:00:00Z`)
  const until = filter.date === undefined ? windowStart('daily', now) + DAY_MS : from + DAY_MS
  const conditions: (SQL | undefined)[] = [
    gte(usageDaily.day, from),
    lt(usageDaily.day, until),
    filter.apiKeyHash === undefined ? undefined : eq(usageDaily.key_hash, filter.apiKeyHash),
    filter.userId === undefined ? undefined : eq(usageDaily.user_id, filter.userId),
    filter.workspaceId === undefined ? undefined : eq(usageDaily.workspace_id, filter.workspaceId),
  ]
  const workspaces = filter.groupByWorkspace === true ? [usageDaily.workspace_id] : []
  const spent = total(usageDaily.usage_nano_usd)
  const rows = await db
    .select({
      day: usageDaily.day,
      workspaceId: sql<string>`min(${usageDaily.workspace_id})`,
      model: usageDaily.model,
      endpointId: usageDaily.endpoint_id,
      providerName: usageDaily.provider_name,
      spent,
      byokSpent: total(usageDaily.byok_usage_nano_usd),
      requests: total(usageDaily.requests),
      promptTokens: total(usageDaily.prompt_tokens),
      completionTokens: total(usageDaily.completion_tokens),
      reasoningTokens: total(usageDaily.reasoning_tokens),
    })
    .from(usageDaily)
    .where(and(...conditions))
    .groupBy(
      usageDaily.day,
      ...workspaces,
      usageDaily.model,
      usageDaily.endpoint_id,
      usageDaily.provider_name,
    )
    .orderBy(desc(usageDaily.day), desc(spent), asc(usageDaily.model), asc(usageDaily.endpoint_id))
  return rows.map((row) => ({
    date: dayOf(row.day),
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
