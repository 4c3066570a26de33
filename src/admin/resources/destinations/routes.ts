import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { CREATION, operationsOf } from '../../../http/operation.ts'
import { data, dataReply, deleted, deletedReply, pageReply, uuid } from '../../../http/schemas.ts'
import type { Once } from '../../once.ts'
import {
  createBody,
  createDestination,
  type DestinationDeps,
  deleteDestination,
  destinationList,
  destinationReply,
  getDestination,
  listDestinations,
  updateBody,
  updateDestination,
} from './service.ts'
import { testResult, tryDestination } from './try.ts'

const documented = operationsOf('Observability')
const caller = 'management'
const path = '/observability/destinations'
const params = t.Object({ id: uuid('The destination.') })
const response = dataReply(destinationReply)

export const destinationRoutes = (deps: DestinationDeps & CallerDeps & { once: Once }) =>
  new Elysia()
    .use(callerOption(deps))
    .get(path, ({ caller, query }) => listDestinations(deps, caller, query), {
      caller,
      query: destinationList.query,
      response: pageReply(destinationReply),
      detail: documented('listDestinations', 'List the observability destinations of a workspace'),
    })
    .post(
      path,
      ({ actor, body, caller, request, set }) =>
        deps.once({ request, actor, body, set, status: 201 }, (once) =>
          data(createDestination(deps, caller, once, body)),
        ),
      {
        caller,
        body: createBody,
        response,
        detail: documented('createDestination', 'Create an observability destination', {
          description: 'Its secrets are sealed at once and shown masked from then on.',
          ...CREATION,
        }),
      },
    )
    .get(`${path}/:id`, ({ params }) => data(getDestination(deps, params.id)), {
      caller,
      params,
      response,
      detail: documented('getDestination', 'Get an observability destination'),
    })
    .patch(
      `${path}/:id`,
      ({ actor, body, params }) => data(updateDestination(deps, actor, params.id, body)),
      {
        caller,
        params,
        body: updateBody,
        response,
        detail: documented('updateDestination', 'Update an observability destination', {
          description:
            'Fields of config that are left out stay, and so do secrets that come back masked. The type cannot be changed.',
          errors: [409],
        }),
      },
    )
    .delete(`${path}/:id`, ({ actor, params }) => deleted(deleteDestination(deps, actor, params.id)), {
      caller,
      params,
      response: deletedReply,
      detail: documented('deleteDestination', 'Delete an observability destination'),
    })
    .post(`${path}/:id/test`, ({ params }) => data(tryDestination(deps, params.id)), {
      caller,
      // Clients send no body; one that is sent is ignored.
      parse: 'none',
      params,
      response: dataReply(testResult),
      detail: documented('testDestination', 'Send one test event to an observability destination', {
        description:
          'The event is a small generation, made as those that are delivered. Also while the destination is disabled.',
      }),
    })
