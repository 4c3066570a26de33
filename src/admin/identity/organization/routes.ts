import { Elysia, t } from 'elysia'
import { invitation } from '../../../db/tables.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { IDEMPOTENCY_KEY_HEADER, operationsOf } from '../../../http/operation.ts'
import { data, dataReply, deleted, deletedReply, pageReply } from '../../../http/schemas.ts'
import type { Once } from '../../once.ts'
import type { AuthDeps } from '../auth/deps.ts'
import { emptyBody } from '../auth/schema.ts'
import { makeSetupLink } from '../auth/setup.ts'
import { invitationList, invite, listInvitations, makePasswordLink, revokeInvitation } from './invitations.ts'
import { changeLogging, type LoggingDeps, viewLogging } from './logging.ts'
import { changeRole, endMemberSessions, listMembers, memberList, removeMember } from './members.ts'
import {
  invitationReply,
  link,
  logging,
  loggingBody,
  memberParams,
  organizationMember,
  roleBody,
  setupLink,
} from './schema.ts'

const documented = operationsOf('Organization')
const invited = { 200: t.Object({ data: invitationReply, ...link }) }

export const organizationRoutes = (deps: AuthDeps & CallerDeps & LoggingDeps & { once: Once }) =>
  new Elysia().use(memberRoutes(deps)).use(invitationRoutes(deps)).use(loggingRoutes(deps))

const loggingRoutes = (deps: CallerDeps & LoggingDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/organization/logging', () => data(viewLogging(deps)), {
      caller: 'management',
      response: dataReply(logging),
      detail: documented('getLogging', 'Get the log levels'),
    })
    .patch('/organization/logging', ({ actor, body }) => data(changeLogging(deps, actor, body)), {
      caller: 'management',
      body: loggingBody,
      response: dataReply(logging),
      detail: documented('changeLogging', 'Change log levels for an hour', {
        description:
          'By area: `requests`, `providers` (at `debug` every attempt), `ledger`, `bodies`, `destinations`, `server` (everything else). ' +
          'A level returns to that of SLUICE_LOG_LEVEL by itself after an hour, and with a restart. No level logs a prompt or a key.',
      }),
    })

const memberRoutes = (deps: AuthDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/organization/members', ({ query }) => listMembers(deps, query), {
      caller: 'management',
      query: memberList.query,
      response: pageReply(organizationMember),
      detail: documented('listOrganizationMembers', 'List the members of the organisation'),
    })
    .patch(
      '/organization/members/:id',
      ({ actor, params, body }) => data(changeRole(deps, actor, params.id, body.role)),
      {
        caller: 'management',
        params: memberParams,
        body: roleBody,
        response: dataReply(organizationMember),
        detail: documented('changeOrganizationRole', 'Change the role of a member', {
          description:
            'Takes effect for the next request. The role of the last administrator cannot be changed.',
          errors: [409],
        }),
      },
    )
    .delete(
      '/organization/members/:id',
      ({ actor, params }) => deleted(removeMember(deps, actor, params.id)),
      {
        caller: 'management',
        params: memberParams,
        response: deletedReply,
        detail: documented('removeOrganizationMember', 'Remove a member from the organisation', {
          description: 'Rejected while they have active API keys. The last administrator stays.',
          errors: [409],
        }),
      },
    )
    .delete(
      '/organization/members/:id/sessions',
      ({ actor, params }) => deleted(endMemberSessions(deps, actor, params.id)),
      {
        caller: 'management',
        params: memberParams,
        response: deletedReply,
        detail: documented('endMemberSessions', 'Sign a member out everywhere'),
      },
    )

const invitationRoutes = (deps: AuthDeps & CallerDeps & { once: Once }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/organization/invitations', ({ query }) => listInvitations(deps, query), {
      caller: 'management',
      query: invitationList.query,
      response: pageReply(invitationReply),
      detail: documented('listInvitations', 'List open and expired invitations'),
    })
    .post(
      '/organization/invitations',
      ({ actor, body, request, set }) =>
        deps.once({ request, actor, body, set }, (once) => invite(deps, once, body)),
      {
        caller: 'management',
        body: invitation.create,
        response: invited,
        detail: documented('createInvitation', 'Invite a person', {
          description:
            'Returns a link that works once, within 7 days. Ends an earlier invitation of the same address.',
          headers: [IDEMPOTENCY_KEY_HEADER],
        }),
      },
    )
    .delete(
      '/organization/invitations/:id',
      ({ actor, params }) => deleted(revokeInvitation(deps, actor, params.id)),
      {
        caller: 'management',
        params: memberParams,
        response: deletedReply,
        detail: documented('revokeInvitation', 'Revoke an invitation'),
      },
    )
    .post(
      '/organization/members/:id/password-link',
      ({ actor, params, body, request, set }) =>
        deps.once({ request, actor, body, set }, (once) => makePasswordLink(deps, once, params.id)),
      {
        caller: 'management',
        params: memberParams,
        body: emptyBody,
        response: invited,
        detail: documented('createPasswordLink', 'Make a link by which a member sets a new password', {
          description: 'Works once, within 7 days, and ends their sessions.',
          headers: [IDEMPOTENCY_KEY_HEADER],
        }),
      },
    )
    .post('/organization/setup-link', ({ actor }) => data(makeSetupLink(deps, actor)), {
      caller: 'management',
      body: emptyBody,
      response: dataReply(setupLink),
      detail: documented(
        'createSetupLink',
        "Make the link that sets the owner's e-mail address and password",
        {
          description: 'Works once, within 30 minutes, as long as the owner has no password.',
          errors: [409],
        },
      ),
    })
