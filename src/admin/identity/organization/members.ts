import { and, asc, eq, exists, isNull, ne, or, sql } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import { badRequest, conflict, notFound } from '../../../core/errors.ts'
import { alias, selectRows } from '../../../db/columns.ts'
import { type Database, type Db, mustChange } from '../../../db/database.ts'
import {
  apiKeys,
  guardrailMembers,
  identities,
  type Role,
  roleView,
  storedRole,
  type UserRow,
  users,
  workspaceMembers,
} from '../../../db/tables.ts'
import type { ListQuery } from '../../../http/schemas.ts'
import { type ChangeDeps, change } from '../../change.ts'
import { listing, listPage } from '../../list.ts'
import { endLinks, userOf } from '../auth/people.ts'
import { endSessions } from '../auth/sessions.ts'
import { ownerOf } from '../auth/setup.ts'
import { activeKeys, namesOf, noActiveKeys } from '../keys/active.ts'
import { memberView, type OrganizationMember } from './schema.ts'

/** Default order: of joining. */
export const memberList = listing({
  rows: (db, where) => selectRows(db, users, where),
  sorts: [users.created_at, users.name],
  order: 'created_at',
  key: users.id,
  searched: [users.name, users.email],
  filters: {},
})

export const listMembers = ({ database }: ChangeDeps, query: ListQuery) =>
  listPage(database, memberList, query, isNull(users.deleted_at), memberView)

/** Holds for the next request, of sessions that are open too. Throws 400 for the last administrator. */
export async function changeRole(
  deps: ChangeDeps,
  actor: Actor,
  id: string,
  wanted: Role,
): Promise<OrganizationMember> {
  const user = await requireMember(deps.database, id)
  const role = storedRole(wanted)
  if (role === user.role) return memberView(user)
  const changed = {
    action: 'member.change_role',
    resourceId: id,
    workspaceId: null,
    before: { role: roleView(user.role) },
    after: { role: wanted },
  } as const
  if (role === 'member') await refuseLastAdmin(deps.database, user)
  await change(deps, actor, changed, (tx) => [
    mustChange(
      tx
        .update(users)
        .set({ role, updated_at: new Date(deps.now()) })
        .where(and(isMember(id), notLastAdmin(tx, id))),
      changedMeanwhile,
    ),
  ])
  return memberView({ ...user, role })
}

/**
 * Takes a person out of the organisation: their sessions, ways to sign in, memberships and assignments end, and their
 * e-mail address is free again. What they made stays; management keys pass to the owner. Throws 400 while they have
 * active API keys, naming them, and for the last administrator.
 */
export async function removeMember(deps: ChangeDeps, actor: Actor, id: string): Promise<void> {
  const user = await requireMember(deps.database, id)
  const removed = {
    action: 'member.remove',
    resourceId: id,
    workspaceId: null,
    before: { ...memberView(user) },
  } as const
  await refuseKeyHolder(deps, id)
  await refuseLastAdmin(deps.database, user)
  const made = eq(apiKeys.creator_user_id, id)
  const heir = await heirOf(deps.database, id)
  const gone = { deleted_at: new Date(deps.now()), email: null }
  await change(deps, actor, removed, (tx) => [
    mustChange(
      tx
        .update(users)
        .set(gone)
        .where(and(isMember(id), notLastAdmin(tx, id), noActiveKeys(tx, made, deps.now()))),
      changedMeanwhile,
    ),
    tx.delete(identities).where(eq(identities.user_id, id)),
    endSessions(tx, id),
    // A link for a new password would let them in again, with the role that they had.
    ...(user.email === null ? [] : [endLinks(tx, user.email)]),
    tx.delete(workspaceMembers).where(eq(workspaceMembers.user_id, id)),
    tx.delete(guardrailMembers).where(eq(guardrailMembers.user_id, id)),
    tx
      .update(apiKeys)
      .set({ creator_user_id: heir })
      .where(and(eq(apiKeys.kind, 'management'), made)),
  ])
}

const isMember = (id: string) => and(eq(users.id, id), isNull(users.deleted_at))

/** The condition that another administrator exists, or that this member is not an administrator. */
export const notLastAdmin = (db: Db, id: string) =>
  or(
    eq(users.role, 'member'),
    exists(
      db
        .select({ one: sql`1` })
        .from(others)
        .where(and(isNull(others.deleted_at), eq(others.role, 'admin'), ne(others.id, id))),
    ),
  )
const others = alias(users, 'others')

const changedMeanwhile = () =>
  conflict('Another request changed the members or their keys at the same time: try again')

/** Ends every session of a member: signed out everywhere. */
export async function endMemberSessions(deps: ChangeDeps, actor: Actor, id: string): Promise<void> {
  await requireMember(deps.database, id)
  const ended = { action: 'member.end_sessions', resourceId: id, workspaceId: null } as const
  await change(deps, actor, ended, (tx) => [endSessions(tx, id)])
}

export async function requireMember(database: Database, id: string): Promise<UserRow> {
  const user = await userOf(database, id)
  if (user === undefined) throw notFound('There is no member with this id')
  return user
}

async function refuseKeyHolder(deps: ChangeDeps, userId: string): Promise<void> {
  const keys = await activeKeys(deps.database, eq(apiKeys.creator_user_id, userId), deps.now())
  if (keys.length === 0) return
  throw badRequest(
    `This member has active API keys (${namesOf(keys)}): disable or delete them first. The member was not removed`,
  )
}

/** Administrators except this one, the first first. */
export const otherAdmins = async ({ db }: Database, userId: string): Promise<UserRow[]> => {
  const isOther = and(isNull(users.deleted_at), eq(users.role, 'admin'), ne(users.id, userId))
  return await selectRows(db, users, isOther).orderBy(asc(users.created_at), asc(users.id))
}

async function refuseLastAdmin(database: Database, { id, role }: UserRow): Promise<void> {
  if (role !== 'admin' || (await otherAdmins(database, id)).length > 0) return
  throw badRequest('This is the last administrator: make another member org:admin first')
}

/** The owner, or the next administrator, gets the management keys of a removed person. */
const heirOf = async (database: Database, leaving: string): Promise<string> =>
  ((await otherAdmins(database, leaving))[0] ?? (await ownerOf(database))).id
