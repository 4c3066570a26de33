import { and, desc, eq, gt, isNull, lte, ne, type SQL } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import type { Session } from '../../../core/caller.ts'
import { notFound, storageFailure } from '../../../core/errors.ts'
import type { Database, Db, Write } from '../../../db/database.ts'
import { viewOf } from '../../../db/fields.ts'
import { session, sessions, users } from '../../../db/tables.ts'
import { cookieOf, setCookie } from '../../../http/cookies.ts'
import type { SessionSource } from '../../../http/session.ts'
import { cookiePath, isSecure, pageOfOrigin, type Site } from '../../../http/site.ts'
import type { Visitor } from '../../../http/visitor.ts'
import { type ChangeDeps, change } from '../../change.ts'
import { workspaceIdsOf } from './people.ts'
import type { SessionView } from './schema.ts'
import { hashToken, newToken } from './tokens.ts'

const DAY_MS = 24 * 3_600_000
const LIFETIME_MS = 30 * DAY_MS
/** How often a session in use is written at most. */
const TOUCH_MS = 5 * 60_000
/** The longest that browsers allow: the server ends sessions earlier. */
const COOKIE_SECONDS = 400 * 24 * 3600

/** `__Host-` where browsers allow it (https, at the root): no other host of the domain can set such a cookie. */
const cookieName = (secure: boolean, site: Site): string =>
  secure && cookiePath(site) === '/' ? '__Host-sluice_session' : 'sluice_session'

/** Sessions by the cookies of requests: each use extends one to 30 days from then. */
export function createSessions(database: Database, site: Site, now: () => number): SessionSource {
  const look = async (request: Request): Promise<Session | null> => {
    const token = cookieOf(request, cookieName(isSecure(request, site), site))
    return token ? await findSession(database, hashToken(token), now()) : null
  }
  return {
    async of(incoming) {
      if (incoming.session === undefined) incoming.session = await look(incoming.request)
      return incoming.session
    },
    isOwnPage: (request) => pageOfOrigin(request, site) === 'own',
  }
}

async function findSession(database: Database, id: string, now: number): Promise<Session | null> {
  const [row] = await database.db
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.user_id))
    .where(and(eq(sessions.token_hash, id), gt(sessions.expires_at, new Date(now)), isNull(users.deleted_at)))
  if (row === undefined) return null
  if (now - row.session.last_seen_at.getTime() >= TOUCH_MS) await touch(database, id, now)
  return {
    id,
    userId: row.user.id,
    name: row.user.name,
    role: row.user.role,
    workspaceIds: await workspaceIdsOf(database, row.user.id),
  }
}

/** Extends the session. On a full disk a later request extends it, so that people can go on reading. */
async function touch({ db }: Database, id: string, now: number): Promise<void> {
  const touched = { last_seen_at: new Date(now), expires_at: new Date(now + LIFETIME_MS) }
  try {
    await db.update(sessions).set(touched).where(eq(sessions.token_hash, id))
  } catch (error) {
    if (storageFailure(error) === null) throw error
  }
}

interface SessionDeps extends ChangeDeps {
  auth: { readonly site: Site }
}

export interface Opened {
  /** The `Set-Cookie` header that brings the browser its token. */
  cookie: string
  id: string
  /** Stores the session and deletes expired ones. */
  writes(tx: Db): Write[]
}

/** A new session of a person, written in the transaction of their sign-in. */
export function openSession(deps: SessionDeps, visitor: Visitor, userId: string): Opened {
  const token = newToken()
  const id = hashToken(token)
  const now = new Date(deps.now())
  return {
    id,
    cookie: sessionCookie(deps.auth.site, visitor, token, COOKIE_SECONDS),
    writes: (tx) => [
      tx.delete(sessions).where(lte(sessions.expires_at, now)),
      tx.insert(sessions).values({
        token_hash: id,
        user_id: userId,
        address: visitor.address,
        user_agent: visitor.userAgent,
        created_at: now,
        last_seen_at: now,
        expires_at: new Date(now.getTime() + LIFETIME_MS),
      }),
    ],
  }
}

/** Deletes the cookie. */
export const closedCookie = (site: Site, visitor: Visitor): string => sessionCookie(site, visitor, '', 0)

const sessionCookie = (site: Site, visitor: Visitor, value: string, maxAgeSeconds: number): string =>
  setCookie({
    name: cookieName(visitor.isSecure, site),
    value,
    path: cookiePath(site),
    maxAgeSeconds,
    isSecure: visitor.isSecure,
  })

/** Unexpired sessions, the most recently used first. `current` is the caller's own. */
export async function listSessions(
  deps: SessionDeps,
  userId: string,
  current: string | null,
): Promise<SessionView[]> {
  const rows = await deps.database.db
    .select()
    .from(sessions)
    .where(and(eq(sessions.user_id, userId), gt(sessions.expires_at, new Date(deps.now()))))
    .orderBy(desc(sessions.last_seen_at), sessions.token_hash)
  return rows.map((row) => ({ ...viewOf(session, row), is_current: row.token_hash === current }))
}

/** Ends one session of a person. 404 for any other session. */
export async function endSession(deps: SessionDeps, actor: Actor, userId: string, id: string): Promise<void> {
  const [row] = await deps.database.db
    .select({ user: sessions.user_id })
    .from(sessions)
    .where(and(eq(sessions.token_hash, id), eq(sessions.user_id, userId)))
  if (row === undefined) throw notFound('You have no session with this id')
  const ended = { action: 'session.end', resourceId: id, workspaceId: null } as const
  await change(deps, actor, ended, (tx) => [tx.delete(sessions).where(eq(sessions.token_hash, id))])
}

/** All sessions of a person; with `but`, all but this one. */
export const endSessions = (tx: Db, userId: string, but?: string): Write =>
  tx.delete(sessions).where(and(eq(sessions.user_id, userId), exceptFor(but)))

const exceptFor = (id: string | undefined): SQL | undefined =>
  id === undefined ? undefined : ne(sessions.token_hash, id)
