import type { Database } from '../../../db/database.ts'
import type { Sealer } from '../../../db/seal.ts'
import type { SessionSource } from '../../../http/session.ts'
import type { Site } from '../../../http/site.ts'
import type { OutboundAllow } from '../../../net/address.ts'
import type { ChangeDeps } from '../../change.ts'
import { type Attempts, createAttempts } from './attempts.ts'
import { createOidcClient, type OidcClient, type OidcSettings } from './oidc/client.ts'
import { createPasswords, type Passwords } from './passwords.ts'
import { createSessions } from './sessions.ts'

/** What signing in needs beside the database. */
export interface Auth {
  readonly site: Site
  readonly passwords: Passwords
  readonly attempts: Attempts
  /** Null: there is no single sign-on. */
  readonly oidc: OidcClient | null
}

export interface AuthDeps extends ChangeDeps {
  auth: Auth
  sealer: Sealer
  log: { warn(fields: object, message: string): void }
}

export interface AuthParts {
  database: Database
  now(): number
  outboundAllow: OutboundAllow
  oidc: OidcSettings | null
  site: Site
}

/** Opens no connection: the identity provider is called at the first sign-in. */
export function createAuth({ database, now, outboundAllow, oidc, site }: AuthParts): {
  auth: Auth
  sessions: SessionSource
} {
  const auth = {
    site,
    passwords: createPasswords(),
    attempts: createAttempts(now),
    oidc: oidc === null ? null : createOidcClient(oidc, outboundAllow, now),
  }
  return { auth, sessions: createSessions(database, site, now) }
}
