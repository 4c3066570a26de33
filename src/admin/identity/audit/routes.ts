import { Elysia } from 'elysia'
import type { Database } from '../../../db/database.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { download } from '../../../http/download.ts'
import { operationsOf } from '../../../http/operation.ts'
import { pageReply } from '../../../http/schemas.ts'
import { exportLines } from './export.ts'
import { auditReply, exportAuditQuery } from './schema.ts'
import { auditList, exportAudit, listAudit } from './service.ts'

const documented = operationsOf('Audit log')
const TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' } as const

export const auditRoutes = (deps: CallerDeps & { database: Database }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/audit-log', ({ query }) => listAudit(deps.database, query), {
      caller: 'management',
      query: auditList.query,
      response: pageReply(auditReply),
      detail: documented('listAuditLog', 'List what was changed, by whom and from where'),
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
        detail: documented('exportAuditLog', 'Export the audit log as lines of JSON or as CSV', {
          media: ['application/x-ndjson', 'text/csv'],
        }),
      },
    )
