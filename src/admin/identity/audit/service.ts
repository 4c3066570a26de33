import type { Static } from '@sinclair/typebox'
import { and, eq, gt, gte, lt, type SQL } from 'drizzle-orm'
import { selectRows } from '../../../db/columns.ts'
import type { Database } from '../../../db/database.ts'
import { auditLog } from '../../../db/tables.ts'
import { instantOf } from '../../../http/instant.ts'
import { listing, listPage } from '../../list.ts'
import { type AuditEntry, type AuditFilter, auditView, filters } from './schema.ts'

/** Rows that an export reads at once; the event loop runs between two reads. */
const SLICE = 500

/** Default order: newest first. */
export const auditList = listing({
  rows: (db, where) => selectRows(db, auditLog, where),
  sorts: [auditLog.id],
  order: '-id',
  key: auditLog.id,
  searched: [auditLog.action, auditLog.actor_label, auditLog.resource_id],
  filters,
})

export const listAudit = (database: Database, query: Static<typeof auditList.query>) =>
  listPage(database, auditList, query, conditionOf(query), auditView)

/** All entries, oldest first, read in slices while they are sent. Entries written meanwhile may be missing. */
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
    yield rows.map(auditView)
    after = rows.at(-1)?.id ?? after
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Throws a 400 for an instant that does not exist. */
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
