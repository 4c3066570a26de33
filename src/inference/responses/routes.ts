import { badRequest } from '../../core/errors.ts'
import { type CallerDeps, callerOf, callerOption } from '../../http/caller.ts'
import { keepOpen, routes } from '../../http/incoming.ts'
import { operation } from '../../http/operation.ts'
import { compactResponse } from './compact.ts'
import { createResponse, type ResponsesDeps } from './create.ts'
import { follow } from './follow.ts'
import { compactOperation, responseReply, responsesOperation } from './operation.ts'
import { deletedResponse, itemList, itemsQuery, responseParams, responseQuery } from './schema.ts'
import { cancelResponse, deleteResponse, eventsOfResponse, getResponse, listInputItems } from './stored.ts'

const tag = 'Inference'
const ITEMS_BY_DEFAULT = 20

/** POST /responses, and what a stored response is asked for later, with an inference key of its workspace. */
export const responsesRoutes = (deps: ResponsesDeps & CallerDeps) => {
  const { ticker } = deps.run
  return routes()
    .use(callerOption(deps))
    .post('/responses', ({ incoming }) => createResponse(incoming, deps), {
      parse: 'none',
      detail: responsesOperation,
    })
    .post('/responses/compact', ({ incoming }) => compactResponse(incoming, deps), {
      parse: 'none',
      detail: compactOperation,
    })
    .get(
      '/responses/:id',
      async ({ caller, params, query, incoming, request }) => {
        if (query.stream !== 'true') {
          if (query.starting_after !== undefined)
            throw badRequest('has a meaning only together with stream=true', 'query parameter starting_after')
          return getResponse(params.id, caller, deps.responses)
        }
        const source = await eventsOfResponse(params.id, caller, deps.responses)
        const startingAfter = query.starting_after === undefined ? -1 : Number(query.starting_after)
        keepOpen(incoming)
        const { signal } = request
        return follow({ source, startingAfter, ticker, signal, headers: {} })
      },
      {
        caller: 'inference',
        params: responseParams,
        query: responseQuery,
        detail: operation({
          id: 'getResponse',
          tag,
          summary: 'Get a stored response',
          reply: responseReply,
          streams: true,
        }),
      },
    )
    .delete('/responses/:id', ({ caller, params }) => deleteResponse(params.id, caller, deps.responses), {
      caller: 'inference',
      params: responseParams,
      detail: operation({
        id: 'deleteResponse',
        tag,
        summary: 'Delete a stored response',
        description: 'One that runs is stopped, and what it has delivered is charged.',
        reply: deletedResponse,
      }),
    })
    .get(
      '/responses/:id/input_items',
      ({ caller, params, query }) =>
        listInputItems(
          params.id,
          {
            limit: query.limit === undefined ? ITEMS_BY_DEFAULT : Number(query.limit),
            order: query.order === 'asc' ? 'asc' : 'desc',
            after: query.after,
          },
          caller,
          deps.responses,
        ),
      {
        caller: 'inference',
        params: responseParams,
        query: itemsQuery,
        detail: operation({
          id: 'listResponseInputItems',
          tag,
          summary: 'List what a response was given',
          description: 'Items of the turns that it continues included.',
          reply: itemList,
        }),
      },
    )
    .post(
      '/responses/:id/cancel',
      async ({ incoming, params }) => {
        const caller = await callerOf(deps, incoming, 'inference')
        return await cancelResponse(params.id, caller, deps.responses)
      },
      {
        // Clients send no body; a body is ignored.
        parse: 'none',
        params: responseParams,
        detail: operation({
          id: 'cancelResponse',
          tag,
          summary: 'Cancel a background response',
          description: 'Answers the response as it ended; one that has ended already is left as it is.',
          reply: responseReply,
        }),
      },
    )
}
