import { eq } from 'drizzle-orm'
import { atomically, type Database } from '../../../db/database.ts'
import { users } from '../../../db/tables.ts'
import { createPasswords } from '../auth/passwords.ts'
import { endLinks, passwordOf, setPassword, userOfEmail } from '../auth/people.ts'
import { sameEmail } from '../auth/schema.ts'
import { endSessions } from '../auth/sessions.ts'
import { ownerOf } from '../auth/setup.ts'

export interface OwnerSettings {
  adminEmail: string | null
  adminPassword: string | null
}

/**
 * Ensures, at every start, that an administrator can sign in with the settings: the member with the address, else the
 * owner, who gets it. A password that differs from the stored one replaces it and ends the person's sessions.
 */
export async function ensureOwner(
  database: Database,
  { adminEmail, adminPassword }: OwnerSettings,
  now: number,
): Promise<void> {
  if (adminEmail === null) return
  const email = sameEmail(adminEmail)
  const { id, ...person } = (await userOfEmail(database, email)) ?? (await ownerOf(database))
  const hash = adminPassword === null ? null : await changedHash(database, id, adminPassword)
  const isRight = person.email === email && person.role === 'admin'
  const at = new Date(now)
  await atomically(database, (tx) => [
    ...(isRight
      ? []
      : [tx.update(users).set({ email, role: 'admin', updated_at: at }).where(eq(users.id, id))]),
    ...(hash === null ? [] : [setPassword(tx, id, hash, at), endSessions(tx, id), endLinks(tx, email)]),
  ])
}

/** The hash to store; null if the stored one is already of this password. */
async function changedHash(database: Database, userId: string, password: string): Promise<string | null> {
  const passwords = createPasswords()
  const stored = await passwordOf(database, userId)
  if (stored !== null && (await passwords.matches(password, stored))) return null
  return await passwords.hash(password)
}
