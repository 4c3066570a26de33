import { Elysia, t } from 'elysia'
import { guardrail } from '../../../db/tables.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { CHANGE, CREATION, operationsOf } from '../../../http/operation.ts'
import { data, dataReply, deleted, deletedReply, pageReply, uuid } from '../../../http/schemas.ts'
import type { Once } from '../../once.ts'
import {
  createGuardrail,
  deleteGuardrail,
  type GuardrailDeps,
  getGuardrail,
  guardrailList,
  listGuardrails,
  updateGuardrail,
} from './service.ts'

const documented = operationsOf('Guardrails')
const caller = 'management'
const params = t.Object({ id: uuid('The guardrail.') })
const response = dataReply(guardrail.view)

export const guardrailRoutes = (deps: GuardrailDeps & CallerDeps & { once: Once }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/guardrails', ({ caller, query }) => listGuardrails(deps, caller, query), {
      caller,
      query: guardrailList.query,
      response: pageReply(guardrail.view),
      detail: documented('listGuardrails', 'List the guardrails of a workspace'),
    })
    .post(
      '/guardrails',
      ({ actor, body, caller, request, set }) =>
        deps.once({ request, actor, body, set, status: 201 }, (once) =>
          data(createGuardrail(deps, caller, once, body)),
        ),
      {
        caller,
        body: guardrail.create,
        response,
        detail: documented('createGuardrail', 'Create a guardrail', {
          description: 'It restricts nothing until it is assigned to keys or members.',
          ...CREATION,
        }),
      },
    )
    .get('/guardrails/:id', ({ params }) => data(getGuardrail(deps, params.id)), {
      caller,
      params,
      response,
      detail: documented('getGuardrail', 'Get a guardrail'),
    })
    .patch(
      '/guardrails/:id',
      ({ actor, body, params }) => data(updateGuardrail(deps, actor, params.id, body)),
      {
        caller,
        params,
        body: guardrail.update,
        response,
        detail: documented('updateGuardrail', 'Update a guardrail', CHANGE),
      },
    )
    .delete('/guardrails/:id', ({ actor, params }) => deleted(deleteGuardrail(deps, actor, params.id)), {
      caller,
      params,
      response: deletedReply,
      detail: documented('deleteGuardrail', 'Delete a guardrail', {
        description: 'Its assignments go with it. The default guardrail of a workspace cannot be deleted.',
      }),
    })
