import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { IDEMPOTENCY_KEY_HEADER, operation } from '../../http/operation.ts'
import type { Once } from '../once.ts'
import {
  createDestinationBody,
  destination,
  destinationParams,
  listDestinationsQuery,
  testResult,
  updateDestinationBody,
} from './schema.ts'
import {
  createDestination,
  type DestinationDeps,
  deleteDestination,
  getDestination,
  listDestinations,
  updateDestination,
} from './service.ts'
import { tryDestination } from './try.ts'

const tag = 'Observability'
const caller = 'management'
const path = '/observability/destinations'
const one = t.Object({ data: destination })

export const destinationRoutes = (deps: DestinationDeps & CallerDeps & { once: Once }) =>
  new Elysia()
    .use(callerOption(deps))
    .get(path, ({ caller, query }) => listDestinations(deps, caller, query), {
      caller,
      query: listDestinationsQuery,
      response: { 200: t.Object({ data: t.Array(destination), total_count: t.Number() }) },
      detail: operation({
        id: 'listDestinations',
        tag,
        summary: 'List the observability destinations of a workspace',
      }),
    })
    .post(
      path,
      async ({ actor, body, caller, request, set }) => {
        set.status = 201
        return await deps.once({ request, actor, body, set }, async (once) => ({
          data: await createDestination(deps, caller, once, body),
        }))
      },
      {
        caller,
        body: createDestinationBody,
        response: { 200: one, 201: one },
        detail: operation({
          id: 'createDestination',
          tag,
          summary: 'Create an observability destination',
          description: 'Its secrets are sealed at once and shown masked from then on.',
          status: 201,
          headers: [IDEMPOTENCY_KEY_HEADER],
        }),
      },
    )
    .get(`${path}/:id`, async ({ params }) => ({ data: await getDestination(deps, params.id) }), {
      caller,
      params: destinationParams,
      response: { 200: one },
      detail: operation({
        id: 'getDestination',
        tag,
        summary: 'Get an observability destination',
      }),
    })
    .patch(
      `${path}/:id`,
      async ({ actor, body, params }) => ({ data: await updateDestination(deps, actor, params.id, body) }),
      {
        caller,
        params: destinationParams,
        body: updateDestinationBody,
        response: { 200: one },
        detail: operation({
          id: 'updateDestination',
          tag,
          summary: 'Update an observability destination',
          description:
            'Fields of config that are left out stay, and so do secrets that come back masked. The type cannot be changed.',
          errors: [409],
        }),
      },
    )
    .delete(
      `${path}/:id`,
      async ({ actor, params }) => {
        await deleteDestination(deps, actor, params.id)
        return { deleted: true }
      },
      {
        caller,
        params: destinationParams,
        response: { 200: t.Object({ deleted: t.Boolean() }) },
        detail: operation({
          id: 'deleteDestination',
          tag,
          summary: 'Delete an observability destination',
        }),
      },
    )
    .post(`${path}/:id/test`, async ({ params }) => ({ data: await tryDestination(deps, params.id) }), {
      caller,
      // Clients send no body; one that comes says nothing.
      parse: 'none',
      params: destinationParams,
      response: { 200: t.Object({ data: testResult }) },
      detail: operation({
        id: 'testDestination',
        tag,
        summary: 'Send one test event to an observability destination',
        description: 'Also while it is disabled. 400 for types that nothing is delivered to yet.',
      }),
    })
