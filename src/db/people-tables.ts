/** How people get in: passwords and single sign-on, invitations, sessions. */
import { index, table, text, timestamp, uniqueIndex, word } from './columns.ts'
import { organizations, users } from './organization-tables.ts'
import { createdAt } from './table-parts.ts'

/** One row for each way that a person may sign in. */
export const identities = table(
  'identities',
  {
    /** UUID */
    id: text().primaryKey(),
    user_id: text()
      .notNull()
      .references(() => users.id),
    kind: word<'password' | 'oidc'>().notNull(),
    /** The issuer of an OIDC identity; '' for a password. */
    issuer: text().notNull().default(''),
    /** The subject of an OIDC identity; the user's id for a password. */
    subject: text().notNull(),
    /** argon2id, in the PHC form; null for an OIDC identity. */
    password_hash: text(),
    created_at: createdAt(),
    updated_at: timestamp(),
  },
  (t) => [
    uniqueIndex('identities_subject').on(t.kind, t.issuer, t.subject),
    index('identities_user').on(t.user_id),
  ],
)

export const invitations = table(
  'invitations',
  {
    /** UUID */
    id: text().primaryKey(),
    organization_id: text()
      .notNull()
      .references(() => organizations.id),
    email: text().notNull(),
    role: word<'admin' | 'member'>().notNull(),
    /** SHA-256 of the token in the link, in hex. */
    token_hash: text().notNull(),
    created_by: text()
      .notNull()
      .references(() => users.id),
    created_at: createdAt(),
    expires_at: timestamp().notNull(),
    accepted_at: timestamp(),
  },
  (t) => [uniqueIndex('invitations_token').on(t.token_hash), index('invitations_email').on(t.email)],
)

export const sessions = table(
  'sessions',
  {
    /** SHA-256 of the token in the cookie, in hex. */
    token_hash: text().primaryKey(),
    user_id: text()
      .notNull()
      .references(() => users.id),
    address: text(),
    user_agent: text(),
    created_at: createdAt(),
    last_seen_at: createdAt(),
    expires_at: timestamp().notNull(),
  },
  (t) => [index('sessions_user').on(t.user_id)],
)
