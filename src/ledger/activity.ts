import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import { usdOf } from '../core/money.ts'
import type { Db } from '../db/database.ts'
import { usageDaily, usageLabels } from '../db/tables.ts'
import { OTHER, SAID_OTHER } from './labels.ts'
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
  /** One item for each value of this label: `user`, or `tag:` and the name of a tag. */
  label?: string | null
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
  /** All settled generations, failed ones included. */
  requests: number
  prompt_tokens: number
  completion_tokens: number
  reasoning_tokens: number
  workspace_id?: string
  /** The value of the label; `(other)` beyond the bounds of a day. */
  label?: string
}

/** The first day that GET /activity answers for, as `YYYY-MM-DD`; the last one is today. */
export const firstActivityDay = (now: number): string =>
  dayOf(windowStart('daily', now) - (DAYS - 1) * DAY_MS)

/** Usage by day, model and endpoint, from the daily sums: newest day first, then the dearest. */
export async function listActivity(db: Db, filter: ActivityFilter, now: number): Promise<ActivityItem[]> {
  const from = Date.parse(`${filter.date ?? firstActivityDay(now)}T00:00:00Z`)
  const until = filter.date === undefined ? windowStart('daily', now) + DAY_MS : from + DAY_MS
  const { label = null } = filter
  const usage = label === null ? usageDaily : usageLabels
  const conditions: (SQL | undefined)[] = [
    gte(usage.day, from),
    lt(usage.day, until),
    label === null ? undefined : eq(usageLabels.name, label),
    filter.apiKeyHash === undefined ? undefined : eq(usage.key_hash, filter.apiKeyHash),
    filter.userId === undefined ? undefined : eq(usage.user_id, filter.userId),
    filter.workspaceId === undefined ? undefined : eq(usage.workspace_id, filter.workspaceId),
  ]
  const { day, model, endpoint_id, provider_name, workspace_id } = usage
  // The first columns of the primary key in its order, so that SQLite sums without sorting.
  const parts = [
    ...(label === null ? [] : [usageLabels.value]),
    model,
    endpoint_id,
    provider_name,
    ...(filter.groupByWorkspace === true ? [workspace_id] : []),
  ]
  const named = label === null ? [sql`NULL`, ...parts] : parts
  const line = sql.join([...SUMS.map((name) => sql`sum(${usage[name]})`), ...named], sql`, `)
  const lines = db
    .select({ day, line: sql<string>`json_array(${line})`.as('line') })
    .from(usage)
    .where(and(...conditions))
    .groupBy(day, ...parts)
    .orderBy(day, ...parts)
    .as('lines')
  // A day is one text: ten thousand rows of eleven values each take longer to hand over than to sum.
  const days = await db
    .select({ day: lines.day, items: sql<string>`'[' || group_concat(${lines.line}) || ']'` })
    .from(lines)
    .groupBy(lines.day)
    .orderBy(lines.day)
  return days.toReversed().flatMap((each) => itemsOf(each.day, each.items))
}

const SUMS = [
  'usage_nano_usd',
  'byok_usage_nano_usd',
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'reasoning_tokens',
] as const

/** What costs the same stays in the order of the key. */
function itemsOf(day: number, lines: string): ActivityItem[] {
  const date = dayOf(day)
  const parsed: Line[] = JSON.parse(lines)
  return parsed.map((line) => itemOf(date, line)).sort((a, b) => b.usage - a.usage)
}

/** The columns of `SUMS`, then the dimensions; label and workspace only if requested. */
type Line = [
  ...[
    usage: number,
    byokUsage: number,
    requests: number,
    prompt: number,
    completion: number,
    reasoning: number,
  ],
  ...[label: string | null, model: string, endpointId: string, provider: string, workspace?: string],
]

function itemOf(date: string, line: Line): ActivityItem {
  const [usage, byokUsage, requests, prompt, completion, reasoning, ...names] = line
  const [label, model, endpointId, provider, workspace] = names
  const item: ActivityItem = {
    date,
    model,
    model_permaslug: model,
    endpoint_id: endpointId,
    provider_name: provider,
    usage: usdOf(usage),
    byok_usage_inference: usdOf(byokUsage),
    requests,
    prompt_tokens: prompt,
    completion_tokens: completion,
    reasoning_tokens: reasoning,
  }
  if (workspace !== undefined) item.workspace_id = workspace
  if (label !== null) item.label = label === OTHER ? SAID_OTHER : label
  return item
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
