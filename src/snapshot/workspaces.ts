import { and, asc, inArray, isNull } from 'drizzle-orm'
import type { WorkspaceRecord } from '../core/snapshot.ts'
import type { Database } from '../db/database.ts'
import { exportsOf } from '../db/export-tables.ts'
import { organizations, workspaceBudgets, workspaces } from '../db/tables.ts'

type Row = typeof workspaces.$inferSelect
export type Organization = typeof organizations.$inferSelect

/** Throws when the database has no organisation yet: the first run makes it. */
export function readOrganization({ sync }: Database): Organization {
  const organization = sync.select().from(organizations).get()
  if (!organization) throw new Error('the database has no organisation')
  return organization
}

/**
 * With their budgets; those that are deleted are not there. `exportsAll`: generations of all of them are exported. Absent
 * `ids`: all.
 */
export function readWorkspaces(
  { sync }: Database,
  { id: organizationId, allowance_nano_usd: limitNanoUsd }: Organization,
  exportsAll: boolean,
  ids?: readonly string[],
): [string, WorkspaceRecord][] {
  const allowance = limitNanoUsd === null ? {} : { allowance: { organizationId, limitNanoUsd } }
  const rows = sync
    .select()
    .from(workspaces)
    .where(and(isNull(workspaces.deleted_at), ids && inArray(workspaces.id, [...ids])))
    .all()
  const budgets = Map.groupBy(
    sync
      .select()
      .from(workspaceBudgets)
      .where(ids && inArray(workspaceBudgets.workspace_id, [...ids]))
      .orderBy(asc(workspaceBudgets.id))
      .all(),
    ({ workspace_id }) => workspace_id,
  )
  const exporting = exportsOf({ sync }, ids)
  return rows.map((row) => {
    const own = budgets.get(row.id)?.map(({ interval, limit_nano_usd }) => ({
      interval,
      limitNanoUsd: limit_nano_usd,
      includeByok: row.include_byok_in_budgets,
    }))
    const exports = exporting.get(row.id) ?? (exportsAll ? WITHOUT_CONTENT : undefined)
    return [
      row.id,
      { ...recordOf(row), ...allowance, ...(own && { budgets: own }), ...(exports && { exports }) },
    ]
  })
}

const WITHOUT_CONTENT = { content: false }

const recordOf = (row: Row): WorkspaceRecord => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  defaultGuardrailId: row.default_guardrail_id,
  defaultTextModel: row.default_text_model,
  defaultImageModel: row.default_image_model,
  defaultProviderSort: row.default_provider_sort,
  ...(row.disabled_server_tools?.length && { disabledServerTools: row.disabled_server_tools }),
  ...(row.rate_limits && { rateLimits: row.rate_limits }),
  ...(row.plugins?.length && { plugins: row.plugins }),
  ...loggingOf(row),
  responseCache: { isOn: row.response_cache_enabled, ttlSeconds: row.response_cache_ttl_seconds },
})

const loggingOf = (row: Row): Pick<WorkspaceRecord, 'contentLogging'> =>
  row.is_observability_io_logging_enabled
    ? {
        contentLogging: {
          samplingRate: row.io_logging_sampling_rate,
          keyIds: row.io_logging_api_key_ids && new Set(row.io_logging_api_key_ids),
        },
      }
    : {}
