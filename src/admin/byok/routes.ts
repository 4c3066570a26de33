import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { IDEMPOTENCY_KEY_HEADER, operation } from '../../http/operation.ts'
import type { Once } from '../once.ts'
import { byokKey, byokParams, createByokBody, listByokQuery, updateByokBody } from './schema.ts'
import {
  type ByokDeps,
  createByokKey,
  deleteByokKey,
  getByokKey,
  listByokKeys,
  updateByokKey,
} from './service.ts'

const tag = 'Provider keys'
const caller = 'management'
const one = t.Object({ data: byokKey })

export const byokRoutes = (deps: ByokDeps & CallerDeps & { once: Once }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/byok', ({ caller, query }) => listByokKeys(deps, caller, query), {
      caller,
      query: listByokQuery,
      response: { 200: t.Object({ data: t.Array(byokKey), total_count: t.Number() }) },
      detail: operation({
        id: 'listByokKeys',
        tag,
        summary: "List a workspace's own provider keys",
        description: 'In the order in which they are tried.',
      }),
    })
    .post(
      '/byok',
      async ({ actor, body, caller, request, set }) => {
        set.status = 201
        return await deps.once({ request, actor, body, set }, async (once) => ({
          data: await createByokKey(deps, caller, once, body),
        }))
      },
      {
        caller,
        body: createByokBody,
        response: { 200: one, 201: one },
        detail: operation({
          id: 'createByokKey',
          tag,
          summary: "Store a workspace's own key of a provider",
          description:
            "It is used for the workspace's next request, before the gateway's own credentials, and is tried after the keys that the workspace has already.",
          status: 201,
          headers: [IDEMPOTENCY_KEY_HEADER],
        }),
      },
    )
    .get('/byok/:id', async ({ params }) => ({ data: await getByokKey(deps, params.id) }), {
      caller,
      params: byokParams,
      response: { 200: one },
      detail: operation({
        id: 'getByokKey',
        tag,
        summary: 'Get a provider key',
        description: 'The key itself is never shown.',
      }),
    })
    .patch(
      '/byok/:id',
      async ({ actor, body, params }) => ({ data: await updateByokKey(deps, actor, params.id, body) }),
      {
        caller,
        params: byokParams,
        body: updateByokBody,
        response: { 200: one },
        detail: operation({
          id: 'updateByokKey',
          tag,
          summary: 'Update a provider key',
          description: 'The change holds for the next request.',
        }),
      },
    )
    .delete(
      '/byok/:id',
      async ({ actor, params }) => {
        await deleteByokKey(deps, actor, params.id)
        return { deleted: true }
      },
      {
        caller,
        params: byokParams,
        response: { 200: t.Object({ deleted: t.Boolean() }) },
        detail: operation({
          id: 'deleteByokKey',
          tag,
          summary: 'Delete a provider key',
          description: 'It is gone for good, and unused from the next request on.',
        }),
      },
    )
