/** People as they sign in: who has which e-mail address, and whose password is which. */
import { and, eq, isNull } from 'drizzle-orm'
import { newUserId, newUuid } from '../../core/ids.ts'
import type { Database, Db, Write } from '../../db/database.ts'
import { identities, invitations, users, workspaceMembers } from '../../db/tables.ts'

export type UserRow = typeof users.$inferSelect

/** Who is not gone. */
export const userOf = ({ sync }: Database, id: string): UserRow | undefined =>
  sync
    .select()
    .from(users)
    .where(and(eq(users.id, id), isNull(users.deleted_at)))
    .get()

/** `email` as `sameEmail` writes it. */
export const userOfEmail = ({ sync }: Database, email: string): UserRow | undefined =>
  sync
    .select()
    .from(users)
    .where(and(eq(users.email, email), isNull(users.deleted_at)))
    .get()

/** The hash of a person's password; null without one. */
export const passwordOf = ({ sync }: Database, userId: string): string | null =>
  sync
    .select({ hash: identities.password_hash })
    .from(identities)
    .where(and(eq(identities.user_id, userId), eq(identities.kind, 'password')))
    .get()?.hash ?? null

/** In the order of joining. */
export const workspaceIdsOf = ({ sync }: Database, userId: string): string[] =>
  sync
    .select({ id: workspaceMembers.workspace_id })
    .from(workspaceMembers)
    .where(eq(workspaceMembers.user_id, userId))
    .orderBy(workspaceMembers.created_at, workspaceMembers.id)
    .all()
    .map(({ id }) => id)

/** Gives a person this password, whether or not they had one. */
export const setPassword = (tx: Db, userId: string, hash: string, now: Date): Write =>
  tx
    .insert(identities)
    .values({
      id: newUuid(),
      user_id: userId,
      kind: 'password',
      subject: userId,
      password_hash: hash,
      created_at: now,
    })
    .onConflictDoUpdate({
      target: [identities.kind, identities.issuer, identities.subject],
      set: { password_hash: hash, updated_at: now },
    })

export interface PersonFields {
  organizationId: string
  email: string
  role: 'admin' | 'member'
  firstName: string | null
  lastName: string | null
  /** What the person is called where neither name is known. */
  fullName?: string | null
  now: Date
}

export const newPerson = ({ email, firstName, lastName, now, ...fields }: PersonFields): UserRow => ({
  id: newUserId(),
  organization_id: fields.organizationId,
  name: nameOf(firstName, lastName) || fields.fullName || email,
  first_name: firstName,
  last_name: lastName,
  email,
  role: fields.role,
  created_at: now,
  updated_at: null,
  deleted_at: null,
})

export const nameOf = (firstName: string | null | undefined, lastName: string | null | undefined): string =>
  [firstName, lastName].filter(Boolean).join(' ')

/** Ends the invitations and password links of this address that nobody has used: each new password ends those before it. */
export const endLinks = (tx: Db, email: string): Write =>
  tx.delete(invitations).where(and(eq(invitations.email, email), isNull(invitations.accepted_at)))
