import { eq } from 'drizzle-orm'
import { badRequest, notFound } from '../../../core/errors.ts'
import { USER_LABEL } from '../../../core/generation.ts'
import type { Database, Db } from '../../../db/database.ts'
import { apiKeys, users, workspaces } from '../../../db/tables.ts'
import { type ActivityItem, firstActivityDay, listActivity } from '../../../ledger/activity.ts'
import type { Ledger } from '../../../ledger/ledger.ts'
import type { ActivityQuery } from './schema.ts'

/** Usage of the organisation by day, model and endpoint. Keys, members and workspaces that were deleted still count. */
export async function activity(
  { database: { db }, ledger }: { database: Database; ledger: Pick<Ledger, 'fold'> },
  query: ActivityQuery,
  now: number,
): Promise<Item[]> {
  if (query.date !== undefined) checkDay(query.date, now)
  const workspaceId = query.workspace_id?.toLowerCase()
  await requireNamed(db, query.api_key_hash, query.user_id, workspaceId)
  const filter = {
    date: query.date,
    apiKeyHash: query.api_key_hash,
    userId: query.user_id,
    workspaceId,
    groupByWorkspace: query.group_by === 'workspace',
    label: labelIn(query.group_by),
  }
  ledger.fold()
  const items = await listActivity(db, filter, now)
  if (filter.label === null) return items
  const name = filter.label === USER_LABEL ? 'user' : 'tag'
  return items.map(({ label, ...item }) => ({ ...item, [name]: label }))
}

type Item = Omit<ActivityItem, 'label'> & { user?: string; tag?: string }

const labelIn = (groupBy: string | undefined): string | null =>
  groupBy === undefined || groupBy === 'workspace' ? null : groupBy

function checkDay(date: string, now: number): void {
  const today = new Date(now).toISOString().slice(0, 10)
  const first = firstActivityDay(now)
  // Days compare as text; one that the month does not have would roll over.
  const day = new Date(`${date}T00:00:00Z`)
  const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
  if (!exists || date < first || date > today) {
    throw badRequest(`must be a UTC day from ${first} to ${today}: the last 30 days`, 'query parameter date')
  }
}

async function requireNamed(db: Db, keyHash?: string, userId?: string, workspaceId?: string): Promise<void> {
  if (keyHash !== undefined && (await db.$count(apiKeys, eq(apiKeys.hash, keyHash))) === 0) {
    throw notFound('There is no API key with the hash in api_key_hash')
  }
  if (userId !== undefined && (await db.$count(users, eq(users.id, userId))) === 0) {
    throw notFound('There is no member with the id in user_id')
  }
  if (workspaceId !== undefined && (await db.$count(workspaces, eq(workspaces.id, workspaceId))) === 0) {
    throw notFound('There is no workspace with the id in workspace_id')
  }
}
