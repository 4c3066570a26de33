import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { IDEMPOTENCY_KEY_HEADER, operation } from '../../http/operation.ts'
import type { Once } from '../once.ts'
import { listConfigured } from './configured.ts'
import { tryProvider } from './connection.ts'
import { createCredential, deleteCredential, listStoredCredentials, updateCredential } from './credentials.ts'
import type { ProviderDeps } from './deps.ts'
import { createEntry, deleteEntry, getEntry, listEntries, updateEntry } from './entries.ts'
import {
  configuredProvider,
  connectionResult,
  createCredentialBody,
  credentialParams,
  credentialReply,
  entryBody,
  entryView,
  listCredentialsQuery,
  slugParams,
  updateCredentialBody,
} from './schema.ts'

const tag = 'Providers'
const caller = 'management'
const oneEntry = t.Object({ data: entryView })
const oneCredential = t.Object({ data: credentialReply })
const deleted = t.Object({ deleted: t.Boolean() })

type RouteDeps = ProviderDeps & CallerDeps & { once: Once }

/** The operator's providers; the list that callers see is the catalogue's GET /providers. */
export const providerAdminRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .use(entryRoutes(deps))
    .use(credentialRoutes(deps))
    .get('/providers/configured', () => ({ data: listConfigured(deps) }), {
      caller,
      response: { 200: t.Object({ data: t.Array(configuredProvider) }) },
      detail: operation({
        id: 'listConfiguredProviders',
        tag,
        summary: 'Which providers are called, and where each comes from',
      }),
    })
    .post('/providers/configured/:slug/test', ({ params }) => tryProvider(deps, params.slug), {
      caller,
      // Clients send no body; one that comes says nothing.
      parse: 'none',
      params: slugParams,
      response: { 200: connectionResult },
      detail: operation({
        id: 'testProvider',
        tag,
        summary: 'Try the credentials of a provider',
        description:
          'Asks the provider for its list of models with each credential; some list them for anybody. Nothing is inferred and nothing costs.',
      }),
    })

const entryRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/providers/entries', async () => ({ data: await listEntries(deps) }), {
      caller,
      response: { 200: t.Object({ data: t.Array(entryView) }) },
      detail: operation({
        id: 'listProviderEntries',
        tag,
        summary: 'List the stored entries of providers',
      }),
    })
    .post(
      '/providers/entries',
      async ({ actor, body, request, set }) => {
        set.status = 201
        return await deps.once({ request, actor, body, set }, async (once) => ({
          data: await createEntry(deps, once, body),
        }))
      },
      {
        caller,
        response: { 200: oneEntry, 201: oneEntry },
        detail: operation({
          id: 'createProviderEntry',
          tag,
          summary: 'Store a provider',
          description:
            'An entry as of `providers:` in the settings, without variables and files. Used for the next request, unless the settings or the environment name the same slug.',
          status: 201,
          body: entryBody,
          headers: [IDEMPOTENCY_KEY_HEADER],
        }),
      },
    )
    .get('/providers/entries/:slug', async ({ params }) => ({ data: await getEntry(deps, params.slug) }), {
      caller,
      params: slugParams,
      response: { 200: oneEntry },
      detail: operation({
        id: 'getProviderEntry',
        tag,
        summary: 'Get a stored entry of a provider',
      }),
    })
    .patch(
      '/providers/entries/:slug',
      async ({ actor, body, params }) => ({ data: await updateEntry(deps, actor, params.slug, body) }),
      {
        caller,
        params: slugParams,
        response: { 200: oneEntry },
        detail: operation({
          id: 'updateProviderEntry',
          tag,
          summary: 'Update a stored entry of a provider',
          description:
            'What is left out stays, null takes a field away. To another address it moves only with its secrets given anew.',
          body: t.Partial(entryBody),
          errors: [409],
        }),
      },
    )
    .delete(
      '/providers/entries/:slug',
      async ({ actor, params }) => {
        await deleteEntry(deps, actor, params.slug)
        return { deleted: true }
      },
      {
        caller,
        params: slugParams,
        response: { 200: deleted },
        detail: operation({
          id: 'deleteProviderEntry',
          tag,
          summary: 'Delete a stored entry of a provider',
          description: 'Its further credentials go with it.',
        }),
      },
    )

const credentialRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get(
      '/providers/credentials',
      async ({ query }) => ({ data: await listStoredCredentials(deps, query) }),
      {
        caller,
        query: listCredentialsQuery,
        response: { 200: t.Object({ data: t.Array(credentialReply) }) },
        detail: operation({
          id: 'listProviderCredentials',
          tag,
          summary: 'List the stored credentials of providers',
        }),
      },
    )
    .post(
      '/providers/credentials',
      async ({ actor, body, request, set }) => {
        set.status = 201
        return await deps.once({ request, actor, body, set }, async (once) => ({
          data: await createCredential(deps, once, body),
        }))
      },
      {
        caller,
        body: createCredentialBody,
        response: { 200: oneCredential, 201: oneCredential },
        detail: operation({
          id: 'createProviderCredential',
          tag,
          summary: 'Store a credential of a provider',
          description: 'Several of one provider are tried in their order, or share its requests by weight.',
          status: 201,
          headers: [IDEMPOTENCY_KEY_HEADER],
        }),
      },
    )
    .patch(
      '/providers/credentials/:id',
      async ({ actor, body, params }) => ({ data: await updateCredential(deps, actor, params.id, body) }),
      {
        caller,
        params: credentialParams,
        body: updateCredentialBody,
        response: { 200: oneCredential },
        detail: operation({
          id: 'updateProviderCredential',
          tag,
          summary: 'Update or rotate a stored credential',
          errors: [409],
        }),
      },
    )
    .delete(
      '/providers/credentials/:id',
      async ({ actor, params }) => {
        await deleteCredential(deps, actor, params.id)
        return { deleted: true }
      },
      {
        caller,
        params: credentialParams,
        response: { 200: deleted },
        detail: operation({
          id: 'deleteProviderCredential',
          tag,
          summary: 'Delete a stored credential',
        }),
      },
    )
