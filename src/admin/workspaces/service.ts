import { and, count, eq, inArray, isNull, type SQL } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import type { Caller } from '../../core/caller.ts'
import { badRequest, conflict, notFound } from '../../core/errors.ts'
import { newUuid } from '../../core/ids.ts'
import type { Database, Db, Write } from '../../db/database.ts'
import {
  apiKeys,
  byokKeys,
  destinations,
  files,
  guardrails,
  organizations,
  presets,
  workspaceBudgets,
  workspaceMembers,
  workspaces,
} from '../../db/tables.ts'
import type { FileStore } from '../../files/store.ts'
import { pageOf } from '../../http/schemas.ts'
import { type ChangeDeps, change, difference } from '../change.ts'
import { defaultGuardrail } from '../guardrails/default.ts'
import { activeKeys, namesOf } from '../keys/active.ts'
import { rateLimitsOf } from '../rate-limits.ts'
import { findWorkspace } from './find.ts'
import {
  type CreateWorkspaceBody,
  type ListWorkspacesQuery,
  type UpdateWorkspaceBody,
  type Workspace,
  type WorkspaceRow,
  workspaceSettings,
  workspaceView,
} from './schema.ts'

/** In the order of their making. An inference key is shown its own workspace alone. */
export async function listWorkspaces(
  { database: { db } }: ChangeDeps,
  { key }: Caller,
  query: ListWorkspacesQuery,
): Promise<{ data: Workspace[]; total_count: number }> {
  const own: SQL | undefined = key.kind === 'management' ? undefined : eq(workspaces.id, key.workspaceId)
  const listed = and(isNull(workspaces.deleted_at), own)
  const { limit, offset } = pageOf(query)
  const rows = await db
    .select()
    .from(workspaces)
    .where(listed)
    .orderBy(workspaces.id)
    .limit(limit)
    .offset(offset)
  const [total] = await db.select({ workspaces: count() }).from(workspaces).where(listed)
  return { data: rows.map(workspaceView), total_count: total?.workspaces ?? 0 }
}

export const getWorkspace = async (deps: ChangeDeps, caller: Caller, id: string): Promise<Workspace> =>
  workspaceView(await findWorkspace(deps.database, caller, id))

/** Made with its default guardrail, which restricts nothing yet, and its maker as a member. */
export async function createWorkspace(
  deps: ChangeDeps,
  actor: Actor,
  body: CreateWorkspaceBody,
): Promise<Workspace> {
  const row: WorkspaceRow = {
    ...DEFAULTS,
    ...columnsOf(body),
    name: body.name,
    slug: body.slug,
    id: newUuid(),
    organization_id: deps.snapshot.current().organizationId,
    default_guardrail_id: newUuid(),
    created_by: actor.userId,
    created_at: new Date(deps.now()),
  }
  await requireKeys(deps.database, body.io_logging_api_key_ids)
  const made = {
    action: 'workspace.create',
    resourceId: row.id,
    workspaceId: row.id,
    after: workspaceSettings(row),
  } as const
  await change(deps, actor, made, (tx) => {
    refuseTakenSlug(deps.database, row)
    return [
      tx.insert(workspaces).values(row),
      tx.insert(guardrails).values(defaultGuardrail(row)),
      tx.insert(workspaceMembers).values({
        id: newUuid(),
        workspace_id: row.id,
        user_id: actor.userId,
        created_at: row.created_at,
      }),
    ]
  })
  return workspaceView(row)
}

const DEFAULTS = {
  description: null,
  default_image_model: null,
  default_text_model: null,
  default_provider_sort: null,
  disabled_server_tools: null,
  include_byok_in_budgets: false,
  io_logging_api_key_ids: null,
  io_logging_sampling_rate: 1,
  is_data_discount_logging_enabled: false,
  is_observability_broadcast_enabled: false,
  is_observability_io_logging_enabled: false,
  rate_limits: null,
  response_cache_enabled: false,
  response_cache_ttl_seconds: 300,
  updated_at: null,
  deleted_at: null,
} as const

const columnsOf = ({ rate_limits: rates, ...body }: UpdateWorkspaceBody): Partial<WorkspaceRow> => ({
  ...body,
  ...(rates !== undefined && { rate_limits: rateLimitsOf(rates) }),
})

/** The change holds for the next request. */
export async function updateWorkspace(
  deps: ChangeDeps,
  caller: Caller,
  actor: Actor,
  id: string,
  body: UpdateWorkspaceBody,
): Promise<Workspace> {
  const row = await findWorkspace(deps.database, caller, id)
  if (Object.keys(body).length === 0) return workspaceView(row)
  await requireKeys(deps.database, body.io_logging_api_key_ids)
  const columns = columnsOf(body)
  const changed: WorkspaceRow = { ...row, ...columns, updated_at: new Date(deps.now()) }
  const update = {
    action: 'workspace.update',
    resourceId: row.id,
    workspaceId: row.id,
    ...difference(workspaceSettings(row), workspaceSettings(changed)),
  } as const
  await change(deps, actor, update, (tx) => {
    refuseTakenSlug(deps.database, changed)
    return [
      tx
        .update(workspaces)
        .set({ ...columns, updated_at: changed.updated_at })
        .where(eq(workspaces.id, row.id)),
    ]
  })
  return workspaceView(changed)
}

/**
 * Ends a workspace with all that it holds; its history stays. Refused while it has active keys. The
 * default workspace needs `isConfirmed`, and another one that takes its place and its management keys.
 */
export async function deleteWorkspace(
  deps: ChangeDeps & { files: Pick<FileStore, 'remove'> },
  caller: Caller,
  actor: Actor,
  id: string,
  isConfirmed: boolean,
): Promise<void> {
  const row = await findWorkspace(deps.database, caller, id)
  const isDefault = row.id === deps.snapshot.current().defaultWorkspaceId
  if (isDefault && !isConfirmed) {
    throw badRequest(
      'This is the default workspace: confirm with confirm_default_workspace_deletion=true',
      'query parameter confirm_default_workspace_deletion',
    )
  }
  const successor = isDefault ? await oldestOther(deps.database, row.id) : undefined
  const gone = {
    action: 'workspace.delete',
    resourceId: row.id,
    workspaceId: row.id,
    before: workspaceSettings(row),
  } as const
  const deletedAt = new Date(deps.now())
  let fileIds: string[] = []
  await change(deps, actor, gone, (tx) => {
    refuseActiveKeys(deps.database, row.id, deps.now())
    fileIds = filesOf(deps.database, row.id)
    return [
      ...(successor === undefined
        ? []
        : [
            tx
              .update(organizations)
              .set({ default_workspace_id: successor })
              .where(eq(organizations.id, row.organization_id)),
            tx
              .update(apiKeys)
              .set({ workspace_id: successor })
              .where(and(eq(apiKeys.workspace_id, row.id), eq(apiKeys.kind, 'management'))),
          ]),
      ...takeAll(tx, row.id, deletedAt),
      // The slug is free again: no slug has a tilde.
      tx
        .update(workspaces)
        .set({ deleted_at: deletedAt, slug: `${row.slug}~${row.id}` })
        .where(eq(workspaces.id, row.id)),
    ]
  })
  // Bytes that stay behind a crash are cleared at the next start.
  await Promise.all(fileIds.map((fileId) => deps.files.remove(fileId)))
}

const filesOf = ({ sync }: Database, id: string): string[] =>
  sync
    .select({ id: files.id })
    .from(files)
    .where(eq(files.workspace_id, id))
    .all()
    .map((file) => file.id)

/** What it holds, its secrets too. Nobody can use its keys again, so they are no longer shown. */
const takeAll = (tx: Db, id: string, deletedAt: Date): Write[] => [
  tx.delete(workspaceMembers).where(eq(workspaceMembers.workspace_id, id)),
  tx.delete(workspaceBudgets).where(eq(workspaceBudgets.workspace_id, id)),
  tx.delete(guardrails).where(eq(guardrails.workspace_id, id)),
  tx.delete(byokKeys).where(eq(byokKeys.workspace_id, id)),
  tx.delete(destinations).where(eq(destinations.workspace_id, id)),
  tx.delete(files).where(eq(files.workspace_id, id)),
  // Their versions go with them, and the prompts in these.
  tx.delete(presets).where(eq(presets.workspace_id, id)),
  tx
    .update(apiKeys)
    .set({ deleted_at: deletedAt })
    .where(and(eq(apiKeys.workspace_id, id), eq(apiKeys.kind, 'inference'), isNull(apiKeys.deleted_at))),
]

async function oldestOther({ db }: Database, id: string): Promise<string> {
  const rows = await db
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(isNull(workspaces.deleted_at))
    .orderBy(workspaces.id)
    .limit(2)
  const other = rows.find((row) => row.id !== id)
  if (other === undefined) throw badRequest('This is the only workspace: make another one first')
  return other.id
}

function refuseTakenSlug({ sync }: Database, { id, slug }: Pick<WorkspaceRow, 'id' | 'slug'>): void {
  const holder = sync.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.slug, slug)).get()
  if (holder !== undefined && holder.id !== id)
    throw conflict(`slug: another workspace has "${slug}" already`)
}

function refuseActiveKeys(database: Database, workspaceId: string, now: number): void {
  const keys = activeKeys(database, eq(apiKeys.workspace_id, workspaceId), now)
  if (keys.length === 0) return
  throw badRequest(`The workspace has active API keys (${namesOf(keys)}): disable or delete them first`)
}

async function requireKeys({ db }: Database, ids: readonly number[] | null | undefined): Promise<void> {
  if (ids === null || ids === undefined || ids.length === 0) return
  const wanted = new Set(ids)
  const rows = await db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(inArray(apiKeys.id, [...wanted]), isNull(apiKeys.deleted_at)))
  const known = new Set(rows.map((row) => row.id))
  const missing = [...wanted].find((id) => !known.has(id))
  if (missing !== undefined)
    throw notFound(`io_logging_api_key_ids: there is no API key with the id ${missing}`)
}
