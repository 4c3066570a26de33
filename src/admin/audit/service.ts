import { and, count, desc, eq, gt, gte, lt, type SQL } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { auditLog } from '../../db/tables.ts'
import { instantOf } from '../../http/instant.ts'
import { type AuditEntry, type AuditFilter, auditEntryView, type ListAuditQuery } from './schema.ts'

const DEFAULT_PAGE = 50
/** Rows that are read at once for an export: the event loop has a turn between two of them. */
const SLICE = 500

/** Newest first. */
export async function listAudit(
  { db }: Database,
  query: ListAuditQuery,
): Promise<{ data: AuditEntry[]; total_count: number }> {
  const listed = conditionOf(query)
  const rows = await db
    .select()
    .from(auditLog)
    .where(listed)
    .orderBy(desc(auditLog.id))
    .limit(Number(query.limit ?? DEFAULT_PAGE))
    .offset(Number(query.offset ?? 0))
  const [total] = await db.select({ entries: count() }).from(auditLog).where(listed)
  return { data: rows.map(auditEntryView), total_count: total?.entries ?? 0 }
}

/** All entries, oldest first, read in slices while they are sent. What is written meanwhile may or may not be in it. */
export const exportAudit = (database: Database, filter: AuditFilter): AsyncGenerator<AuditEntry[]> =>
  slicesOf(database, conditionOf(filter))

async function* slicesOf({ db }: Database, listed: SQL | undefined): AsyncGenerator<AuditEntry[]> {
  let after = ''
  for (;;) {
    const rows = await db
      .select()
      .from(auditLog)
      .where(and(listed, gt(auditLog.id, after)))
      .orderBy(auditLog.id)
      .limit(SLICE)
    if (rows.length === 0) return
    yield rows.map(auditEntryView)
    after = rows.at(-1)?.id ?? after
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Throws a 400 for an instant that is none. */
function conditionOf(filter: AuditFilter): SQL | undefined {
  const { workspace_id: workspaceId, actor_id: actorId, action, from, to } = filter
  return and(
    workspaceId === undefined ? undefined : eq(auditLog.workspace_id, workspaceId.toLowerCase()),
    actorId === undefined ? undefined : eq(auditLog.actor_id, actorId),
    action === undefined ? undefined : eq(auditLog.action, action),
    filter.resource_type === undefined ? undefined : eq(auditLog.resource_type, filter.resource_type),
    filter.resource_id === undefined ? undefined : eq(auditLog.resource_id, filter.resource_id),
    from === undefined ? undefined : gte(auditLog.created_at, instantOf(from, 'from')),
    to === undefined ? undefined : lt(auditLog.created_at, instantOf(to, 'to')),
  )
}
