import { Elysia, t } from 'elysia'
import { workspace } from '../../../db/tables.ts'
import type { FileStore } from '../../../files/store.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { createdStatus } from '../../../http/compatibility.ts'
import { CHANGE, IDEMPOTENCY_KEY_HEADER, operationsOf } from '../../../http/operation.ts'
import { data, dataReply, deleted, deletedReply, pageReply, queryBoolean } from '../../../http/schemas.ts'
import type { ChangeDeps } from '../../change.ts'
import type { Once } from '../../once.ts'
import {
  createWorkspace,
  deleteWorkspace,
  getWorkspace,
  listWorkspaces,
  workspaceParams as params,
  updateWorkspace,
  workspaceList,
} from './service.ts'

const documented = operationsOf('Workspaces')
const response = dataReply(workspace.view)

export const workspaceRoutes = (deps: ChangeDeps & CallerDeps & { once: Once; files: FileStore }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/workspaces', ({ caller, query }) => listWorkspaces(deps, caller, query), {
      caller: 'any',
      query: workspaceList.query,
      response: pageReply(workspace.view),
      detail: documented('listWorkspaces', 'List workspaces', {
        description: 'An inference key sees only its own.',
      }),
    })
    .post(
      '/workspaces',
      ({ actor, body, request, set }) =>
        deps.once({ request, actor, body, set, status: createdStatus(request) }, (once) =>
          data(createWorkspace(deps, once, body)),
        ),
      {
        caller: 'management',
        body: workspace.create,
        response,
        detail: documented('createWorkspace', 'Create a workspace', { headers: [IDEMPOTENCY_KEY_HEADER] }),
      },
    )
    .get('/workspaces/:id', ({ caller, params }) => data(getWorkspace(deps, caller, params.id)), {
      caller: 'any',
      params,
      response,
      detail: documented('getWorkspace', 'Get a workspace'),
    })
    .patch(
      '/workspaces/:id',
      ({ caller, actor, body, params }) => data(updateWorkspace(deps, caller, actor, params.id, body)),
      {
        caller: 'management',
        params,
        body: workspace.update,
        response,
        detail: documented('updateWorkspace', 'Update a workspace', CHANGE),
      },
    )
    .delete(
      '/workspaces/:id',
      ({ caller, actor, params, query }) =>
        deleted(
          deleteWorkspace(
            deps,
            caller,
            actor,
            params.id,
            query.confirm_default_workspace_deletion === 'true',
          ),
        ),
      {
        caller: 'management',
        params,
        query: t.Object(
          { confirm_default_workspace_deletion: queryBoolean('Needed for the default workspace.') },
          { additionalProperties: true },
        ),
        response: deletedReply,
        detail: documented('deleteWorkspace', 'Delete a workspace', {
          description:
            'Rejected while it has active API keys. Its budgets, guardrails, files and BYOK keys are deleted too.',
          errors: [409],
        }),
      },
    )
