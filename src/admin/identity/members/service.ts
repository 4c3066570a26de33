import { and, eq, getTableColumns, inArray, isNull, type SQL } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import type { Caller } from '../../../core/caller.ts'
import { badRequest, conflict, notFound } from '../../../core/errors.ts'
import { newUuid } from '../../../core/ids.ts'
import { type Database, type Db, mustChange } from '../../../db/database.ts'
import { viewOf } from '../../../db/fields.ts'
import { apiKeys, membership, users, workspaceMembers } from '../../../db/tables.ts'
import type { ListQuery } from '../../../http/schemas.ts'
import { type ChangeDeps, change } from '../../change.ts'
import { listing, listPage } from '../../list.ts'
import { activeKeys, namesOf, noActiveKeys } from '../keys/active.ts'
import { findWorkspace } from '../workspaces/service.ts'
import type { Member } from './schema.ts'

const selectMembers = (db: Db, where: SQL | undefined) =>
  db
    .select({ ...getTableColumns(workspaceMembers), role: users.role })
    .from(workspaceMembers)
    .innerJoin(users, eq(users.id, workspaceMembers.user_id))
    .where(where)
    .$dynamic()

/** Default order: of joining. */
export const memberList = listing({
  rows: selectMembers,
  sorts: [workspaceMembers.created_at],
  order: 'created_at',
  key: workspaceMembers.id,
  searched: [users.name, users.email],
  filters: {},
})

export async function listMembers(deps: ChangeDeps, caller: Caller, id: string, query: ListQuery) {
  const workspace = await findWorkspace(deps, caller, id)
  const where = eq(workspaceMembers.workspace_id, workspace.id)
  return await listPage(deps.database, memberList, query, where, memberView)
}

type MemberRow = typeof workspaceMembers.$inferSelect & Pick<Member, 'role'>
const memberView = (row: MemberRow): Member => ({ ...viewOf(membership, row), role: row.role })

/** Present members stay. All are added or none: 404 if one is unknown. */
export async function addMembers(
  deps: ChangeDeps,
  caller: Caller,
  actor: Actor,
  id: string,
  userIds: readonly string[],
): Promise<{ added_count: number; data: Member[] }> {
  const { workspace, wanted, present } = await namedMembers(deps, caller, id, userIds)
  const absent = wanted.filter((userId) => !present.includes(userId))
  const createdAt = new Date(deps.now())
  if (absent.length > 0) {
    const added = {
      action: 'workspace.add_members',
      resourceId: workspace.id,
      workspaceId: workspace.id,
      after: { user_ids: absent },
    } as const
    await change(deps, actor, added, (tx) => [
      tx
        .insert(workspaceMembers)
        .values(
          absent.map((userId) => ({
            id: newUuid(),
            workspace_id: workspace.id,
            user_id: userId,
            created_at: createdAt,
          })),
        )
        .onConflictDoNothing(),
    ])
  }
  const data = await membersOf(deps.database, workspace.id, wanted)
  return { added_count: data.length, data }
}

/** Skips people who are not members. Rejected, for all of them, while one has active keys in the workspace. */
export async function removeMembers(
  deps: ChangeDeps,
  caller: Caller,
  actor: Actor,
  id: string,
  userIds: readonly string[],
): Promise<{ removed_count: number }> {
  const { workspace, present } = await namedMembers(deps, caller, id, userIds)
  if (present.length === 0) return { removed_count: 0 }
  const removed = {
    action: 'workspace.remove_members',
    resourceId: workspace.id,
    workspaceId: workspace.id,
    before: { user_ids: present },
  } as const
  const held = and(eq(apiKeys.workspace_id, workspace.id), inArray(apiKeys.creator_user_id, present))
  const keys = await activeKeys(deps.database, held, deps.now())
  const holder = keys[0]?.creator_user_id
  if (holder !== undefined) {
    throw badRequest(
      `user_ids: ${holder} has active API keys in this workspace (${namesOf(keys)}): disable or delete them first. No member was removed`,
    )
  }
  await change(deps, actor, removed, (tx) => [
    mustChange(
      tx
        .delete(workspaceMembers)
        .where(
          and(
            eq(workspaceMembers.workspace_id, workspace.id),
            inArray(workspaceMembers.user_id, present),
            noActiveKeys(tx, held, deps.now()),
          ),
        ),
      () => conflict('Another request changed these members or their keys at the same time: try again'),
    ),
  ])
  return { removed_count: present.length }
}

/** The people that a request names, each once, and those of them who are members. 404 if one is unknown. */
async function namedMembers(deps: ChangeDeps, caller: Caller, id: string, userIds: readonly string[]) {
  const workspace = await findWorkspace(deps, caller, id)
  const wanted = [...new Set(userIds)]
  await requireUsers(deps.database, wanted)
  const present = (await membersOf(deps.database, workspace.id, wanted)).map((row) => row.user_id)
  return { workspace, wanted, present }
}

const membersOf = async ({ db }: Database, workspaceId: string, userIds: string[]): Promise<Member[]> =>
  (
    await selectMembers(
      db,
      and(eq(workspaceMembers.workspace_id, workspaceId), inArray(workspaceMembers.user_id, userIds)),
    ).orderBy(workspaceMembers.created_at, workspaceMembers.id)
  ).map(memberView)

async function requireUsers({ db }: Database, userIds: string[]): Promise<void> {
  const rows = await db
    .select({ id: users.id })
    .from(users)
    .where(and(inArray(users.id, userIds), isNull(users.deleted_at)))
  const known = new Set(rows.map((row) => row.id))
  const index = userIds.findIndex((userId) => !known.has(userId))
  if (index === -1) return
  throw notFound(`user_ids: ${JSON.stringify(userIds[index])} is not a member of the organisation`)
}
