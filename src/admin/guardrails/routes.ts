import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { IDEMPOTENCY_KEY_HEADER, operation } from '../../http/operation.ts'
import type { Once } from '../once.ts'
import {
  createGuardrailBody,
  guardrail,
  guardrailParams,
  listGuardrailsQuery,
  updateGuardrailBody,
} from './schema.ts'
import {
  createGuardrail,
  deleteGuardrail,
  type GuardrailDeps,
  getGuardrail,
  listGuardrails,
  updateGuardrail,
} from './service.ts'

const tag = 'Guardrails'
const caller = 'management'
const one = t.Object({ data: guardrail })

export const guardrailRoutes = (deps: GuardrailDeps & CallerDeps & { once: Once }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/guardrails', ({ caller, query }) => listGuardrails(deps, caller, query), {
      caller,
      query: listGuardrailsQuery,
      response: { 200: t.Object({ data: t.Array(guardrail), total_count: t.Number() }) },
      detail: operation({
        id: 'listGuardrails',
        tag,
        summary: 'List the guardrails of a workspace',
      }),
    })
    .post(
      '/guardrails',
      async ({ actor, body, caller, request, set }) => {
        set.status = 201
        return await deps.once({ request, actor, body, set }, async (once) => ({
          data: await createGuardrail(deps, caller, once, body),
        }))
      },
      {
        caller,
        body: createGuardrailBody,
        response: { 200: one, 201: one },
        detail: operation({
          id: 'createGuardrail',
          tag,
          summary: 'Create a guardrail',
          description: 'It restricts nothing until it is assigned to keys or members.',
          status: 201,
          headers: [IDEMPOTENCY_KEY_HEADER],
        }),
      },
    )
    .get('/guardrails/:id', async ({ params }) => ({ data: await getGuardrail(deps, params.id) }), {
      caller,
      params: guardrailParams,
      response: { 200: one },
      detail: operation({
        id: 'getGuardrail',
        tag,
        summary: 'Get a guardrail',
      }),
    })
    .patch(
      '/guardrails/:id',
      async ({ actor, body, params }) => ({ data: await updateGuardrail(deps, actor, params.id, body) }),
      {
        caller,
        params: guardrailParams,
        body: updateGuardrailBody,
        response: { 200: one },
        detail: operation({
          id: 'updateGuardrail',
          tag,
          summary: 'Update a guardrail',
          description: 'The change holds for the next request.',
        }),
      },
    )
    .delete(
      '/guardrails/:id',
      async ({ actor, params }) => {
        await deleteGuardrail(deps, actor, params.id)
        return { deleted: true }
      },
      {
        caller,
        params: guardrailParams,
        response: { 200: t.Object({ deleted: t.Boolean() }) },
        detail: operation({
          id: 'deleteGuardrail',
          tag,
          summary: 'Delete a guardrail',
          description: 'Its assignments go with it. The default guardrail of a workspace cannot be deleted.',
        }),
      },
    )
