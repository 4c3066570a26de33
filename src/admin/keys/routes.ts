import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { createdStatus } from '../../http/compatibility.ts'
import { IDEMPOTENCY_KEY_HEADER, operation } from '../../http/operation.ts'
import type { Once } from '../once.ts'
import { createKeyBody, currentKey, key, keyParams, listKeysQuery, updateKeyBody } from './schema.ts'
import { createKey, currentKeyOf, deleteKey, getKey, type KeyDeps, listKeys, updateKey } from './service.ts'

const tag = 'API keys'

export const keyRoutes = (deps: KeyDeps & CallerDeps & { once: Once }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/keys', ({ caller, query }) => listKeys(deps, caller, query), {
      caller: 'management',
      query: listKeysQuery,
      response: { 200: t.Object({ data: t.Array(key), total_count: t.Number() }) },
      detail: operation({ id: 'listKeys', tag, summary: 'List API keys' }),
    })
    .post(
      '/keys',
      async ({ body, caller, actor, request, set }) => {
        set.status = createdStatus(request)
        return await deps.once({ request, actor, body, set }, (once) => createKey(deps, caller, once, body))
      },
      {
        caller: 'management',
        body: createKeyBody,
        response: {
          200: t.Object({ data: key, key: t.String({ description: 'The key itself, shown once.' }) }),
        },
        detail: operation({
          id: 'createKey',
          tag,
          summary: 'Create an API key',
          headers: [IDEMPOTENCY_KEY_HEADER],
        }),
      },
    )
    .get('/keys/:hash', async ({ params }) => ({ data: await getKey(deps, params.hash) }), {
      caller: 'management',
      params: keyParams,
      response: { 200: t.Object({ data: key }) },
      detail: operation({ id: 'getKey', tag, summary: 'Get an API key' }),
    })
    .patch(
      '/keys/:hash',
      async ({ actor, body, params }) => ({ data: await updateKey(deps, actor, params.hash, body) }),
      {
        caller: 'management',
        params: keyParams,
        body: updateKeyBody,
        response: { 200: t.Object({ data: key }) },
        detail: operation({
          id: 'updateKey',
          tag,
          summary: 'Update an API key',
          description: 'The change holds for the next request.',
        }),
      },
    )
    .delete(
      '/keys/:hash',
      async ({ actor, params }) => {
        await deleteKey(deps, actor, params.hash)
        return { deleted: true }
      },
      {
        caller: 'management',
        params: keyParams,
        response: { 200: t.Object({ deleted: t.Boolean() }) },
        detail: operation({
          id: 'deleteKey',
          tag,
          summary: 'Delete an API key',
        }),
      },
    )

export const currentKeyRoutes = (deps: KeyDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/key', async ({ caller }) => ({ data: await currentKeyOf(deps, caller) }), {
      caller: 'any',
      response: { 200: t.Object({ data: currentKey }) },
      detail: operation({
        id: 'getCurrentKey',
        tag,
        summary: 'Get the key of this request',
      }),
    })
