import { type Static, t } from 'elysia'
import { member, session } from '../../../db/tables.ts'
import { email, nullable } from '../../../http/schemas.ts'

/** As it is stored and compared. */
export const sameEmail = (address: string): string => address.trim().toLowerCase()

const newPassword = t.String({
  minLength: 12,
  maxLength: 256,
  description: 'Any 12 to 256 characters.',
})
const password = t.String({ minLength: 1, maxLength: 256 })
const token = t.String({
  minLength: 1,
  maxLength: 100,
  description: 'What the link has behind `#t=`.',
})
const personName = t.Optional(t.String({ minLength: 1, maxLength: 100 }))
const closed = { additionalProperties: false } as const

export const signInBody = t.Object({ email: email('Capitals or not.'), password }, closed)
export type SignInBody = Static<typeof signInBody>

export const passwordBody = t.Object({ current_password: password, new_password: newPassword }, closed)
export type PasswordBody = Static<typeof passwordBody>

export const setupBody = t.Object(
  {
    token,
    email: email('How the owner signs in.'),
    password: newPassword,
    first_name: personName,
    last_name: personName,
  },
  closed,
)
export type SetupBody = Static<typeof setupBody>

export const acceptBody = t.Object(
  { token, password: newPassword, first_name: personName, last_name: personName },
  closed,
)
export type AcceptBody = Static<typeof acceptBody>

/** An empty body: the request has no parameters. */
export const emptyBody = t.Object({}, closed)

export const signedIn = t.Object({
  user: t.Object({
    ...member.view.properties,
    name: t.String(),
    has_password: t.Boolean({ description: 'False: the person signs in only at the identity provider.' }),
  }),
  organization: t.Object({ id: t.String(), name: t.String() }),
  workspaces: t.Array(t.Object({ id: t.String(), slug: t.String(), name: t.String() }), {
    description: 'An administrator sees all workspaces, a member their own.',
  }),
})
export type SignedIn = Static<typeof signedIn>

export const sessionView = t.Object({ ...session.view.properties, is_current: t.Boolean() })
export type SessionView = Static<typeof sessionView>

export const sessionParams = t.Object({
  id: t.String({ pattern: '^[0-9a-f]{64}$', maxLength: 64, expects: 'the id of a session' }),
})

export const signInMethods = t.Object({
  password: t.Boolean(),
  oidc: nullable(
    t.Object({ issuer: t.String(), start: t.String({ description: 'Where a browser begins.' }) }),
  ),
  needs_setup: t.Boolean({ description: 'The owner has no password yet.' }),
})

export const oidcStartQuery = t.Object(
  {
    return_to: t.Optional(
      t.String({
        maxLength: 500,
        pattern: '^/(?![/\\\\])[^\\\\\\x00-\\x20]*$',
        expects: 'a path of this server',
        documented: { type: 'string' },
        description: 'The path to return to; default: the start page.',
      }),
    ),
  },
  { additionalProperties: true },
)

/** Visible ASCII and blanks (RFC 6749, appendix A). Percent-encoded, all four fit into the 16 kB of a request's head. */
const answer = (maxLength: number, description: string) =>
  t.Optional(t.String({ maxLength, pattern: '^[\\x20-\\x7e]*$', description }))
export const oidcCallbackQuery = t.Object(
  {
    code: answer(3072, 'What the identity provider gave.'),
    state: answer(512, 'As it was sent there.'),
    iss: answer(512, 'Who answers (RFC 9207).'),
    error: answer(256, 'Why there is no code.'),
  },
  { additionalProperties: true },
)
export type OidcCallbackQuery = Static<typeof oidcCallbackQuery>
