import { and, eq, isNull } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import { conflict, notFound } from '../../core/errors.ts'
import type { Database } from '../../db/database.ts'
import { meta, users } from '../../db/tables.ts'
import { isJsonObject } from '../../http/json.ts'
import type { Visitor } from '../../http/visitor.ts'
import { change } from '../change.ts'
import type { SetupLink } from '../organization/schema.ts'
import type { AuthDeps } from './deps.ts'
import { endLinks, nameOf, passwordOf, setPassword, type UserRow, userOfEmail } from './people.ts'
import { type SetupBody, sameEmail } from './schema.ts'
import { endSessions, type Opened, openSession } from './sessions.ts'
import { actorOfUser } from './sign-in.ts'
import { hashToken, newToken } from './tokens.ts'

const LIFETIME_MS = 30 * 60_000
const NAME = 'setup_link'

/** Who owns the organisation: the administrator who has been there longest. */
export function ownerOf({ sync }: Database): UserRow {
  const owner = sync
    .select()
    .from(users)
    .where(and(isNull(users.deleted_at), eq(users.role, 'admin')))
    .orderBy(users.created_at, users.id)
    .get()
  if (owner === undefined) throw new Error('the organisation has no administrator')
  return owner
}

export const needsSetup = (database: Database): boolean => passwordOf(database, ownerOf(database).id) === null

/**
 * A link that sets the owner's e-mail address and password, once, within 30 minutes; an earlier one ends. Throws a
 * `GatewayError` 409 when the owner has a password already.
 */
export async function makeSetupLink(deps: AuthDeps, actor: Actor): Promise<SetupLink> {
  if (!needsSetup(deps.database)) throw conflict('The owner has a password already: the set-up is done')
  const token = newToken()
  const expiresAt = deps.now() + LIFETIME_MS
  const value = JSON.stringify({ hash: hashToken(token), expires_at: expiresAt })
  const made = {
    action: 'organization.make_setup_link',
    resourceId: deps.snapshot.current().organizationId,
    workspaceId: null,
  } as const
  await change(deps, actor, made, (tx) => [
    tx.insert(meta).values({ name: NAME, value }).onConflictDoUpdate({ target: meta.name, set: { value } }),
  ])
  return {
    url: `${deps.auth.site.address}/ui/setup#t=${token}`,
    token,
    expires_at: new Date(expiresAt).toISOString(),
  }
}

/** Takes the token and sets up the owner, who is signed in then. Throws 404 for a token that opens nothing (any more). */
export async function setUp(
  deps: AuthDeps,
  visitor: Visitor,
  body: SetupBody,
): Promise<Opened & { userId: string }> {
  requireToken(deps, body.token)
  const hash = await deps.auth.passwords.hash(body.password)
  const owner = ownerOf(deps.database)
  const email = sameEmail(body.email)
  const now = new Date(deps.now())
  const firstName = body.first_name ?? owner.first_name
  const lastName = body.last_name ?? owner.last_name
  const name = nameOf(firstName, lastName) || owner.name
  const opened = openSession(deps, visitor, owner.id)
  const done = {
    action: 'organization.set_up',
    resourceId: deps.snapshot.current().organizationId,
    workspaceId: null,
    after: { owner: owner.id, email },
  } as const
  await change(deps, actorOfUser({ id: owner.id, name }, visitor), done, (tx) => {
    // Of two at once the first has taken it.
    requireToken(deps, body.token)
    refuseTaken(deps.database, owner.id, email)
    return [
      tx
        .update(users)
        .set({ email, name, first_name: firstName, last_name: lastName, updated_at: now })
        .where(eq(users.id, owner.id)),
      setPassword(tx, owner.id, hash, now),
      endSessions(tx, owner.id),
      endLinks(tx, email),
      tx.delete(meta).where(eq(meta.name, NAME)),
      ...opened.writes(tx),
    ]
  })
  return { ...opened, userId: owner.id }
}

function requireToken({ database, now }: AuthDeps, token: string): void {
  const row = database.sync.select().from(meta).where(eq(meta.name, NAME)).get()
  const stored: unknown = row === undefined ? null : JSON.parse(row.value)
  const holds =
    isJsonObject(stored) && stored['hash'] === hashToken(token) && Number(stored['expires_at']) > now()
  // The owner may have got a password since, by SLUICE_ADMIN_PASSWORD: then the link must not replace it.
  if (!holds || !needsSetup(database))
    throw notFound('This link is not valid, or not any more: it works once, within 30 minutes')
}

function refuseTaken(database: Database, ownerId: string, email: string): void {
  const taken = userOfEmail(database, email)
  if (taken !== undefined && taken.id !== ownerId) throw conflict('email: another member has this address')
}
