import { type Static, Type } from '@sinclair/typebox'
import { and, asc, eq, gte, lt, sql } from 'drizzle-orm'
import { badRequest, conflict } from '../../../core/errors.ts'
import type { Database } from '../../../db/database.ts'
import { generations, prunedHourly, usageHourly } from '../../../db/tables.ts'
import type { Book } from '../../../delivery/book.ts'
import { MOST_REPLAYED, positionBefore } from '../../../delivery/replay.ts'
import { KINDS } from '../../../exporters/kinds/index.ts'
import { utcInstant } from '../../../http/instant.ts'

const at = (description: string) =>
  Type.String({
    maxLength: 40,
    expects: 'an instant in UTC such as 2026-11-23T08:00:00Z',
    documented: { type: 'string', format: 'date-time' },
    description,
  })
export const replayBody = Type.Object(
  {
    from: at('Generations whose requests began then or later.'),
    to: at('And before this time.'),
  },
  { additionalProperties: false },
)
export type ReplayRange = Static<typeof replayBody>

const HOUR_MS = 3_600_000

/**
 * What a replay covers. Throws a `GatewayError`: 400 for a range that is empty or has more than a million generations;
 * 409 if the destination is disabled, if a replay runs, and for a range of which the destination or the ledger has
 * nothing any more, with the time from when there is something.
 */
export async function checkReplay(
  { database, now }: { database: Database; now(): number },
  { destination, row }: Book,
  body: ReplayRange,
): Promise<{ from: number; to: number; position: number }> {
  const from = instantAt(body.from, 'from')
  const to = Math.min(instantAt(body.to, 'to'), now())
  if (from >= to) throw badRequest('must be before to and in the past', 'from')
  if (!destination.enabled) throw conflict('The destination is disabled: enable it first')
  if (row.replay?.state === 'running')
    throw conflict('A replay of this destination is running: cancel it first')
  const oldest = now() - (KINDS[destination.type].limits.oldestMs ?? Number.POSITIVE_INFINITY)
  if (from < oldest) {
    throw conflict(
      `from: a destination of the type ${destination.type} takes nothing that is older than ${isoOf(oldest)}`,
    )
  }
  const workspaceId = destination.workspaceId ?? ''
  await refusePruned(database, workspaceId, from)
  const known = await generationsIn(database, workspaceId, from, to)
  if (known > MOST_REPLAYED)
    throw badRequest(
      `there are ${known} generations, and a replay takes ${MOST_REPLAYED}: shorten the range`,
      'to',
    )
  return { from, to, position: positionBefore(from) }
}

function instantAt(text: string, path: string): number {
  const instant = utcInstant(text)
  if (instant === null) throw badRequest('must be an instant in UTC such as 2026-11-23T08:00:00Z', path)
  return instant.getTime()
}

const isoOf = (ms: number): string => new Date(ms).toISOString()
const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS

/** Rows are deleted from the oldest on, for all workspaces. */
async function refusePruned({ db }: Database, workspaceId: string, from: number): Promise<void> {
  const [first] = await db
    .select({ startedAt: generations.created_at })
    .from(generations)
    .orderBy(asc(generations.id))
    .limit(1)
  if (first !== undefined && from >= first.startedAt.getTime()) return
  const [pruned] = await db
    .select({ hour: prunedHourly.hour })
    .from(prunedHourly)
    .where(and(eq(prunedHourly.workspace_id, workspaceId), gte(prunedHourly.hour, hourOf(from))))
    .limit(1)
  if (pruned === undefined) return
  throw conflict(
    first === undefined
      ? 'from: all generations of the ledger are deleted, so there is nothing to replay'
      : `from: older generations are deleted; the oldest that is there began at ${first.startedAt.toISOString()}`,
  )
}

/** By the sums of complete hours within the range, which are read at once for any number of generations. */
async function generationsIn(
  { db }: Database,
  workspaceId: string,
  from: number,
  to: number,
): Promise<number> {
  const [sums] = await db
    .select({ requests: sql<number | null>`sum(${usageHourly.requests})` })
    .from(usageHourly)
    .where(
      and(
        eq(usageHourly.workspace_id, workspaceId),
        gte(usageHourly.hour, hourOf(from + HOUR_MS - 1)),
        lt(usageHourly.hour, hourOf(to)),
      ),
    )
  return sums?.requests ?? 0
}
