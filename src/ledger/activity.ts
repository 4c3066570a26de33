import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
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
  const { day, model, endpoint_id, provider_name, provider_slug, is_byok, workspace_id } = usageDaily
  // The columns of the primary key in its order, without a gap: so SQLite sums as it reads, and sorts nothing.
  const further = filter.groupByWorkspace === true ? [provider_slug, is_byok, workspace_id] : []
  const parts = [day, model, endpoint_id, provider_name, ...further]
  // As arrays: there may be tens of thousands, and an object for each, thrown away at once, took as long as the sums.
  const rows: unknown[][] = await db
    .select({
      day,
      model,
      endpointId: endpoint_id,
      providerName: provider_name,
      workspaceId: sql`min(${workspace_id})`,
      ...Object.fromEntries(SUMS.map((name) => [name, sql`sum(${usageDaily[name]})`])),
    })
    .from(usageDaily)
    .where(and(...conditions))
    .groupBy(...parts)
    .orderBy(...parts)
    .values()
  const days = itemsByDay(rows, filter.groupByWorkspace === true)
  // What costs the same stays in the order of the key.
  return days.toReversed().flatMap((items) => items.sort((a, b) => b.usage - a.usage).map(inUsd))
}

const SUMS = [
  'usage_nano_usd',
  'byok_usage_nano_usd',
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'reasoning_tokens',
] as const

/** Oldest day first, amounts still in nano-dollars. Rows of one model and endpoint follow each other. */
function itemsByDay(rows: readonly unknown[][], hasWorkspaces: boolean): ActivityItem[][] {
  const days: ActivityItem[][] = []
  let day: unknown
  let date = ''
  let items: ActivityItem[] = []
  // Of the model, endpoint and provider that are being read.
  let byWorkspace = new Map<string, ActivityItem>()
  let latest: ActivityItem | undefined
  for (const row of rows) {
    if (row[0] !== day) {
      day = row[0]
      date = dayOf(Number(day))
      items = []
      days.push(items)
      latest = undefined
    }
    const item = itemOf(date, row)
    if (latest === undefined || !isSame(latest, item)) byWorkspace = new Map()
    latest = item
    const workspaceId = String(row[4])
    const known = byWorkspace.get(workspaceId)
    if (known !== undefined) {
      addTo(known, item)
      continue
    }
    if (hasWorkspaces) item.workspace_id = workspaceId
    byWorkspace.set(workspaceId, item)
    items.push(item)
  }
  return days
}

function itemOf(date: string, row: readonly unknown[]): ActivityItem {
  const model = String(row[1])
  return {
    date,
    model,
    model_permaslug: model,
    endpoint_id: String(row[2]),
    provider_name: String(row[3]),
    usage: Number(row[5]),
    byok_usage_inference: Number(row[6]),
    requests: Number(row[7]),
    prompt_tokens: Number(row[8]),
    completion_tokens: Number(row[9]),
    reasoning_tokens: Number(row[10]),
  }
}

const isSame = (a: ActivityItem, b: ActivityItem): boolean =>
  a.model === b.model && a.endpoint_id === b.endpoint_id && a.provider_name === b.provider_name

function addTo(item: ActivityItem, more: ActivityItem): void {
  item.usage += more.usage
  item.byok_usage_inference += more.byok_usage_inference
  item.requests += more.requests
  item.prompt_tokens += more.prompt_tokens
  item.completion_tokens += more.completion_tokens
  item.reasoning_tokens += more.reasoning_tokens
}

function inUsd(item: ActivityItem): ActivityItem {
  item.usage = usdOf(item.usage)
  item.byok_usage_inference = usdOf(item.byok_usage_inference)
  return item
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
