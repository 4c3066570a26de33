import { Elysia, t } from 'elysia'
import type { Caller } from '../core/caller.ts'
import type { Measurements } from '../core/measurements.ts'
import type { Database } from '../db/database.ts'
import { type CallerDeps, uncountedCallerOption } from '../http/caller.ts'
import { endpointStatus } from '../http/compatibility.ts'
import { instantOf } from '../http/instant.ts'
import { operationsOf, wildcard } from '../http/operation.ts'
import { nameInPath } from '../http/path-name.ts'
import type { Site } from '../http/site.ts'
import type { CatalogLists } from './callable.ts'
import { formOf, googleForm } from './dialects/form.ts'
import { filtered, isZdr, outputTest } from './filter.ts'
import { pricesOfModel } from './history.ts'
import { narrowed, type Offered } from './listing.ts'
import { pageOf } from './page.ts'
import { popularityFor } from './popularity.ts'
import { modelsQuery, outputPageQuery, outputQuery, pageQuery, pricesQuery } from './query/schema.ts'
import { publicApi, RSS_MEDIA, RSS_TYPE, rssOf } from './rss.ts'
import {
  model,
  modelEndpoints,
  modelList,
  modelParams,
  modelPrices,
  provider,
  zdrEndpoint,
} from './schema.ts'
import { sorted } from './sort.ts'
import { endpointJson, modelEndpointsView, modelView, providerView } from './view.ts'

const documented = operationsOf('Models')
const JSON_TYPE = 'application/json'

export interface CatalogDeps extends CallerDeps {
  database: Database
  measurements: Measurements
  lists: CatalogLists
  auth: { readonly site: Site }
}

/** The callable models. `basePath` precedes `/models` in the addresses of replies: `/api/v1`. */
export const catalogRoutes = (deps: CatalogDeps, basePath: string) =>
  new Elysia()
    .use(allModelsRoutes(deps, basePath))
    .use(partialListRoutes(deps, basePath))
    .use(oneModelRoutes(deps, basePath))
    .use(modelByIdRoutes(deps, basePath))
    .use(providerRoutes(deps))

// Lists are joined from JSON that was written before: checking them with a schema would take longer than the rest.
const allModelsRoutes = (deps: CatalogDeps, basePath: string) =>
  new Elysia().use(uncountedCallerOption(deps)).get(
    '/models',
    async ({ caller, query, request, set }) => {
      const form = formOf(request)
      if (form !== null) {
        set.headers['content-type'] = JSON_TYPE
        return JSON.stringify(form.page(deps.lists.callableBy(caller), queryOf(request)))
      }
      const now = deps.now()
      const popularity = await popularityFor(query.sort, deps.database.db, now)
      const models = sorted(filtered(deps.lists.all(), query, now), query.sort, {
        popularity,
        measurements: deps.measurements,
      })
      const page = pageOf(models, query, request, basePath)
      set.headers['content-type'] = isRss(query.use_rss) ? RSS_TYPE : JSON_TYPE
      if (!isRss(query.use_rss)) return page.json()
      const api = publicApi(request, deps.auth.site, basePath)
      return rssOf({ self: `${api}/models${new URL(request.url).search}`, api, models: page.models })
    },
    {
      caller: 'any',
      query: modelsQuery,
      detail: documented('listModels', 'List the models that can be called', {
        description:
          'One endpoint must have all of providers, zdr, region, distillable, supported_parameters and context; a model shows the endpoints that do. ' +
          "With the header `anthropic-version` the reply is a page of Anthropic's API (`limit`, `after_id`, `before_id`), with `x-goog-api-key` one of Google's (`pageSize`, `pageToken`): of the models that the key may call.",
        reply: modelList,
        alsoAs: [RSS_MEDIA],
      }),
    },
  )

/** Some of the models, and their number. */
const partialListRoutes = (deps: CatalogDeps, basePath: string) =>
  new Elysia()
    .use(uncountedCallerOption(deps))
    .get(
      '/models/user',
      ({ caller, query, request, set }) => {
        set.headers['content-type'] = JSON_TYPE
        const models = deps.lists.callableBy(caller).filter(outputTest(query.output_modalities))
        return pageOf(models, query, request, basePath).json()
      },
      {
        caller: 'any',
        query: outputPageQuery,
        detail: documented('listUserModels', 'List the models that this key may call', {
          description:
            "What guardrails forbid is left out, and models without a price where they are refused; what the workspace's own provider keys open is there.",
          reply: modelList,
        }),
      },
    )
    .get(
      '/embeddings/models',
      ({ query, request, set }) => {
        const models = deps.lists.all().filter(outputTest('embeddings'))
        set.headers['content-type'] = JSON_TYPE
        return pageOf(models, query, request, basePath).json()
      },
      {
        caller: 'any',
        query: pageQuery,
        detail: documented('listEmbeddingsModels', 'List the embedding models', {
          reply: modelList,
        }),
      },
    )
    .get(
      '/models/count',
      ({ query }) => ({
        data: { count: deps.lists.all().filter(outputTest(query.output_modalities)).length },
      }),
      {
        caller: 'any',
        query: outputQuery,
        response: {
          200: t.Object({ data: t.Object({ count: t.Number({ documented: { type: 'integer' } }) }) }),
        },
        detail: documented('countModels', 'Count the models that can be called'),
      },
    )

const oneModelRoutes = (deps: CatalogDeps, basePath: string) => {
  const named = (caller: Caller, { author, slug }: { author: string; slug: string }): Offered =>
    deps.lists.find(caller, `${author}/${slug}`)
  return new Elysia()
    .use(uncountedCallerOption(deps))
    .get(
      '/model/:author/:slug',
      ({ caller, params }) => ({ data: modelView(named(caller, params), basePath) }),
      {
        caller: 'any',
        params: modelParams,
        response: { 200: t.Object({ data: model }) },
        detail: documented('getModel', 'Get a model'),
      },
    )
    .get(
      '/models/:author/:slug/endpoints',
      ({ caller, params }) => ({ data: modelEndpointsView(named(caller, params), deps.measurements) }),
      {
        caller: 'any',
        params: modelParams,
        response: { 200: t.Object({ data: modelEndpoints }) },
        detail: documented('listEndpoints', 'List the endpoints of a model'),
      },
    )
    .get(
      '/models/:author/:slug/prices',
      async ({ caller, params, query }) => {
        const { id, name } = named(caller, params).model
        const at = query.at === undefined ? null : instantOf(query.at, 'at')
        return { data: { id, name, providers: await pricesOfModel(deps.database, id, at) } }
      },
      {
        caller: 'any',
        params: modelParams,
        query: pricesQuery,
        response: { 200: t.Object({ data: modelPrices }) },
        detail: documented('listPrices', 'What a model has cost here, from when on', {
          description:
            'The prices while it could be called here, to explain the cost of earlier generations.',
        }),
      },
    )
}

/**
 * `GET /models/{id}`. Ids have slashes, which the router takes in a wildcard alone; routes with more behind the id go
 * before it.
 */
const modelByIdRoutes = (deps: CatalogDeps, basePath: string) =>
  new Elysia().use(uncountedCallerOption(deps)).get(
    '/models/*',
    ({ caller, params, request, set }) => {
      const offered = deps.lists.find(caller, nameInPath(params['*']))
      set.headers['content-type'] = JSON_TYPE
      return JSON.stringify(formOf(request)?.one(offered) ?? modelView(offered, basePath))
    },
    { caller: 'any', detail: wildcard({ '/models/{id}': modelByIdOperation }) },
  )

const modelByIdOperation = documented('retrieveModel', "Get a model by its id (OpenAI's API)", {
  description:
    "With the header `anthropic-version` in Anthropic's form, with `x-goog-api-key` in Google's. GET /model/{author}/{slug} answers the same below `data`.",
  reply: model,
})

/** The lists of models for Google's clients, which ask below a prefix of their own. */
export const googleCatalogRoutes = (deps: CatalogDeps) =>
  new Elysia()
    .use(uncountedCallerOption(deps))
    .get(
      '/models',
      ({ caller, request }) =>
        Response.json(googleForm.page(deps.lists.callableBy(caller), queryOf(request))),
      { caller: 'any', detail: { hide: true } },
    )
    .get(
      '/models/*',
      ({ caller, params }) => Response.json(googleForm.one(deps.lists.find(caller, nameInPath(params['*'])))),
      { caller: 'any', detail: { hide: true } },
    )

const queryOf = (request: Request): URLSearchParams => new URL(request.url).searchParams

const providerRoutes = (deps: CatalogDeps) =>
  new Elysia()
    .use(uncountedCallerOption(deps))
    .get(
      '/endpoints/zdr',
      ({ query, request, set }) => {
        const status = endpointStatus(request)
        const models = deps.lists
          .all()
          .map((offered) => narrowed(offered, isZdr))
          .filter((offered) => offered !== null)
          .filter(outputTest(query.output_modalities))
        const data = models.flatMap((offered) =>
          offered.endpoints.map((endpoint) => endpointJson(offered, endpoint, deps.measurements, status)),
        )
        set.headers['content-type'] = JSON_TYPE
        return `{"data":[${data.join(',')}]}`
      },
      {
        caller: 'any',
        query: outputQuery,
        detail: documented('listEndpointsZdr', 'List the endpoints that are known to retain no data', {
          description: 'Those of the models of `/models?zdr=true`.',
          reply: t.Object({ data: t.Array(zdrEndpoint) }),
        }),
      },
    )
    .get(
      '/providers',
      () => {
        const snapshot = deps.snapshot.current()
        const { providersBySlug } = snapshot.shown ?? snapshot
        const isConfigured = (slug: string): boolean => snapshot.providersBySlug.has(slug)
        const data = [...providersBySlug.values()].map((one) => providerView(one, isConfigured(one.slug)))
        return { data }
      },
      {
        caller: 'any',
        response: { 200: t.Object({ data: t.Array(provider) }) },
        detail: documented('listProviders', 'List the providers that are configured'),
      },
    )

const isRss = (written: string | undefined): boolean =>
  written !== undefined && !['', '0', 'false'].includes(written.toLowerCase())
