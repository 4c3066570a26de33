/** People as they sign in: their e-mail addresses and passwords. */
import { and, asc, eq, exists, isNull, notExists, type SQL } from 'drizzle-orm'
import { newUserId, newUuid } from '../../../core/ids.ts'
import { selectRows } from '../../../db/columns.ts'
import type { Database, Db, Write } from '../../../db/database.ts'
import { identities, invitations, type UserRow, users, workspaceMembers } from '../../../db/tables.ts'

const present = async ({ db }: Database, condition: SQL): Promise<UserRow | undefined> =>
  (await selectRows(db, users, and(condition, isNull(users.deleted_at))))[0]

/** Undefined for a person who was removed. */
export const userOf = (database: Database, id: string) => present(database, eq(users.id, id))

/** `email` as `sameEmail` writes it. */
export const userOfEmail = (database: Database, email: string) => present(database, eq(users.email, email))

const ofPassword = (userId: string) => and(eq(identities.user_id, userId), eq(identities.kind, 'password'))

/** The hash of a person's password; null without one. */
export const passwordOf = async ({ db }: Database, userId: string): Promise<string | null> =>
  (await selectRows(db, identities, ofPassword(userId)))[0]?.password_hash ?? null

/** The condition that a person's password is still the one with this hash; null: that they have no password. */
export const hasPassword = (tx: Db, userId: string, hash: string | null): SQL => {
  const found = (condition?: SQL) =>
    tx
      .select({ id: identities.id })
      .from(identities)
      .where(and(ofPassword(userId), condition))
  return hash === null ? notExists(found()) : exists(found(eq(identities.password_hash, hash)))
}

/** In the order of joining. */
export const workspaceIdsOf = async ({ db }: Database, userId: string): Promise<string[]> => {
  const { created_at, id, user_id } = workspaceMembers
  const rows = await selectRows(db, workspaceMembers, eq(user_id, userId)).orderBy(asc(created_at), asc(id))
  return rows.map((row) => row.workspace_id)
}

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
  /** The name if neither of the two is known. */
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

/** Ends unused invitations and password links of this address: each new password ends the links before it. */
export const endLinks = (tx: Db, email: string): Write =>
  tx.delete(invitations).where(and(eq(invitations.email, email), isNull(invitations.accepted_at)))
