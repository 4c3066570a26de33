import { type Static, Type } from '@sinclair/typebox'
import { and, eq, inArray, isNull, notExists, or, type SQL } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import type { Caller } from '../../../core/caller.ts'
import { badRequest, conflict, notFound } from '../../../core/errors.ts'
import { newUuid } from '../../../core/ids.ts'
import { selectRows } from '../../../db/columns.ts'
import {
  type Database,
  type Db,
  mustChange,
  requireThat,
  unlessTaken,
  type Write,
} from '../../../db/database.ts'
import { newRow, storedOf, viewOf } from '../../../db/fields.ts'
import {
  apiKeys,
  byokKeys,
  destinations,
  files,
  guardrails,
  organizations,
  presets,
  type WorkspaceRow,
  workspace,
  workspaceBudgets,
  workspaceMembers,
  workspaces,
} from '../../../db/tables.ts'
import { checkStoredPlugins } from '../../../dialects/stored-plugins.ts'
import type { FileStore } from '../../../files/store.ts'
import type { ListQuery } from '../../../http/schemas.ts'
import { type ChangeDeps, workspaceExists } from '../../change.ts'
import { listing, listPage } from '../../list.ts'
import { createRow, deleteRow, updateRow } from '../../resource.ts'
import { defaultGuardrail } from '../../resources/guardrails/default.ts'
import { activeKeys, namesOf, noActiveKeys } from '../keys/active.ts'

export const workspaceParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100, description: 'The UUID or the slug.' }),
})
type Workspace = Static<typeof workspace.view>

/** Default order: of creation. */
export const workspaceList = listing({
  rows: (db, where) => selectRows(db, workspaces, where),
  sorts: [workspaces.id, workspaces.created_at, workspaces.name, workspaces.slug],
  order: 'id',
  key: workspaces.id,
  searched: [workspaces.name, workspaces.slug, workspaces.description],
  filters: {},
})

const view = (row: WorkspaceRow): Workspace => viewOf(workspace, row)

/** An inference key sees its own workspace alone. */
export function listWorkspaces({ database }: ChangeDeps, { key }: Caller, query: ListQuery) {
  const own: SQL | undefined = key.kind === 'management' ? undefined : eq(workspaces.id, key.workspaceId)
  return listPage(database, workspaceList, query, and(isNull(workspaces.deleted_at), own), view)
}

/** The workspace of this UUID or slug. To an inference key every other workspace is the same 404. */
export async function findWorkspace(
  { database: { db } }: Pick<ChangeDeps, 'database'>,
  caller: Caller,
  idOrSlug: string,
): Promise<WorkspaceRow> {
  const isNamed = or(eq(workspaces.id, idOrSlug.toLowerCase()), eq(workspaces.slug, idOrSlug))
  const [row] = await selectRows(db, workspaces, and(isNamed, isNull(workspaces.deleted_at)))
  const maySee = row !== undefined && (caller.key.kind === 'management' || row.id === caller.key.workspaceId)
  if (!maySee) throw notFound('There is no workspace with this id or slug')
  return row
}

export const getWorkspace = async (deps: ChangeDeps, caller: Caller, id: string): Promise<Workspace> =>
  view(await findWorkspace(deps, caller, id))

/** Created with its default guardrail, which restricts nothing yet, and its creator as a member. */
export async function createWorkspace(
  deps: ChangeDeps,
  actor: Actor,
  body: Static<typeof workspace.create>,
): Promise<Workspace> {
  const row = newRow(workspace, body, {
    id: newUuid(),
    organization_id: deps.snapshot.current().organizationId,
    default_guardrail_id: newUuid(),
    created_by: actor.userId,
    created_at: new Date(deps.now()),
  })
  checkStoredPlugins(body.plugins)
  await requireKeys(deps.database, body.io_logging_api_key_ids)
  const member = {
    id: newUuid(),
    workspace_id: row.id,
    user_id: actor.userId,
    created_at: row.created_at,
  }
  const creation = createRow(deps, actor, workspace, row, {
    further: (tx) => [
      tx.insert(guardrails).values(defaultGuardrail(row)),
      tx.insert(workspaceMembers).values(member),
    ],
  })
  await unlessTaken(creation, 'slug', () => takenSlug(row.slug))
  return view(row)
}

const takenSlug = (slug: string) => conflict(`slug: another workspace has "${slug}" already`)

/** The change holds for the next request. */
export async function updateWorkspace(
  deps: ChangeDeps,
  caller: Caller,
  actor: Actor,
  id: string,
  body: Static<typeof workspace.update>,
): Promise<Workspace> {
  const row = await findWorkspace(deps, caller, id)
  checkStoredPlugins(body.plugins)
  await requireKeys(deps.database, body.io_logging_api_key_ids)
  const update = updateRow(deps, actor, workspace, row, storedOf(workspace, body))
  return view(await unlessTaken(update, 'slug', () => takenSlug(body.slug ?? row.slug)))
}

/**
 * Deletes a workspace with everything in it; its history stays. Rejected while it has active keys. The default
 * workspace needs `isConfirmed`, and another one that becomes the default and gets its management keys.
 */
export async function deleteWorkspace(
  deps: ChangeDeps & { files: Pick<FileStore, 'remove'> },
  caller: Caller,
  actor: Actor,
  id: string,
  isConfirmed: boolean,
): Promise<void> {
  const row = await findWorkspace(deps, caller, id)
  const isDefault = row.id === deps.snapshot.current().defaultWorkspaceId
  if (isDefault && !isConfirmed) {
    throw badRequest(
      'This is the default workspace: confirm with confirm_default_workspace_deletion=true',
      'query parameter confirm_default_workspace_deletion',
    )
  }
  const successor = isDefault ? await oldestOther(deps.database, row.id) : undefined
  const ofWorkspace = eq(apiKeys.workspace_id, row.id)
  const isOfDefault = eq(organizations.default_workspace_id, row.id)
  const deletedAt = new Date(deps.now())
  const keys = await activeKeys(deps.database, ofWorkspace, deps.now())
  if (keys.length > 0) {
    throw badRequest(`The workspace has active API keys (${namesOf(keys)}): disable or delete them first`)
  }
  const uploaded = await selectRows(deps.database.db, files, eq(files.workspace_id, row.id))
  await deleteRow(deps, actor, workspace, row, (tx) => [
    mustChange(
      tx
        .update(workspaces)
        // The slug is free again: no slug has a tilde.
        .set({ deleted_at: deletedAt, slug: `${row.slug}~${row.id}` })
        .where(
          and(
            eq(workspaces.id, row.id),
            isNull(workspaces.deleted_at),
            noActiveKeys(tx, ofWorkspace, deps.now()),
            isDefault ? undefined : notExists(selectRows(tx, organizations, isOfDefault)),
          ),
        ),
      changedMeanwhile,
    ),
    ...(successor === undefined ? [] : handOver(tx, row, successor)),
    ...deleteContents(tx, row.id, deletedAt),
  ])
  // Bytes that remain, after a crash or of an upload that committed meanwhile, are removed at the next start.
  await Promise.all(uploaded.map((file) => deps.files.remove(file.id, row.id)))
}

const changedMeanwhile = () =>
  conflict('Another request changed this workspace or its keys at the same time: try again')

/** Makes `successor` the default workspace, which gets the management keys. */
const handOver = (tx: Db, row: WorkspaceRow, successor: string): Write[] => [
  requireThat(tx, workspaceExists(tx, successor), changedMeanwhile),
  tx
    .update(organizations)
    .set({ default_workspace_id: successor })
    .where(eq(organizations.id, row.organization_id)),
  tx
    .update(apiKeys)
    .set({ workspace_id: successor })
    .where(and(eq(apiKeys.workspace_id, row.id), eq(apiKeys.kind, 'management'))),
]

/** Deletes what belongs to the workspace, secrets included. Its keys can never be used again and are hidden. */
const deleteContents = (tx: Db, id: string, deletedAt: Date): Write[] => [
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
