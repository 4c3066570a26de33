import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { CREATION, operationsOf } from '../../../http/operation.ts'
import { data, dataReply, deleted, deletedReply, pageReply, uuid } from '../../../http/schemas.ts'
import type { Once } from '../../once.ts'
import {
  beginReplay,
  cancelReplay,
  discardWaiting,
  failedList,
  failedReply,
  getStatus,
  listFailed,
  statusReply,
} from './delivery.ts'
import { replayBody } from './replay-range.ts'
import {
  createBody,
  createDestination,
  createdReply,
  type DestinationDeps,
  deleteDestination,
  destinationList,
  destinationReply,
  getDestination,
  listDestinations,
  updateBody,
  updateDestination,
} from './service.ts'
import { newSecretReply, renewSecret } from './signing.ts'
import { testResult, tryDestination } from './try.ts'

const documented = operationsOf('Observability')
const caller = 'management'
const path = '/observability/destinations'
const params = t.Object({ id: uuid('The destination.') })
const response = dataReply(destinationReply)

type RouteDeps = DestinationDeps & CallerDeps & { once: Once }

export const destinationRoutes = (deps: RouteDeps) =>
  new Elysia().use(storedRoutes(deps)).use(deliveryRoutes(deps))

const storedRoutes = (deps: RouteDeps) =>
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
        response: dataReply(createdReply),
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

const deliveryRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get(`${path}/:id/status`, ({ params }) => data(getStatus(deps, params.id)), {
      caller,
      params,
      response: dataReply(statusReply),
      detail: documented('getDestinationStatus', 'Get how the delivery to a destination stands', {
        errors: [409],
      }),
    })
    .get(`${path}/:id/failed`, ({ params, query }) => listFailed(deps, params.id, query), {
      caller,
      params,
      query: failedList.query,
      response: pageReply(failedReply),
      detail: documented('listDestinationFailures', 'List generations that a destination refused', {
        description: 'The last 1,000, the newest first.',
      }),
    })
    .post(`${path}/:id/discard`, ({ actor, params }) => data(discardWaiting(deps, actor, params.id)), {
      caller,
      parse: 'none',
      params,
      response: dataReply(statusReply),
      detail: documented('discardDestinationBacklog', 'Drop all generations that wait for a destination', {
        description: 'They are counted as dropped. A replay can deliver them later.',
        errors: [409],
      }),
    })
    .post(
      `${path}/:id/replay`,
      ({ actor, body, params }) => data(beginReplay(deps, actor, params.id, body)),
      {
        caller,
        params,
        body: replayBody,
        response: dataReply(statusReply),
        detail: documented('replayDestination', 'Deliver generations of the ledger once more', {
          description:
            'At most 1,000,000, with the rules that the destination has now, and with contents that are still stored. ' +
            'Goes on after a restart. 409 names the time from when there is something.',
          errors: [409],
        }),
      },
    )
    .delete(`${path}/:id/replay`, ({ actor, params }) => data(cancelReplay(deps, actor, params.id)), {
      caller,
      params,
      response: dataReply(statusReply),
      detail: documented('cancelDestinationReplay', 'End the replay of a destination', { errors: [409] }),
    })
    .post(`${path}/:id/secret`, ({ actor, params }) => data(renewSecret(deps, actor, params.id)), {
      caller,
      parse: 'none',
      params,
      response: dataReply(newSecretReply),
      detail: documented('renewDestinationSecret', 'Replace the secret that a webhook is signed with', {
        description: 'Events are signed with both secrets for 24 hours. The new one is shown only here.',
        errors: [409],
      }),
    })
