import { Elysia, t } from 'elysia'
import { byokKey } from '../../../db/tables.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { CHANGE, CREATION, operationsOf } from '../../../http/operation.ts'
import { data, dataReply, deleted, deletedReply, pageReply, uuid } from '../../../http/schemas.ts'
import type { Once } from '../../once.ts'
import {
  type ByokDeps,
  byokList,
  createBody,
  createByokKey,
  deleteByokKey,
  getByokKey,
  listByokKeys,
  updateBody,
  updateByokKey,
} from './service.ts'

const documented = operationsOf('Provider keys')
const caller = 'management'
const params = t.Object({ id: uuid('The provider key.') })
const response = dataReply(byokKey.view)

export const byokRoutes = (deps: ByokDeps & CallerDeps & { once: Once }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/byok', ({ caller, query }) => listByokKeys(deps, caller, query), {
      caller,
      query: byokList.query,
      response: pageReply(byokKey.view),
      detail: documented('listByokKeys', "List a workspace's BYOK keys", {
        description: 'In the order in which they are tried.',
      }),
    })
    .post(
      '/byok',
      ({ actor, body, caller, request, set }) =>
        deps.once({ request, actor, body, set, status: 201 }, (once) =>
          data(createByokKey(deps, caller, once, body)),
        ),
      {
        caller,
        body: createBody,
        response,
        detail: documented('createByokKey', 'Store a BYOK key of a workspace', {
          description:
            "It is used for the workspace's next request, before the gateway's own credentials, and is tried after the keys that the workspace has already.",
          ...CREATION,
        }),
      },
    )
    .get('/byok/:id', ({ params }) => data(getByokKey(deps, params.id)), {
      caller,
      params,
      response,
      detail: documented('getByokKey', 'Get a provider key', {
        description: 'The key itself is never shown.',
      }),
    })
    .patch('/byok/:id', ({ actor, body, params }) => data(updateByokKey(deps, actor, params.id, body)), {
      caller,
      params,
      body: updateBody,
      response,
      detail: documented('updateByokKey', 'Update a provider key', CHANGE),
    })
    .delete('/byok/:id', ({ actor, params }) => deleted(deleteByokKey(deps, actor, params.id)), {
      caller,
      params,
      response: deletedReply,
      detail: documented('deleteByokKey', 'Delete a provider key', {
        description: 'The deletion is final and applies from the next request on.',
      }),
    })
