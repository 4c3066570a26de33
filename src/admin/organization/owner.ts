import { eq } from 'drizzle-orm'
import { atomically, type Database } from '../../db/database.ts'
import { users } from '../../db/tables.ts'
import { createPasswords } from '../auth/passwords.ts'
import { passwordOf, setPassword, userOfEmail } from '../auth/people.ts'
import { sameEmail } from '../auth/schema.ts'
import { endSessions } from '../auth/sessions.ts'
import { ownerOf } from '../auth/setup.ts'

export interface OwnerSettings {
  adminEmail: string | null
  adminPassword: string | null
}

/**
 * Ensures, at every start, that the owner signs in as the settings say. A password that differs from the stored one
 * replaces it and ends the owner's sessions. Throws a sentence when another member has the address.
 */
export async function ensureOwner(
  database: Database,
  { adminEmail, adminPassword }: OwnerSettings,
  now: number,
): Promise<void> {
  if (adminEmail === null) return
  const email = sameEmail(adminEmail)
  const owner = ownerOf(database)
  const holder = userOfEmail(database, email)
  if (holder !== undefined && holder.id !== owner.id)
    throw new Error(
      'SLUICE_ADMIN_EMAIL is the address of another member than the owner: choose another, or unset it',
    )
  const hash = adminPassword === null ? null : await changedHash(database, owner.id, adminPassword)
  const at = new Date(now)
  await atomically(database, (tx) => [
    ...(owner.email === email
      ? []
      : [tx.update(users).set({ email, updated_at: at }).where(eq(users.id, owner.id))]),
    ...(hash === null ? [] : [setPassword(tx, owner.id, hash, at), endSessions(tx, owner.id)]),
  ])
}

/** The hash to store; null when the stored one is of this password. */
async function changedHash(database: Database, userId: string, password: string): Promise<string | null> {
  const passwords = createPasswords()
  const stored = passwordOf(database, userId)
  if (stored !== null && (await passwords.matches(password, stored))) return null
  return await passwords.hash(password)
}
