import { Elysia, t } from 'elysia'
import type { Database } from '../../db/database.ts'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { download } from '../../http/download.ts'
import { operation } from '../../http/operation.ts'
import { exportLines } from './export.ts'
import { auditEntry, exportAuditQuery, listAuditQuery } from './schema.ts'
import { exportAudit, listAudit } from './service.ts'

const tag = 'Audit log'
const TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' } as const

export const auditRoutes = (deps: CallerDeps & { database: Database }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/audit-log', ({ query }) => listAudit(deps.database, query), {
      caller: 'management',
      query: listAuditQuery,
      response: { 200: t.Object({ data: t.Array(auditEntry), total_count: t.Number() }) },
      detail: operation({
        id: 'listAuditLog',
        tag,
        summary: 'List what was changed, by whom and from where',
      }),
    })
    .get(
      '/audit-log/export',
      ({ query }) => {
        const { format = 'ndjson', ...filter } = query
        const lines = exportLines(exportAudit(deps.database, filter), format)
        return download(lines, TYPES[format], `audit-log.${format}`)
      },
      {
        caller: 'management',
        query: exportAuditQuery,
        detail: operation({
          id: 'exportAuditLog',
          tag,
          summary: 'Export the audit log as lines of JSON or as CSV',
          media: ['application/x-ndjson', 'text/csv'],
        }),
      },
    )
