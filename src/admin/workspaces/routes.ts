import { Elysia, t } from 'elysia'
import type { FileStore } from '../../files/store.ts'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { createdStatus } from '../../http/compatibility.ts'
import { IDEMPOTENCY_KEY_HEADER, operation } from '../../http/operation.ts'
import type { ChangeDeps } from '../change.ts'
import type { Once } from '../once.ts'
import {
  createWorkspaceBody,
  deleteWorkspaceQuery,
  listWorkspacesQuery,
  updateWorkspaceBody,
  workspace,
  workspaceParams,
} from './schema.ts'
import { createWorkspace, deleteWorkspace, getWorkspace, listWorkspaces, updateWorkspace } from './service.ts'

const tag = 'Workspaces'
const reply = { 200: t.Object({ data: workspace }) }

export const workspaceRoutes = (deps: ChangeDeps & CallerDeps & { once: Once; files: FileStore }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/workspaces', ({ caller, query }) => listWorkspaces(deps, caller, query), {
      caller: 'any',
      query: listWorkspacesQuery,
      response: { 200: t.Object({ data: t.Array(workspace), total_count: t.Number() }) },
      detail: operation({
        id: 'listWorkspaces',
        tag,
        summary: 'List workspaces',
        description: 'An inference key sees its own alone.',
      }),
    })
    .post(
      '/workspaces',
      async ({ actor, body, request, set }) => {
        set.status = createdStatus(request)
        return await deps.once({ request, actor, body, set }, async (once) => ({
          data: await createWorkspace(deps, once, body),
        }))
      },
      {
        caller: 'management',
        body: createWorkspaceBody,
        response: reply,
        detail: operation({
          id: 'createWorkspace',
          tag,
          summary: 'Create a workspace',
          headers: [IDEMPOTENCY_KEY_HEADER],
        }),
      },
    )
    .get(
      '/workspaces/:id',
      async ({ caller, params }) => ({ data: await getWorkspace(deps, caller, params.id) }),
      {
        caller: 'any',
        params: workspaceParams,
        response: reply,
        detail: operation({ id: 'getWorkspace', tag, summary: 'Get a workspace' }),
      },
    )
    .patch(
      '/workspaces/:id',
      async ({ caller, actor, body, params }) => ({
        data: await updateWorkspace(deps, caller, actor, params.id, body),
      }),
      {
        caller: 'management',
        params: workspaceParams,
        body: updateWorkspaceBody,
        response: reply,
        detail: operation({
          id: 'updateWorkspace',
          tag,
          summary: 'Update a workspace',
          description: 'The change holds for the next request.',
          errors: [409],
        }),
      },
    )
    .delete(
      '/workspaces/:id',
      async ({ caller, actor, params, query }) => {
        const isConfirmed = query.confirm_default_workspace_deletion === 'true'
        await deleteWorkspace(deps, caller, actor, params.id, isConfirmed)
        return { deleted: true }
      },
      {
        caller: 'management',
        params: workspaceParams,
        query: deleteWorkspaceQuery,
        response: { 200: t.Object({ deleted: t.Boolean() }) },
        detail: operation({
          id: 'deleteWorkspace',
          tag,
          summary: 'Delete a workspace',
          description:
            'Refused while it has active API keys. Its budgets, guardrails, files and provider keys go with it.',
        }),
      },
    )
