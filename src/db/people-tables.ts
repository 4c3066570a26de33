/** How people get in: passwords and single sign-on, invitations, sessions. */
import { Type } from '@sinclair/typebox'
import { email, nullable } from '../http/schemas.ts'
import { index, table, text, timestamp, uniqueIndex, word } from './columns.ts'
import * as field from './fields.ts'
import { shownUuid } from './kinds.ts'
import { ofOrganization, role } from './organization-tables.ts'
import { byUser } from './table-parts.ts'

/** One row for each way that a person may sign in. */
export const identities = table(
  'identities',
  {
    /** UUID */
    id: text().primaryKey(),
    user_id: byUser(),
    kind: word<'password' | 'oidc'>().notNull(),
    /** The issuer of an OIDC identity; '' for a password. */
    issuer: text().notNull().default(''),
    /** The subject of an OIDC identity; the user's id for a password. */
    subject: text().notNull(),
    /** argon2id, in the PHC form; null for an OIDC identity. */
    password_hash: text(),
    created_at: field.createdAt(),
    updated_at: timestamp(),
  },
  (t) => [
    uniqueIndex('identities_subject').on(t.kind, t.issuer, t.subject),
    index('identities_user').on(t.user_id),
  ],
)

const invitationFields = {
  id: field.given(text().primaryKey(), shownUuid()),
  organization_id: field.hidden(ofOrganization()),
  email: field.fixed(
    field.required({
      column: text(),
      body: email('Whom to invite; their address once they accept.'),
      view: Type.String(),
    }),
  ),
  role: field.fixed({ ...field.required(role()), create: Type.Optional(role().body), initial: 'org:member' }),
  /** SHA-256 of the token in the link, in hex. */
  token_hash: field.hidden(text().notNull()),
  created_at: field.createdInstant(),
  created_by: field.given(byUser(), Type.String({ description: 'The id of a member.' })),
  expires_at: field.givenInstant('When its link ends.'),
  accepted_at: { ...field.hidden(timestamp()), initial: null },
}

export const invitations = table('invitations', field.columnsOf(invitationFields), (t) => [
  uniqueIndex('invitations_token').on(t.token_hash),
  index('invitations_email').on(t.email),
])
export const invitation = field.resourceOf(
  'invitation',
  invitations.id,
  invitations,
  invitationFields,
  'open invitation',
)
export type InvitationRow = typeof invitations.$inferSelect

const sessionFields = {
  /** SHA-256 of the token in the cookie, in hex. */
  token_hash: field.named(
    'id',
    field.given(
      text().primaryKey(),
      Type.String({ description: 'Identifies the session; it grants no access.' }),
    ),
  ),
  user_id: field.hidden(byUser()),
  address: field.given(
    text(),
    nullable(Type.String({ description: 'The address from which it was opened.' })),
  ),
  user_agent: field.given(text(), nullable(Type.String())),
  created_at: field.createdInstant('When the person signed in.'),
  last_seen_at: field.createdInstant('Its last use, to five minutes.'),
  expires_at: field.givenInstant('When it ends unless it is used.'),
}

export const sessions = table('sessions', field.columnsOf(sessionFields), (t) => [
  index('sessions_user').on(t.user_id),
])
export const session = field.resourceOf('session', sessions.token_hash, sessions, sessionFields)
