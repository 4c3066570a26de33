import { and, asc, eq, isNull } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import { conflict, notFound } from '../../../core/errors.ts'
import { selectRows } from '../../../db/columns.ts'
import { type Database, mustChange, requireThat, unlessTaken } from '../../../db/database.ts'
import { meta, type UserRow, users } from '../../../db/tables.ts'
import { isJsonObject } from '../../../http/json.ts'
import type { Visitor } from '../../../http/visitor.ts'
import { change } from '../../change.ts'
import type { SetupLink } from '../organization/schema.ts'
import type { AuthDeps } from './deps.ts'
import { endLinks, hasPassword, nameOf, passwordOf, setPassword } from './people.ts'
import { type SetupBody, sameEmail } from './schema.ts'
import { endSessions, type Opened, openSession } from './sessions.ts'
import { actorOfUser } from './sign-in.ts'
import { hashToken, newToken } from './tokens.ts'

const LIFETIME_MS = 30 * 60_000
const NAME = 'setup_link'

/** The owner of the organisation: its first administrator. */
export async function ownerOf({ db }: Database): Promise<UserRow> {
  const isAdmin = and(isNull(users.deleted_at), eq(users.role, 'admin'))
  const [owner] = await selectRows(db, users, isAdmin).orderBy(asc(users.created_at), asc(users.id)).limit(1)
  if (owner === undefined) throw new Error('the organisation has no administrator')
  return owner
}

export const needsSetup = async (database: Database): Promise<boolean> =>
  (await passwordOf(database, (await ownerOf(database)).id)) === null

/**
 * A link that sets the owner's e-mail address and password, once, within 30 minutes; an earlier one ends. Throws a
 * `GatewayError` 409 when the owner has a password already.
 */
export async function makeSetupLink(deps: AuthDeps, actor: Actor): Promise<SetupLink> {
  if (!(await needsSetup(deps.database)))
    throw conflict('The owner already has a password: the set-up is complete')
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

/** Sets up the owner and signs them in. Throws 404 for an unknown, expired or used token. */
export async function setUp(
  deps: AuthDeps,
  visitor: Visitor,
  body: SetupBody,
): Promise<Opened & { userId: string }> {
  const link = await requireToken(deps, body.token)
  const hash = await deps.auth.passwords.hash(body.password)
  const owner = await ownerOf(deps.database)
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
  const setup = change(deps, actorOfUser({ id: owner.id, name }, visitor), done, (tx) => [
    // Of two requests at once, the first takes the link.
    mustChange(tx.delete(meta).where(and(eq(meta.name, NAME), eq(meta.value, link))), notValid),
    requireThat(tx, hasPassword(tx, owner.id, null), notValid),
    tx
      .update(users)
      .set({ email, name, first_name: firstName, last_name: lastName, updated_at: now })
      .where(eq(users.id, owner.id)),
    setPassword(tx, owner.id, hash, now),
    endSessions(tx, owner.id),
    endLinks(tx, email),
    ...opened.writes(tx),
  ])
  await unlessTaken(setup, 'email', () => conflict('email: another member has this address'))
  return { ...opened, userId: owner.id }
}

const notValid = () => notFound('This link is invalid or has expired: it works once, within 30 minutes')

/** The stored link with this token. Throws 404. */
async function requireToken({ database, now }: AuthDeps, token: string): Promise<string> {
  const [row] = await selectRows(database.db, meta, eq(meta.name, NAME))
  const stored: unknown = row === undefined ? null : JSON.parse(row.value)
  const holds =
    isJsonObject(stored) && stored['hash'] === hashToken(token) && Number(stored['expires_at']) > now()
  // SLUICE_ADMIN_PASSWORD may have set the owner's password since: the link must not replace it.
  if (row === undefined || !holds || !(await needsSetup(database))) throw notValid()
  return row.value
}
