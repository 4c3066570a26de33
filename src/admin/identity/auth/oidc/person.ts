import { and, eq, gt, isNull } from 'drizzle-orm'
import { forbidden } from '../../../../core/errors.ts'
import type { JsonObject } from '../../../../core/events.ts'
import { newUuid } from '../../../../core/ids.ts'
import { selectRows } from '../../../../db/columns.ts'
import type { Database, Db, Write } from '../../../../db/database.ts'
import { identities, invitations, roleView, type UserRow, users } from '../../../../db/tables.ts'
import type { Change } from '../../../change.ts'
import { notLastAdmin, otherAdmins } from '../../organization/members.ts'
import type { AuthDeps } from '../deps.ts'
import { newPerson, userOf, userOfEmail } from '../people.ts'
import { sameEmail } from '../schema.ts'
import type { OidcSettings } from './client.ts'

/** A person who signs in with the identity provider, and the writes that store them. */
export interface Arrival {
  user: UserRow
  changes: Change[]
  writes(tx: Db): Write[]
}

/** The claims of the identity provider about a person. */
interface Identity {
  issuer: string
  subject: string
  email: string | null
  /** Whether the provider vouches for the address. */
  isVerified: boolean
  firstName: string | null
  lastName: string | null
  fullName: string | null
  /** By the groups; null: no group decides the role. */
  role: 'admin' | 'member' | null
}

/**
 * The person of these claims: known by issuer and subject; else the member with the same verified address, who is
 * linked; else a new one, with the role of the invitation that waits for the address, if one does. Groups decide
 * over roles if the settings say so, but the last administrator stays one. Throws a `GatewayError` 403 for a person
 * whom the settings exclude.
 */
export async function arrivalOf(
  deps: AuthDeps,
  settings: OidcSettings,
  claims: JsonObject,
): Promise<Arrival> {
  const identity = readIdentity(settings, claims)
  const { database } = deps
  const known = await userOfSubject(database, identity)
  if (known !== undefined) return await withRole(deps, known, identity.role)
  if (identity.email === null || !identity.isVerified)
    throw forbidden(
      'The identity provider does not confirm your e-mail address, so it cannot be used to find your account',
    )
  const member = await userOfEmail(database, identity.email)
  return await (member === undefined
    ? newcomer(deps, identity, identity.email)
    : linked(deps, member, identity))
}

function readIdentity(settings: OidcSettings, claims: JsonObject): Identity {
  const text = (name: string): string | null => {
    const value = claims[name]
    return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : null
  }
  const email = text('email')
  const verified = claims['email_verified']
  return {
    issuer: String(claims['iss']),
    subject: String(claims['sub']),
    email: email === null ? null : sameEmail(email),
    // Some providers write the word.
    isVerified: verified === true || verified === 'true' || (verified === undefined && settings.trustEmail),
    firstName: text('given_name'),
    lastName: text('family_name'),
    fullName: text('name'),
    role: roleOf(settings, claims[settings.groupsClaim]),
  }
}

function roleOf({ adminGroups, memberGroups }: OidcSettings, claim: unknown): 'admin' | 'member' | null {
  const groups: unknown[] = Array.isArray(claim)
    ? claim
    : typeof claim === 'string'
      ? claim.split(/[ ,]+/)
      : []
  const isIn = (wanted: readonly string[]) => wanted.some((group) => groups.includes(group))
  if (isIn(adminGroups)) return 'admin'
  if (memberGroups.length > 0 && !isIn(memberGroups))
    throw forbidden('You are not in a group that may sign in here')
  return adminGroups.length === 0 ? null : 'member'
}

async function userOfSubject(
  database: Database,
  { issuer, subject }: Identity,
): Promise<UserRow | undefined> {
  const isIt = and(
    eq(identities.kind, 'oidc'),
    eq(identities.issuer, issuer),
    eq(identities.subject, subject),
  )
  const [identity] = await selectRows(database.db, identities, isIt)
  return identity && (await userOf(database, identity.user_id))
}

async function withRole(deps: AuthDeps, user: UserRow, role: Identity['role']): Promise<Arrival> {
  const mustStay = user.role === 'admin' && (await otherAdmins(deps.database, user.id)).length === 0
  if (role === null || role === user.role || mustStay) return { user, changes: [], writes: () => [] }
  const changed: Change = {
    action: 'member.change_role',
    resourceId: user.id,
    workspaceId: null,
    before: { role: roleView(user.role) },
    after: { role: roleView(role), by: 'groups of the identity provider' },
  }
  return {
    user: { ...user, role },
    changes: [changed],
    writes: (tx) => [
      tx
        .update(users)
        .set({ role, updated_at: new Date(deps.now()) })
        .where(and(eq(users.id, user.id), notLastAdmin(tx, user.id))),
    ],
  }
}

async function linked(deps: AuthDeps, member: UserRow, identity: Identity): Promise<Arrival> {
  const arrival = await withRole(deps, member, identity.role)
  const link: Change = {
    action: 'member.link_identity',
    resourceId: member.id,
    workspaceId: null,
    after: { issuer: identity.issuer, subject: identity.subject },
  }
  return {
    user: arrival.user,
    changes: [link, ...arrival.changes],
    writes: (tx) => [identityOf(tx, member.id, identity, deps.now()), ...arrival.writes(tx)],
  }
}

async function newcomer(deps: AuthDeps, identity: Identity, email: string): Promise<Arrival> {
  const now = new Date(deps.now())
  const isOpen = and(isNull(invitations.accepted_at), gt(invitations.expires_at, now))
  const [invitation] = await selectRows(
    deps.database.db,
    invitations,
    and(eq(invitations.email, email), isOpen),
  )
  const user = newPerson({
    organizationId: deps.snapshot.current().organizationId,
    email,
    role: identity.role ?? invitation?.role ?? 'member',
    firstName: identity.firstName,
    lastName: identity.lastName,
    fullName: identity.fullName,
    now,
  })
  const joined: Change = {
    action: 'member.join',
    resourceId: user.id,
    workspaceId: null,
    after: { email, role: roleView(user.role), issuer: identity.issuer, subject: identity.subject },
  }
  return {
    user,
    changes: [joined],
    writes: (tx) => [
      tx.insert(users).values(user),
      identityOf(tx, user.id, identity, deps.now()),
      tx.update(invitations).set({ accepted_at: now }).where(eq(invitations.email, email)),
    ],
  }
}

const identityOf = (tx: Db, userId: string, { issuer, subject }: Identity, now: number): Write =>
  tx.insert(identities).values({
    id: newUuid(),
    user_id: userId,
    kind: 'oidc',
    issuer,
    subject,
    created_at: new Date(now),
  })
