import { badRequest } from '../../core/errors.ts'
import { type CallerDeps, callerOf, callerOption } from '../../http/caller.ts'
import { keepOpen, readsBody, routes } from '../../http/incoming.ts'
import { documented } from '../document-parts.ts'
import { compactResponse } from './compact.ts'
import { createResponse, type ResponsesDeps } from './create.ts'
import { follow } from './follow.ts'
import { compactOperation, responseReply, responsesOperation } from './operation.ts'
import { deletedResponse, itemList, itemsQuery, responseParams, responseQuery } from './schema.ts'
import { cancelResponse, deleteResponse, eventsOfResponse, getResponse, listInputItems } from './stored.ts'

const ITEMS_BY_DEFAULT = 20

/** The Responses API, with an inference key of the workspace. */
export const responsesRoutes = (deps: ResponsesDeps & CallerDeps) =>
  routes()
    .use(callerOption(deps))
    .post('/responses', ({ incoming }) => createResponse(incoming, deps), readsBody(responsesOperation))
    .post(
      '/responses/compact',
      ({ incoming }) => compactResponse(incoming, deps),
      readsBody(compactOperation),
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
        detail: documented('cancelResponse', 'Cancel a background response', {
          description: 'Returns the final response. Has no effect on a response that has already ended.',
          reply: responseReply,
        }),
      },
    )
    .use(storedRoutes(deps))

const storedRoutes = (deps: ResponsesDeps & CallerDeps) =>
  routes()
    .use(callerOption(deps))
    .get(
      '/responses/:id',
      async ({ caller, params, query, incoming, request }) => {
        if (query.stream !== 'true') {
          if (query.starting_after !== undefined)
            throw badRequest('requires stream=true', 'query parameter starting_after')
          return getResponse(params.id, caller, deps.responses)
        }
        const source = await eventsOfResponse(params.id, caller, deps.responses)
        const startingAfter = query.starting_after === undefined ? -1 : Number(query.starting_after)
        keepOpen(incoming)
        const { signal } = request
        return follow({ source, startingAfter, ticker: deps.run.ticker, signal, headers: {} })
      },
      {
        caller: 'inference',
        params: responseParams,
        query: responseQuery,
        detail: documented('getResponse', 'Get a stored response', {
          reply: responseReply,
          streams: true,
        }),
      },
    )
    .delete('/responses/:id', ({ caller, params }) => deleteResponse(params.id, caller, deps.responses), {
      caller: 'inference',
      params: responseParams,
      detail: documented('deleteResponse', 'Delete a stored response', {
        description: 'A running response is stopped; its output until then is charged.',
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
        detail: documented('listResponseInputItems', 'List the input items of a response', {
          description: 'Includes the items of earlier turns that it continues.',
          reply: itemList,
        }),
      },
    )
