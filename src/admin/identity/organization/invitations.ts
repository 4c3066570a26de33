import type { Static } from '@sinclair/typebox'
import { and, eq, isNull, notExists } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import { conflict, notFound } from '../../../core/errors.ts'
import { newUuid } from '../../../core/ids.ts'
import { selectRows } from '../../../db/columns.ts'
import { type Db, mustChange, requireThat, unlessTaken, type Write } from '../../../db/database.ts'
import { auditOf, newRow, viewOf } from '../../../db/fields.ts'
import {
  type InvitationRow,
  invitation,
  invitations,
  roleView,
  type UserRow,
  users,
} from '../../../db/tables.ts'
import type { ListQuery } from '../../../http/schemas.ts'
import type { Visitor } from '../../../http/visitor.ts'
import { change } from '../../change.ts'
import { listing, listPage } from '../../list.ts'
import { findRow } from '../../resource.ts'
import type { AuthDeps } from '../auth/deps.ts'
import { endLinks, nameOf, newPerson, setPassword, userOfEmail } from '../auth/people.ts'
import { type AcceptBody, sameEmail } from '../auth/schema.ts'
import { endSessions, type Opened, openSession } from '../auth/sessions.ts'
import { actorOfUser } from '../auth/sign-in.ts'
import { hashToken, newToken } from '../auth/tokens.ts'
import { requireMember } from './members.ts'
import type { Invitation } from './schema.ts'

const LIFETIME_MS = 7 * 24 * 3_600_000

export interface Invited {
  data: Invitation
  token: string
  url: string
}

/** Ends an earlier invitation of the same address. Throws 409 if a member has the address. */
export async function invite(
  deps: AuthDeps,
  actor: Actor,
  body: Static<typeof invitation.create>,
): Promise<Invited> {
  const email = sameEmail(body.email)
  return await makeLink(deps, actor, { ...body, email }, 'invitation.create', (tx) => [
    requireThat(tx, notExists(tx.select({ id: users.id }).from(users).where(eq(users.email, email))), () =>
      conflict('email: a member has this address already'),
    ),
  ])
}

/** A link with which a member sets a new password once, for a forgotten or missing one. */
export async function makePasswordLink(deps: AuthDeps, actor: Actor, userId: string): Promise<Invited> {
  const user = await requireMember(deps.database, userId)
  if (user.email === null)
    throw conflict('This member has no e-mail address: the owner sets one by the set-up link')
  const { email, role } = user
  return await makeLink(
    deps,
    actor,
    { email, role: roleView(role) },
    'invitation.create_for_password',
    () => [],
  )
}

async function makeLink(
  deps: AuthDeps,
  actor: Actor,
  body: Static<typeof invitation.create>,
  action: `invitation.${string}`,
  checks: (tx: Db) => Write[],
): Promise<Invited> {
  const token = newToken()
  const now = deps.now()
  const row = newRow(invitation, body, {
    id: newUuid(),
    organization_id: deps.snapshot.current().organizationId,
    token_hash: hashToken(token),
    created_by: actor.userId,
    created_at: new Date(now),
    expires_at: new Date(now + LIFETIME_MS),
  })
  const made = { action, resourceId: row.id, workspaceId: null, after: auditOf(invitation, row) }
  await change(deps, actor, made, (tx) => [
    ...checks(tx),
    endLinks(tx, row.email),
    tx.insert(invitations).values(row),
  ])
  return { data: view(row, now), token, url: `${deps.auth.site.address}/ui/invite#t=${token}` }
}

/** Default order: newest first. */
export const invitationList = listing({
  rows: (db, where) => selectRows(db, invitations, where),
  sorts: [invitations.created_at, invitations.expires_at, invitations.email],
  order: '-created_at',
  key: invitations.id,
  searched: [invitations.email],
  filters: {},
})

/** Invitations that were not accepted. */
export const listInvitations = ({ database, now }: AuthDeps, query: ListQuery) =>
  listPage(database, invitationList, query, isNull(invitations.accepted_at), (row) => view(row, now()))

/** Its link is no longer valid. */
export async function revokeInvitation(deps: AuthDeps, actor: Actor, id: string): Promise<void> {
  const row = await findRow(deps, invitation, id.toLowerCase(), isNull(invitations.accepted_at))
  const revoked = {
    action: 'invitation.revoke',
    resourceId: row.id,
    workspaceId: null,
    before: auditOf(invitation, row),
  } as const
  await change(deps, actor, revoked, (tx) => [tx.delete(invitations).where(eq(invitations.id, row.id))])
}

/** Creates the member, or sets a member's new password, and signs them in. 404 for an invalid token. */
export async function acceptInvitation(
  deps: AuthDeps,
  visitor: Visitor,
  body: AcceptBody,
): Promise<Opened & { userId: string }> {
  const row = await requireInvitation(deps, body.token)
  const hash = await deps.auth.passwords.hash(body.password)
  const now = new Date(deps.now())
  const member = await userOfEmail(deps.database, row.email)
  const user = member === undefined ? personOf(row, body, now) : renamed(member, body)
  const opened = openSession(deps, visitor, user.id)
  const accepted = {
    action: member === undefined ? 'member.join' : 'member.set_password',
    resourceId: user.id,
    workspaceId: null,
    after: { email: row.email, role: roleView(user.role), invitation: row.id },
  } as const
  const acceptance = change(deps, actorOfUser(user, visitor), accepted, (tx) => [
    // Of two requests at once, the first takes the link.
    mustChange(
      tx
        .update(invitations)
        .set({ accepted_at: now })
        .where(and(eq(invitations.id, row.id), isNull(invitations.accepted_at))),
      notValid,
    ),
    member === undefined
      ? tx.insert(users).values(user)
      : mustChange(
          tx
            .update(users)
            .set({ name: user.name, first_name: user.first_name, last_name: user.last_name, updated_at: now })
            .where(and(eq(users.id, user.id), isNull(users.deleted_at))),
          notValid,
        ),
    setPassword(tx, user.id, hash, now),
    endSessions(tx, user.id),
    ...opened.writes(tx),
  ])
  await unlessTaken(acceptance, 'email', notValid)
  return { ...opened, userId: user.id }
}

const personOf = (row: InvitationRow, body: AcceptBody, now: Date): UserRow =>
  newPerson({
    organizationId: row.organization_id,
    email: row.email,
    role: row.role,
    firstName: body.first_name ?? null,
    lastName: body.last_name ?? null,
    now,
  })

function renamed(member: UserRow, body: AcceptBody): UserRow {
  const first_name = body.first_name ?? member.first_name
  const last_name = body.last_name ?? member.last_name
  return { ...member, first_name, last_name, name: nameOf(first_name, last_name) || member.name }
}

async function requireInvitation({ database, now }: AuthDeps, token: string): Promise<InvitationRow> {
  const isOpen = and(eq(invitations.token_hash, hashToken(token)), isNull(invitations.accepted_at))
  const [row] = await selectRows(database.db, invitations, isOpen)
  if (row === undefined || row.expires_at.getTime() <= now()) throw notValid()
  return row
}

const notValid = () =>
  notFound('This link is invalid or has expired: it works once, within 7 days. Ask for a new one')

const view = (row: InvitationRow, now: number): Invitation => ({
  ...viewOf(invitation, row),
  status: row.expires_at.getTime() > now ? 'open' : 'expired',
})
