import { Elysia, t } from 'elysia'
import { apiKey } from '../../../db/tables.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { createdStatus } from '../../../http/compatibility.ts'
import { CHANGE, IDEMPOTENCY_KEY_HEADER, operationsOf } from '../../../http/operation.ts'
import { data, dataReply, deleted, deletedReply, pageReply } from '../../../http/schemas.ts'
import type { Once } from '../../once.ts'
import {
  createBody,
  createKey,
  currentKeyOf,
  deleteKey,
  getKey,
  type KeyDeps,
  keyList,
  listKeys,
  updateKey,
} from './service.ts'
import { currentKey, keyReply } from './usage.ts'

const documented = operationsOf('API keys')
const caller = 'management'
const params = t.Object({ hash: t.String({ description: 'SHA-256 of the key, in hex.' }) })
const response = dataReply(keyReply)

export const keyRoutes = (deps: KeyDeps & CallerDeps & { once: Once }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/keys', ({ caller, query }) => listKeys(deps, caller, query), {
      caller,
      query: keyList.query,
      response: pageReply(keyReply),
      detail: documented('listKeys', 'List API keys'),
    })
    .post(
      '/keys',
      ({ body, caller, actor, request, set }) =>
        deps.once({ request, actor, body, set, status: createdStatus(request) }, (once) =>
          createKey(deps, caller, once, body),
        ),
      {
        caller,
        body: createBody,
        response: {
          200: t.Object({ data: keyReply, key: t.String({ description: 'The key itself, shown once.' }) }),
        },
        detail: documented('createKey', 'Create an API key', { headers: [IDEMPOTENCY_KEY_HEADER] }),
      },
    )
    .get('/keys/:hash', ({ params }) => data(getKey(deps, params.hash)), {
      caller,
      params,
      response,
      detail: documented('getKey', 'Get an API key'),
    })
    .patch('/keys/:hash', ({ actor, body, params }) => data(updateKey(deps, actor, params.hash, body)), {
      caller,
      params,
      body: apiKey.update,
      response,
      detail: documented('updateKey', 'Update an API key', CHANGE),
    })
    .delete('/keys/:hash', ({ actor, params }) => deleted(deleteKey(deps, actor, params.hash)), {
      caller,
      params,
      response: deletedReply,
      detail: documented('deleteKey', 'Delete an API key'),
    })

export const currentKeyRoutes = (deps: KeyDeps & CallerDeps) =>
  new Elysia().use(callerOption(deps)).get('/key', ({ caller }) => data(currentKeyOf(deps, caller)), {
    caller: 'any',
    response: dataReply(currentKey),
    detail: documented('getCurrentKey', 'Get the key of this request'),
  })
