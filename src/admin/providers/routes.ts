import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { CREATION, operationsOf } from '../../http/operation.ts'
import { data, dataReply, deleted, deletedReply, noQuery } from '../../http/schemas.ts'
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

const documented = operationsOf('Providers')
const caller = 'management'
const oneEntry = dataReply(entryView)
const oneCredential = dataReply(credentialReply)

type RouteDeps = ProviderDeps & CallerDeps & { once: Once }

/** The operator's providers; the list that callers see is the catalogue's GET /providers. */
export const providerAdminRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .use(entryRoutes(deps))
    .use(credentialRoutes(deps))
    .get('/providers/configured', () => ({ data: listConfigured(deps) }), {
      caller,
      query: noQuery,
      response: dataReply(t.Array(configuredProvider)),
      detail: documented('listConfiguredProviders', 'Which providers are called, and where each comes from'),
    })
    .post('/providers/configured/:slug/test', ({ params }) => tryProvider(deps, params.slug), {
      caller,
      // Clients send no body; one that is sent is ignored.
      parse: 'none',
      params: slugParams,
      response: { 200: connectionResult },
      detail: documented('testProvider', 'Try the credentials of a provider', {
        description:
          'Requests the list of models with each credential; some providers list them without one. Costs nothing.',
      }),
    })

const entryRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/providers/entries', () => data(listEntries(deps)), {
      caller,
      query: noQuery,
      response: dataReply(t.Array(entryView)),
      detail: documented('listProviderEntries', 'List the stored entries of providers'),
    })
    .post(
      '/providers/entries',
      ({ actor, body, request, set }) =>
        deps.once({ request, actor, body, set, status: 201 }, (once) => data(createEntry(deps, once, body))),
      {
        caller,
        response: oneEntry,
        detail: documented('createProviderEntry', 'Store a provider', {
          description:
            'An entry as of `providers:` in the settings, without variables and files. Used for the next request, unless the settings or the environment name the same slug.',
          body: entryBody,
          ...CREATION,
        }),
      },
    )
    .get('/providers/entries/:slug', ({ params }) => data(getEntry(deps, params.slug)), {
      caller,
      params: slugParams,
      response: oneEntry,
      detail: documented('getProviderEntry', 'Get a stored entry of a provider'),
    })
    .patch(
      '/providers/entries/:slug',
      ({ actor, body, params }) => data(updateEntry(deps, actor, params.slug, body)),
      {
        caller,
        params: slugParams,
        response: oneEntry,
        detail: documented('updateProviderEntry', 'Update a stored entry of a provider', {
          description:
            'Omitted fields stay, null removes a field. It moves to another address only together with its secrets.',
          body: t.Partial(entryBody),
          errors: [409],
        }),
      },
    )
    .delete(
      '/providers/entries/:slug',
      ({ actor, params }) => deleted(deleteEntry(deps, actor, params.slug)),
      {
        caller,
        params: slugParams,
        response: deletedReply,
        detail: documented('deleteProviderEntry', 'Delete a stored entry of a provider', {
          description: 'Deletes its further credentials too.',
        }),
      },
    )

const credentialRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/providers/credentials', ({ query }) => data(listStoredCredentials(deps, query)), {
      caller,
      query: listCredentialsQuery,
      response: dataReply(t.Array(credentialReply)),
      detail: documented('listProviderCredentials', 'List the stored credentials of providers'),
    })
    .post(
      '/providers/credentials',
      ({ actor, body, request, set }) =>
        deps.once({ request, actor, body, set, status: 201 }, (once) =>
          data(createCredential(deps, once, body)),
        ),
      {
        caller,
        body: createCredentialBody,
        response: oneCredential,
        detail: documented('createProviderCredential', 'Store a credential of a provider', {
          description: 'Several of one provider are tried in their order, or share its requests by weight.',
          ...CREATION,
        }),
      },
    )
    .patch(
      '/providers/credentials/:id',
      ({ actor, body, params }) => data(updateCredential(deps, actor, params.id, body)),
      {
        caller,
        params: credentialParams,
        body: updateCredentialBody,
        response: oneCredential,
        detail: documented('updateProviderCredential', 'Update or rotate a stored credential', {
          errors: [409],
        }),
      },
    )
    .delete(
      '/providers/credentials/:id',
      ({ actor, params }) => deleted(deleteCredential(deps, actor, params.id)),
      {
        caller,
        params: credentialParams,
        response: deletedReply,
        detail: documented('deleteProviderCredential', 'Delete a stored credential'),
      },
    )
