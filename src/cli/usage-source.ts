import { nanoUsdOf } from '../core/money.ts'
import { openForReading } from '../db/database.ts'
import { hasDays } from '../ledger/days.ts'
import { hasLabels, OTHER, SAID_OTHER } from '../ledger/labels.ts'
import { includeUnfolded } from '../ledger/unfolded.ts'
import { type Dimension, sumUsage } from '../ledger/usage-sums.ts'
import { formatInstant } from '../ledger/windows.ts'
import { type Client, isRecord } from './client.ts'
import { allKeys } from './keys.ts'
import type { Period } from './period.ts'
import { CommandError, EXIT } from './terminal.ts'

/** Dimensions of usage, with their names in the API, where days are not a dimension. */
export const SPLITS = {
  day: null,
  model: 'model',
  provider: 'provider',
  key: 'api_key_hash',
  workspace: 'workspace_id',
} as const satisfies Record<string, Dimension | null>
/** A dimension, or a label of requests: `user`, `tag:<name>`. */
export type Split = keyof typeof SPLITS | 'user' | `tag:${string}`

const isPlain = (by: Split): by is keyof typeof SPLITS => Object.hasOwn(SPLITS, by)
const dimensionOf = (by: Split): Dimension | null => (isPlain(by) ? SPLITS[by] : 'label')

export interface UsageLine {
  /** The day, the model's id, the provider's name, or the id of a key or workspace. */
  readonly id: string
  /** Its name; the id if it has no name. */
  readonly name: string
  readonly requests: number
  readonly failed: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly usageNanoUsd: number
  readonly byokUsageNanoUsd: number
}

export interface UsageAnswer {
  readonly lines: readonly UsageLine[]
  /** The server has more rows than it returned. */
  readonly isCut: boolean
}

const LOCAL_LIMITS = { timeoutMs: 120_000, maxGroups: 1_000_000 }
const REMOTE_ROWS = 10_000
const REMOTE_TIMEOUT_MS = 20_000

/** Usage from the hourly sums of a database file, which a server may be using. */
export async function localUsage(path: string, by: Split, period: Period): Promise<UsageAnswer> {
  const database = openForReading(path)
  try {
    // One transaction, so that a running server does not change the rows between two sums.
    database.file.run('BEGIN')
    const dimension = dimensionOf(by)
    if (dimension === 'label' && !hasLabels(database)) return { lines: [], isCut: false }
    const isWithoutDays = !hasDays(database)
    includeUnfolded(database)
    const query = {
      label: dimension === 'label' ? by : null,
      dimensions: dimension === null ? [] : [dimension],
      granularity: dimension === null ? ('day' as const) : null,
      filters: [],
      isWithoutDays,
      ...period,
    }
    const groups = await sumUsage(database.db, query, LOCAL_LIMITS)
    const names = new Map(
      by === 'key' || by === 'workspace'
        ? database.file
            .query<{ id: string; name: string }, []>(
              by === 'key' ? 'SELECT hash AS id, name FROM api_keys' : 'SELECT id, name FROM workspaces',
            )
            .all()
            .map(({ id, name }) => [id, name])
        : [],
    )
    const lines = groups.map(({ bucket, values, sums }) => {
      const value = dimension === 'label' && values[0] === OTHER ? SAID_OTHER : String(values[0])
      const id = bucket === null ? value : formatInstant(bucket).slice(0, 10)
      return {
        id,
        name: names.get(id) ?? id,
        requests: sums.requests,
        failed: sums.failed_requests,
        promptTokens: sums.prompt_tokens,
        completionTokens: sums.completion_tokens,
        usageNanoUsd: sums.usage_nano_usd,
        byokUsageNanoUsd: sums.byok_usage_nano_usd,
      }
    })
    return { lines, isCut: false }
  } finally {
    database.close()
  }
}

const METRICS = [
  'request_count',
  'error_count',
  'prompt_tokens',
  'completion_tokens',
  'total_usage',
  'byok_usage',
] as const

/** The same from a server, through POST /analytics/query. */
export async function remoteUsage(client: Client, by: Split, period: Period): Promise<UsageAnswer> {
  const dimension = isPlain(by) ? SPLITS[by] : by
  const column = dimension ?? 'date__day'
  const body = {
    metrics: METRICS,
    ...(dimension === null ? { granularity: 'day' } : { dimensions: [dimension] }),
    time_range: { start: new Date(period.from).toISOString(), end: new Date(period.until).toISOString() },
    order_by: { field: dimension === null ? column : 'total_usage', direction: 'desc' },
    limit: REMOTE_ROWS,
  }
  const answer = await client.call('POST', '/analytics/query', body, REMOTE_TIMEOUT_MS)
  const result = isRecord(answer) && isRecord(answer['data']) ? answer['data'] : {}
  const rows = result['data']
  if (!Array.isArray(rows) || !isRecord(result['metadata']))
    throw new CommandError(EXIT.unreachable, `What answers at ${client.root} is not a Sluice: set SLUICE_URL`)
  const names = await namesOf(client, by)
  const lines = rows.filter(isRecord).map((row) => lineOf(row, column, names))
  return { lines, isCut: result['metadata']['truncated'] === true }
}

function lineOf(
  row: Readonly<Record<string, unknown>>,
  column: string,
  names: ReadonlyMap<string, string>,
): UsageLine {
  const number = (name: (typeof METRICS)[number]): number => Number(row[name] ?? 0)
  const text = String(row[column])
  const id = column === 'date__day' ? text.slice(0, 10) : text
  return {
    id,
    name: names.get(id) ?? id,
    requests: number('request_count'),
    failed: number('error_count'),
    promptTokens: number('prompt_tokens'),
    completionTokens: number('completion_tokens'),
    usageNanoUsd: nanoUsdOf(number('total_usage')),
    byokUsageNanoUsd: nanoUsdOf(number('byok_usage')),
  }
}

async function namesOf(client: Client, by: Split): Promise<Map<string, string>> {
  if (by === 'key') return new Map((await allKeys(client)).map(({ hash, name }) => [hash, name]))
  if (by !== 'workspace') return new Map()
  const answer = await client.call('GET', '/workspaces')
  const rows: unknown = isRecord(answer) ? answer['data'] : []
  const known = Array.isArray(rows) ? rows.filter(isRecord) : []
  return new Map(known.map(({ id, name }) => [String(id), String(name)]))
}
