import { and, count, eq, inArray, isNull, ne, type SQL } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import { notFound } from '../../core/errors.ts'
import { newUuid } from '../../core/ids.ts'
import { guardrailMembers, guardrails, users } from '../../db/tables.ts'
import { pageOf } from '../../http/schemas.ts'
import { type Change, type ChangeDeps, change } from '../change.ts'
import { findGuardrail } from '../guardrails/service.ts'
import type { ListAssignmentsQuery, MemberAssignment } from './schema.ts'

/** Of one guardrail, or of all (`null`); in the order of assigning. */
export async function listMemberAssignments(
  { database, snapshot }: ChangeDeps,
  guardrailId: string | null,
  query: ListAssignmentsQuery,
): Promise<{ data: MemberAssignment[]; total_count: number }> {
  let listed: SQL | undefined
  if (guardrailId !== null) {
    listed = eq(guardrailMembers.guardrail_id, (await findGuardrail(database, guardrailId)).id)
  }
  const { limit, offset } = pageOf(query)
  const rows = await database.db
    .select()
    .from(guardrailMembers)
    .where(listed)
    .orderBy(guardrailMembers.id)
    .limit(limit)
    .offset(offset)
  const [total] = await database.db.select({ assignments: count() }).from(guardrailMembers).where(listed)
  const { organizationId } = snapshot.current()
  return {
    data: rows.map((row) => ({
      ...row,
      organization_id: organizationId,
      created_at: row.created_at.toISOString(),
    })),
    total_count: total?.assignments ?? 0,
  }
}

/** A member who has another guardrail leaves it. All of them or none: 404 when one is unknown. */
export async function assignMembers(
  deps: ChangeDeps,
  actor: Actor,
  guardrailId: string,
  userIds: readonly string[],
): Promise<{ assigned_count: number }> {
  const guardrail = await findGuardrail(deps.database, guardrailId)
  const wanted = [...new Set(userIds)]
  await requireMembers(deps, wanted)
  const assigned = {
    action: 'guardrail.assign_members',
    resourceId: guardrail.id,
    workspaceId: guardrail.workspace_id,
    after: { user_ids: wanted },
  } as const
  await change(deps, actor, [...leaving(deps, guardrail.id, wanted), assigned], (tx) => [
    tx.delete(guardrailMembers).where(inArray(guardrailMembers.user_id, wanted)),
    tx.insert(guardrailMembers).values(
      wanted.map((userId) => ({
        id: newUuid(),
        guardrail_id: guardrail.id,
        user_id: userId,
        assigned_by: actor.userId,
        created_at: new Date(deps.now()),
      })),
    ),
  ])
  return { assigned_count: wanted.length }
}

/** What the audit log tells of the guardrails that these members leave for another one, of whichever workspace. */
function leaving({ database: { sync } }: ChangeDeps, guardrailId: string, userIds: string[]): Change[] {
  const rows = sync
    .select({ guardrail: guardrails, userId: guardrailMembers.user_id })
    .from(guardrailMembers)
    .innerJoin(guardrails, eq(guardrails.id, guardrailMembers.guardrail_id))
    .where(and(inArray(guardrailMembers.user_id, userIds), ne(guardrailMembers.guardrail_id, guardrailId)))
    .orderBy(guardrailMembers.id)
    .all()
  return [...Map.groupBy(rows, ({ guardrail }) => guardrail.id)].map(([id, left]) => ({
    action: 'guardrail.unassign_members',
    resourceId: id,
    workspaceId: left[0]?.guardrail.workspace_id ?? null,
    before: { user_ids: left.map(({ userId }) => userId) },
  }))
}

/** Members who are not assigned to it are passed over. */
export async function unassignMembers(
  deps: ChangeDeps,
  actor: Actor,
  guardrailId: string,
  userIds: readonly string[],
): Promise<{ unassigned_count: number }> {
  const guardrail = await findGuardrail(deps.database, guardrailId)
  const rows = await deps.database.db
    .select({ userId: guardrailMembers.user_id })
    .from(guardrailMembers)
    .where(
      and(
        eq(guardrailMembers.guardrail_id, guardrail.id),
        inArray(guardrailMembers.user_id, [...new Set(userIds)]),
      ),
    )
  const present = rows.map(({ userId }) => userId)
  if (present.length === 0) return { unassigned_count: 0 }
  const removed = {
    action: 'guardrail.unassign_members',
    resourceId: guardrail.id,
    workspaceId: guardrail.workspace_id,
    before: { user_ids: present },
  } as const
  await change(deps, actor, removed, (tx) => [
    tx.delete(guardrailMembers).where(inArray(guardrailMembers.user_id, present)),
  ])
  return { unassigned_count: present.length }
}

async function requireMembers({ database }: ChangeDeps, userIds: string[]): Promise<void> {
  const rows = await database.db
    .select({ id: users.id })
    .from(users)
    .where(and(inArray(users.id, userIds), isNull(users.deleted_at)))
  const known = new Set(rows.map(({ id }) => id))
  const missing = userIds.find((userId) => !known.has(userId))
  if (missing === undefined) return
  throw notFound(`member_user_ids: ${JSON.stringify(missing)} is no member of the organisation`)
}
