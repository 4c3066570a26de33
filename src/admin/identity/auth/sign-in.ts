import { eq, isNull } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import type { Session } from '../../../core/caller.ts'
import { badRequest, unauthorized } from '../../../core/errors.ts'
import { selectRows } from '../../../db/columns.ts'
import { type Database, requireThat } from '../../../db/database.ts'
import { viewOf } from '../../../db/fields.ts'
import { member, organizations, sessions, type UserRow, workspaces } from '../../../db/tables.ts'
import type { Incoming } from '../../../http/incoming.ts'
import { refuseForeignPage } from '../../../http/session.ts'
import type { Visitor, VisitorDeps } from '../../../http/visitor.ts'
import { change } from '../../change.ts'
import { type Attempt, tooMany } from './attempts.ts'
import type { AuthDeps } from './deps.ts'
import {
  endLinks,
  hasPassword,
  passwordOf,
  setPassword,
  userOf,
  userOfEmail,
  workspaceIdsOf,
} from './people.ts'
import { type PasswordBody, type SignedIn, type SignInBody, sameEmail } from './schema.ts'
import { closedCookie, endSessions, type Opened, openSession } from './sessions.ts'

/** The reply to every failure: it does not reveal whether the account exists. */
const WRONG = 'The e-mail address or the password is wrong'

/** A person as the one who changes something. */
export const actorOfUser = (
  user: Pick<UserRow, 'id' | 'name'>,
  { requestId, address, userAgent }: Visitor,
): Actor => ({ type: 'user', id: user.id, label: user.name, userId: user.id, requestId, address, userAgent })

/**
 * Opens a session for the right password. Throws a `GatewayError`: 401, in the same words and after the same work
 * whether or not there is such an account; 429 with Retry-After after too many failures.
 */
export async function signIn(
  deps: AuthDeps,
  visitor: Visitor,
  body: SignInBody,
): Promise<Opened & { userId: string }> {
  const account = await accountOf(deps.database, sameEmail(body.email))
  const attempt = await begin(deps, visitor, sameEmail(body.email), account?.user)
  if (!(await deps.auth.passwords.matches(body.password, account?.hash ?? null)) || account === undefined) {
    deps.log.warn(
      { request_id: visitor.requestId, trace_id: visitor.traceId, address: visitor.address },
      'a sign-in failed',
    )
    throw unauthorized(WRONG)
  }
  attempt.succeed()
  const { user, hash } = account
  const opened = openSession(deps, visitor, user.id)
  const entered = {
    action: 'session.begin',
    resourceId: opened.id,
    workspaceId: null,
    after: { user_id: user.id, method: 'password', failed_before: attempt.failures },
  } as const
  await change(deps, actorOfUser(user, visitor), entered, (tx) => [
    // Since the look-up the password may have been changed, or the person removed.
    requireThat(tx, hasPassword(tx, user.id, hash), () => unauthorized(WRONG)),
    ...opened.writes(tx),
  ])
  return { ...opened, userId: user.id }
}

/**
 * Counts the attempt. The first rejected one goes to the audit log, whether or not the account exists, so that timing
 * reveals nothing. The typed address is not stored: it may be a password.
 */
async function begin(
  deps: AuthDeps,
  visitor: Visitor,
  email: string,
  user: UserRow | undefined,
): Promise<Attempt> {
  const attempt = deps.auth.attempts.begin(email, visitor.address)
  if ('succeed' in attempt) return attempt
  const { retryAfterSeconds, failures, isFirst } = attempt
  deps.log.warn(
    { request_id: visitor.requestId, trace_id: visitor.traceId, address: visitor.address, failures },
    'sign-ins are refused for a while: too many failed',
  )
  if (isFirst) {
    const refused = {
      action: 'session.refuse',
      resourceId: user?.id ?? 'unknown',
      workspaceId: null,
      after: { failures, for_seconds: retryAfterSeconds },
    } as const
    const { requestId, address, userAgent } = visitor
    const system = {
      type: 'system',
      id: 'sign-in',
      label: 'Failed sign-ins',
      userId: user?.id ?? '',
    } as const
    await change(deps, { ...system, requestId, address, userAgent }, refused, () => [])
  }
  throw tooMany(retryAfterSeconds)
}

/** The person of a session as the one who changes something. */
export const actorOfSession = ({ userId, name }: Session, visitor: Visitor): Actor =>
  actorOfUser({ id: userId, name }, visitor)

/** Ends the session of this request, if there is one. Answers the header that takes the cookie away. */
export async function signOut(
  deps: AuthDeps & Pick<VisitorDeps, 'sessions'>,
  visitor: Visitor,
  incoming: Incoming,
): Promise<string> {
  const session = await deps.sessions.of(incoming)
  if (session !== null) {
    refuseForeignPage(deps.sessions, incoming.request)
    const ended = { action: 'session.end', resourceId: session.id, workspaceId: null } as const
    await change(deps, actorOfSession(session, visitor), ended, (tx) => [
      tx.delete(sessions).where(eq(sessions.token_hash, session.id)),
    ])
  }
  return closedCookie(deps.auth.site, visitor)
}

/** Changes a person's own password. Every session ends, and a new one begins here. */
export async function changePassword(
  deps: AuthDeps,
  visitor: Visitor,
  session: Session,
  body: PasswordBody,
): Promise<Opened> {
  const user = await userOf(deps.database, session.userId)
  const hash = user === undefined ? null : await passwordOf(deps.database, user.id)
  if (user === undefined || hash === null)
    throw badRequest('You sign in at the identity provider: change the password there', 'current_password')
  const attempt = await begin(deps, visitor, user.email ?? user.id, user)
  if (!(await deps.auth.passwords.matches(body.current_password, hash)))
    throw badRequest('is not your password', 'current_password')
  attempt.succeed()
  const next = await deps.auth.passwords.hash(body.new_password)
  const opened = openSession(deps, visitor, user.id)
  const changed = { action: 'member.change_password', resourceId: user.id, workspaceId: null } as const
  await change(deps, actorOfUser(user, visitor), changed, (tx) => [
    requireThat(tx, hasPassword(tx, user.id, hash), () =>
      badRequest('was changed meanwhile', 'current_password'),
    ),
    setPassword(tx, user.id, next, new Date(deps.now())),
    endSessions(tx, user.id),
    ...(user.email === null ? [] : [endLinks(tx, user.email)]),
    ...opened.writes(tx),
  ])
  return opened
}

/** A person and the workspaces that they can see. Throws 401 if they were removed. */
export async function signedInView({ database, snapshot }: AuthDeps, userId: string): Promise<SignedIn> {
  const user = await userOf(database, userId)
  if (user === undefined) throw unauthorized()
  const rows = await selectRows(database.db, workspaces, isNull(workspaces.deleted_at))
  const seen = new Set(await workspaceIdsOf(database, userId))
  const [organization] = await selectRows(database.db, organizations, undefined)
  return {
    user: {
      ...viewOf(member, user),
      name: user.name,
      has_password: (await passwordOf(database, user.id)) !== null,
    },
    organization: { id: snapshot.current().organizationId, name: organization?.name ?? '' },
    workspaces: rows
      .filter(({ id }) => user.role === 'admin' || seen.has(id))
      .map(({ id, slug, name }) => ({ id, slug, name })),
  }
}

interface Account {
  user: UserRow
  /** Null: signs in with single sign-on only. */
  hash: string | null
}

async function accountOf(database: Database, email: string): Promise<Account | undefined> {
  const user = await userOfEmail(database, email)
  // An unknown account costs a second look-up as well.
  const hash = await passwordOf(database, user?.id ?? '')
  return user === undefined ? undefined : { user, hash }
}
