import { type Static, t } from 'elysia'
import { LOG_AREAS, type LogArea } from '../../../core/log-level.ts'
import { viewOf } from '../../../db/fields.ts'
import { invitation, member, type UserRow } from '../../../db/tables.ts'
import { instant, nullable } from '../../../http/schemas.ts'

export const organizationMember = t.Object({
  ...member.view.properties,
  email: t.String({ description: "'' for the owner before the first sign-in is set up." }),
})
export type OrganizationMember = Static<typeof organizationMember>

export const memberView = (row: UserRow): OrganizationMember => ({
  ...viewOf(member, row),
  email: row.email ?? '',
})

export const memberParams = t.Object({ id: t.String({ minLength: 1, maxLength: 100 }) })

export const roleBody = t.Object({ role: member.view.properties.role }, { additionalProperties: false })

export const invitationReply = t.Object({
  ...invitation.view.properties,
  status: t.Union([t.Literal('open'), t.Literal('expired')]),
})
export type Invitation = Static<typeof invitationReply>

/** A link that opens something once. */
export const link = {
  url: t.String({
    description: 'The link, shown once. Its token follows the `#`, which browsers do not send to servers.',
  }),
  token: t.String({ description: 'The same without the page, for `POST /auth/…`.' }),
}

export const setupLink = t.Object({ ...link, expires_at: instant('When the link ends.') })
export type SetupLink = Static<typeof setupLink>

// A `UnionEnum` would have a default, which is set in a change that does not name it.
const logLevel = t.Union([
  t.Literal('trace'),
  t.Literal('debug'),
  t.Literal('info'),
  t.Literal('warn'),
  t.Literal('error'),
  t.Literal('fatal'),
])
const areaBody = t.Optional(
  t.Union([logLevel, t.Null()], { description: 'null: the level of SLUICE_LOG_LEVEL.' }),
)

export const loggingBody = t.Object(
  {
    requests: areaBody,
    providers: areaBody,
    ledger: areaBody,
    bodies: areaBody,
    destinations: areaBody,
    server: areaBody,
  } satisfies Record<LogArea, unknown>,
  { additionalProperties: false, minProperties: 1 },
)
export type LoggingBody = Static<typeof loggingBody>

export const logging = t.Object({
  usual_level: logLevel,
  areas: t.Record(
    t.String({ description: LOG_AREAS.join(', ') }),
    t.Object({
      level: logLevel,
      until: nullable(instant('When the level is the usual one again; null: it is.')),
    }),
  ),
})
export type Logging = Static<typeof logging>
