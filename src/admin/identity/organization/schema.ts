import { type Static, t } from 'elysia'
import type { users } from '../../../db/tables.ts'
import { instant, nullable } from '../../../http/schemas.ts'
import { email } from '../auth/schema.ts'

const role = t.Union([t.Literal('org:admin'), t.Literal('org:member')])
export type Role = Static<typeof role>

/** As the API says it, and as it is stored. */
export const roleView = (stored: 'admin' | 'member'): Role => `org:${stored}`
export const storedRole = (said: Role): 'admin' | 'member' => (said === 'org:admin' ? 'admin' : 'member')

export const organizationMember = t.Object({
  id: t.String(),
  email: t.String({ description: "'' for the owner before the first sign-in is set up." }),
  first_name: nullable(t.String()),
  last_name: nullable(t.String()),
  role,
})
export type OrganizationMember = Static<typeof organizationMember>

export const memberView = (row: typeof users.$inferSelect): OrganizationMember => ({
  id: row.id,
  email: row.email ?? '',
  first_name: row.first_name,
  last_name: row.last_name,
  role: roleView(row.role),
})

export const memberParams = t.Object({ id: t.String({ minLength: 1, maxLength: 100 }) })

export const roleBody = t.Object({ role }, { additionalProperties: false })

export const invitationBody = t.Object(
  {
    email: email('Whom to invite; their address once they accept.'),
    role: t.Optional(role),
  },
  { additionalProperties: false },
)
export type InvitationBody = Static<typeof invitationBody>

export const invitation = t.Object({
  id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  email: t.String(),
  role,
  created_at: instant('When it was made.'),
  created_by: t.String({ description: 'The id of a member.' }),
  expires_at: instant('When its link ends.'),
  status: t.Union([t.Literal('open'), t.Literal('expired')]),
})
export type Invitation = Static<typeof invitation>

/** A link that opens something once. */
export const link = {
  url: t.String({
    description: 'The link, shown once. What opens is behind its `#`, which browsers do not send.',
  }),
  token: t.String({ description: 'The same without the page, for `POST /auth/…`.' }),
}

export const setupLink = t.Object({ ...link, expires_at: instant('When the link ends.') })
export type SetupLink = Static<typeof setupLink>
