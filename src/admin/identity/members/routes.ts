import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { operationsOf } from '../../../http/operation.ts'
import { pageReply } from '../../../http/schemas.ts'
import type { ChangeDeps } from '../../change.ts'
import { workspaceParams } from '../workspaces/service.ts'
import { member, membersBody } from './schema.ts'
import { addMembers, listMembers, memberList, removeMembers } from './service.ts'

const documented = operationsOf('Workspaces')

export const memberRoutes = (deps: ChangeDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get(
      '/workspaces/:id/members',
      ({ caller, params, query }) => listMembers(deps, caller, params.id, query),
      {
        caller: 'management',
        params: workspaceParams,
        query: memberList.query,
        response: pageReply(member),
        detail: documented('listWorkspaceMembers', 'List the members of a workspace'),
      },
    )
    .post(
      '/workspaces/:id/members/add',
      ({ caller, actor, params, body }) => addMembers(deps, caller, actor, params.id, body.user_ids),
      {
        caller: 'management',
        params: workspaceParams,
        body: membersBody,
        response: { 200: t.Object({ added_count: t.Number(), data: t.Array(member) }) },
        detail: documented('addWorkspaceMembers', 'Add members of the organisation to a workspace'),
      },
    )
    .post(
      '/workspaces/:id/members/remove',
      ({ caller, actor, params, body }) => removeMembers(deps, caller, actor, params.id, body.user_ids),
      {
        caller: 'management',
        params: workspaceParams,
        body: membersBody,
        response: { 200: t.Object({ removed_count: t.Number() }) },
        detail: documented('removeWorkspaceMembers', 'Remove members from a workspace', {
          errors: [409],
          description: 'Rejected for all of them while one has active API keys in the workspace.',
        }),
      },
    )
