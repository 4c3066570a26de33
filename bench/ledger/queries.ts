import { join } from 'node:path'
import { isObject } from '../../src/core/json.ts'
import { DATABASE_FILE, openForReading } from '../../src/db/database.ts'
import { cpuMicros } from '../proc.ts'
import { MANAGEMENT_KEY } from '../sluice.ts'
import { percentile } from '../statistics.ts'
import type { Target } from '../target.ts'

/** What pages of usage and lists cost on a seeded ledger, asked one after the other until the last byte is there. */

const WARMUP = 3

export interface QueryRow {
  name: string
  p50Ms: number
  p95Ms: number
  /** Processor time of the gateway for one query, independent of other load on the machine. Null: not known. */
  cpuMs: number | null
  /** Null: no goal is set for it. */
  goalMs: number | null
  bytes: number
}

interface Place {
  workspaceId: string
  keyHash: string
  userId: string
  generationId: string
}

interface Asked {
  name: string
  path: string
  body?: object
  goalMs: number | null
  key?: string
}

const USAGE_GOAL_MS = 50
const LIST_GOAL_MS = 20
const DAY_MS = 86_400_000

/** A key with much usage. */
function placeOf(folder: string): Place {
  const database = openForReading(join(folder, 'data', DATABASE_FILE))
  try {
    const row = database.file
      .query<Place, []>(
        `SELECT workspace_id AS workspaceId, key_hash AS keyHash, user_id AS userId, id AS generationId
         FROM generations WHERE key_hash = (SELECT hash FROM api_keys WHERE id = 1000) ORDER BY id DESC LIMIT 1`,
      )
      .get()
    if (row === null) throw new Error('the seeded ledger has no generation of its first key')
    return row
  } finally {
    database.close()
  }
}

function queriesOf({ workspaceId, keyHash, userId, generationId }: Place): Asked[] {
  const now = Date.now()
  const daysAgo = (days: number) => new Date(now - days * DAY_MS).toISOString()
  const analytics = (name: string, body: object, goalMs: number | null = USAGE_GOAL_MS): Asked => ({
    name: `analytics: ${name}`,
    path: '/analytics/query',
    body,
    goalMs,
  })
  const spending = { metrics: ['total_usage', 'request_count', 'total_tokens'] }
  const year = { start: daysAgo(365), end: daysAgo(0) }
  const usage = (name: string, path: string): Asked => ({ name, path, goalMs: USAGE_GOAL_MS })
  const list = (name: string, path: string): Asked => ({ name, path, goalMs: LIST_GOAL_MS })
  return [
    usage('activity: 30 days', '/activity'),
    usage('activity: 30 days by workspace', '/activity?group_by=workspace'),
    usage('activity: a day', `/activity?date=${daysAgo(3).slice(0, 10)}`),
    usage('activity: a key', `/activity?api_key_hash=${keyHash}`),
    usage('activity: a workspace', `/activity?workspace_id=${workspaceId}`),
    usage('activity: a member', `/activity?user_id=${userId}`),
    analytics('30 days by day', { ...spending, granularity: 'day' }),
    analytics('30 days by model and day', { ...spending, dimensions: ['model'], granularity: 'day' }),
    analytics('30 days by key', { ...spending, dimensions: ['api_key_hash'] }),
    analytics('a workspace by model', {
      ...spending,
      dimensions: ['model'],
      filters: [{ field: 'workspace_id', operator: 'eq', value: workspaceId }],
    }),
    analytics('a year by month', { ...spending, granularity: 'month', time_range: year }, null),
    usage('credits', '/credits'),
    list('keys with usage, 100', `/keys?limit=100&workspace_id=${workspaceId}`),
    list('a generation', `/generation?id=${generationId}`),
    list('audit log, newest first', '/audit-log?limit=100'),
  ]
}

export async function queryLatencies(target: Target, folder: string, times: number): Promise<QueryRow[]> {
  const place = placeOf(folder)
  const rows: QueryRow[] = []
  for (const asked of queriesOf(place)) {
    for (let count = 0; count < WARMUP; count++) await ask(target, asked)
    const taken: number[] = []
    let bytes = 0
    const before = cpuOf(target)
    for (let count = 0; count < times; count++) {
      const reply = await ask(target, asked)
      bytes = reply.bytes
      taken.push(reply.ms)
    }
    const after = cpuOf(target)
    const cpuMs = before === null || after === null ? null : (after - before) / 1000 / times
    rows.push({ name: asked.name, ...percentilesOf(taken), cpuMs, goalMs: asked.goalMs, bytes })
  }
  rows.push(newestFirst(folder, place.workspaceId, times))
  return rows
}

const cpuOf = ({ pid }: Target): number | null => (pid === null ? null : cpuMicros(pid))

/** The time ends with the last byte: to parse it is the client's work, and takes as long as an answer of megabytes. */
async function ask(
  { port }: Target,
  { path, body, key = MANAGEMENT_KEY }: Asked,
): Promise<{ bytes: number; ms: number }> {
  const startedAt = performance.now()
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  const ms = performance.now() - startedAt
  if (reply.status !== 200 || !isObject(JSON.parse(text)))
    throw new Error(`${path} answered ${reply.status}: ${text.slice(0, 300)}`)
  return { bytes: text.length, ms }
}

/**
 * The newest generations of a workspace, page by page, as a list of them is read: the API has no such list yet, so
 * this is the statement alone, of complete rows, by its index.
 */
function newestFirst(folder: string, workspaceId: string, times: number): QueryRow {
  const database = openForReading(join(folder, 'data', DATABASE_FILE))
  try {
    const page = database.file.query<{ id: string }, [string, string]>(
      'SELECT * FROM generations WHERE workspace_id = ? AND id < ? ORDER BY id DESC LIMIT 100',
    )
    const taken: number[] = []
    let before = 'gen-z'
    let bytes = 0
    for (let count = 0; count < times; count++) {
      const startedAt = performance.now()
      const rows = page.all(workspaceId, before)
      taken.push(performance.now() - startedAt)
      before = rows.at(-1)?.id ?? 'gen-z'
      bytes = JSON.stringify(rows).length
    }
    return {
      name: 'generations, newest first, 100 (the statement)',
      ...percentilesOf(taken),
      cpuMs: null,
      goalMs: LIST_GOAL_MS,
      bytes,
    }
  } finally {
    database.close()
  }
}

function percentilesOf(taken: number[]): { p50Ms: number; p95Ms: number } {
  const ascending = taken.toSorted((a, b) => a - b)
  return { p50Ms: percentile(ascending, 0.5), p95Ms: percentile(ascending, 0.95) }
}

export const queryTable = (rows: readonly QueryRow[]): string[][] => [
  ['asked one after the other', 'p50, ms', 'p95, ms', 'CPU, ms', 'goal', 'reached', 'bytes'],
  ...rows.map((row) => [
    row.name,
    row.p50Ms.toFixed(1),
    row.p95Ms.toFixed(1),
    row.cpuMs?.toFixed(1) ?? '',
    row.goalMs === null ? '' : `≤ ${row.goalMs}`,
    row.goalMs === null ? '' : isQueryGood(row) ? 'yes' : 'NO',
    String(row.bytes),
  ]),
]

export const isQueryGood = ({ p95Ms, goalMs }: QueryRow): boolean => goalMs === null || p95Ms <= goalMs
