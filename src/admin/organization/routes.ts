import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { IDEMPOTENCY_KEY_HEADER, operation } from '../../http/operation.ts'
import { pageReply } from '../../http/schemas.ts'
import type { AuthDeps } from '../auth/deps.ts'
import { emptyBody } from '../auth/schema.ts'
import { makeSetupLink } from '../auth/setup.ts'
import type { Once } from '../once.ts'
import { invitationList, invite, listInvitations, makePasswordLink, revokeInvitation } from './invitations.ts'
import { changeRole, endMemberSessions, listMembers, memberList, removeMember } from './members.ts'
import {
  invitation,
  invitationBody,
  link,
  memberParams,
  organizationMember,
  roleBody,
  setupLink,
} from './schema.ts'

const tag = 'Organization'
const deleted = { 200: t.Object({ deleted: t.Boolean() }) }
const invited = { 200: t.Object({ data: invitation, ...link }) }

export const organizationRoutes = (deps: AuthDeps & CallerDeps & { once: Once }) =>
  new Elysia().use(memberRoutes(deps)).use(invitationRoutes(deps))

const memberRoutes = (deps: AuthDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/organization/members', ({ query }) => listMembers(deps, query), {
      caller: 'management',
      query: memberList.query,
      response: pageReply(organizationMember),
      detail: operation({
        id: 'listOrganizationMembers',
        tag,
        summary: 'List the members of the organisation',
      }),
    })
    .patch(
      '/organization/members/:id',
      async ({ actor, params, body }) => ({ data: await changeRole(deps, actor, params.id, body.role) }),
      {
        caller: 'management',
        params: memberParams,
        body: roleBody,
        response: { 200: t.Object({ data: organizationMember }) },
        detail: operation({
          id: 'changeOrganizationRole',
          tag,
          summary: 'Change the role of a member',
          description: 'Holds for the next request. The last administrator stays one.',
        }),
      },
    )
    .delete(
      '/organization/members/:id',
      async ({ actor, params }) => {
        await removeMember(deps, actor, params.id)
        return { deleted: true }
      },
      {
        caller: 'management',
        params: memberParams,
        response: deleted,
        detail: operation({
          id: 'removeOrganizationMember',
          tag,
          summary: 'Remove a member from the organisation',
          description: 'Refused while they have active API keys. The last administrator stays.',
        }),
      },
    )
    .delete(
      '/organization/members/:id/sessions',
      async ({ actor, params }) => {
        await endMemberSessions(deps, actor, params.id)
        return { deleted: true }
      },
      {
        caller: 'management',
        params: memberParams,
        response: deleted,
        detail: operation({
          id: 'endMemberSessions',
          tag,
          summary: 'Sign a member out everywhere',
        }),
      },
    )

const invitationRoutes = (deps: AuthDeps & CallerDeps & { once: Once }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/organization/invitations', ({ query }) => listInvitations(deps, query), {
      caller: 'management',
      query: invitationList.query,
      response: pageReply(invitation),
      detail: operation({
        id: 'listInvitations',
        tag,
        summary: 'List invitations that nobody has accepted',
      }),
    })
    .post(
      '/organization/invitations',
      ({ actor, body, request, set }) =>
        deps.once({ request, actor, body, set }, (once) => invite(deps, once, body)),
      {
        caller: 'management',
        body: invitationBody,
        response: invited,
        detail: operation({
          id: 'createInvitation',
          tag,
          summary: 'Invite somebody',
          description:
            'Answers a link, which works once, within 7 days. An earlier one of the same address ends.',
          headers: [IDEMPOTENCY_KEY_HEADER],
        }),
      },
    )
    .delete(
      '/organization/invitations/:id',
      async ({ actor, params }) => {
        await revokeInvitation(deps, actor, params.id)
        return { deleted: true }
      },
      {
        caller: 'management',
        params: memberParams,
        response: deleted,
        detail: operation({
          id: 'revokeInvitation',
          tag,
          summary: 'Revoke an invitation',
        }),
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
        detail: operation({
          id: 'createPasswordLink',
          tag,
          summary: 'Make a link by which a member sets a new password',
          description: 'Works once, within 7 days, and ends their sessions.',
          headers: [IDEMPOTENCY_KEY_HEADER],
        }),
      },
    )
    .post('/organization/setup-link', async ({ actor }) => ({ data: await makeSetupLink(deps, actor) }), {
      caller: 'management',
      body: emptyBody,
      response: { 200: t.Object({ data: setupLink }) },
      detail: operation({
        id: 'createSetupLink',
        tag,
        summary: "Make the link that sets the owner's e-mail address and password",
        description: 'Works once, within 30 minutes, as long as the owner has no password.',
        errors: [409],
      }),
    })
