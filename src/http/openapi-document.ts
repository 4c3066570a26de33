/**
 * The API document. `@elysiajs/swagger` reads the routes and their schemas; its output is not valid (3.0 with TypeBox's
 * keywords, replies without descriptions, duplicate routes), so this file converts it to OpenAPI 3.1.
 */
import { Elysia } from 'elysia'
import type { JsonObject } from '../core/events.ts'
import { asList } from '../core/json.ts'
import { isJsonObject, objectOf } from './json.ts'
import { schemaOf31 } from './openapi-schema.ts'
import { IDEMPOTENCY_KEY_HEADER, REFUSAL_HEADERS } from './operation.ts'
import { DOCUMENTED_PREFIX } from './prefixes.ts'
import { refusalsOf } from './refusals.ts'
import { errorReply } from './schemas.ts'

export interface DocumentedRoute {
  readonly method: string
  readonly path: string
  readonly hooks: unknown
}

export interface DocumentOptions {
  /** All routes of the server; those outside `<prefix>/api/v1` are omitted. */
  routes: readonly DocumentedRoute[]
  /** '' or '/…'. */
  basePath: string
  version: string
}

/** The document, valid OpenAPI 3.1. Throws if two operations have the same id. */
export async function apiDocument({ routes, basePath, version }: DocumentOptions): Promise<JsonObject> {
  const prefix = basePath + DOCUMENTED_PREFIX
  const raw = await rawDocument(routes, prefix)
  const paths = pathsOf(withWildcards(objectOf(raw['paths']), routes, prefix))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      summary: 'A self-hosted AI model gateway',
      description:
        'Inference through any configured provider, and the administration of keys, usage and limits. ' +
        'Every operation takes a key as a bearer token; administration takes a management key.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: prefix }],
    security: [{ apiKey: [] }],
    tags: tagsOf(paths).map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An inference key or a management key.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'sluice_session',
          description:
            'The session of a signed-in person. Over https at the root the name of the cookie begins with `__Host-`. ' +
            'Administration accepts it instead of a management key, from pages of this server.',
        },
      },
      schemas: { Error: schemaOf31(errorReply) },
    },
  }
}

/** The generator's output for the routes below `prefix`. */
async function rawDocument(routes: readonly DocumentedRoute[], prefix: string): Promise<JsonObject> {
  // Loaded on the first request of the document, so that the start does not wait for it.
  const { swagger } = await import('@elysiajs/swagger')
  const documented = new Elysia()
  for (const { method, path, hooks } of routes) {
    if (path.startsWith(`${prefix}/`))
      documented.route(method, path.slice(prefix.length), () => '', bare(hooks))
  }
  documented.use(swagger({ path: '/-', specPath: '/-/document' }))
  const response = await documented.handle(new Request('http://localhost/-/document'))
  return objectOf(await response.json())
}

/** The parts of a route's options that the generator reads. Others would run hooks again. */
function bare(hooks: unknown): JsonObject {
  const { body, query, params, response, detail } = objectOf(hooks)
  return Object.fromEntries(
    Object.entries({ body, query, params, response, detail }).filter(([, value]) => value !== undefined),
  )
}

/** The operations that wildcard routes serve, each under its own path. */
function withWildcards(raw: JsonObject, routes: readonly DocumentedRoute[], prefix: string): JsonObject {
  const paths: JsonObject = { ...raw }
  for (const { method, path, hooks } of routes) {
    if (!path.startsWith(`${prefix}/`)) continue
    const operations = objectOf(objectOf(objectOf(hooks)['detail'])['x-documented-as'])
    for (const [shown, detail] of Object.entries(operations)) {
      const parameters = [...shown.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
        name,
        in: 'path',
        schema: { type: 'string', description: 'With slashes, plain or percent-encoded.' },
      }))
      paths[shown] = {
        ...objectOf(paths[shown]),
        [method.toLowerCase()]: { ...objectOf(detail), parameters },
      }
    }
  }
  return paths
}

function pathsOf(raw: JsonObject): JsonObject {
  const seen = new Set<string>()
  const paths: JsonObject = {}
  for (const [path, methods] of Object.entries(raw)) {
    const operations = Object.entries(objectOf(methods)).map(([method, value]) => {
      const operation = operationOf(objectOf(value))
      const id = String(operation['operationId'])
      if (seen.has(id)) throw new Error(`two operations of the API document have the id ${id}`)
      seen.add(id)
      return [method, operation]
    })
    paths[path] = Object.fromEntries(operations)
  }
  return paths
}

function operationOf(raw: JsonObject): JsonObject {
  const { parameters, requestBody, responses, 'x-shapes': shapes, ...rest } = raw
  const {
    body,
    form,
    reply,
    media,
    streams,
    headers,
    replyHeaders,
    error,
    status,
    access,
    errors,
    asksProvider,
    alsoAs,
  } = objectOf(shapes)
  const bodySchema = body ?? jsonSchemaOf(requestBody)
  const bodyContent = { ...(bodySchema === undefined ? {} : jsonContent(bodySchema)), ...formContent(form) }
  const replySchema = reply ?? jsonSchemaOf(objectOf(responses)['200'])
  const allParameters = [...asList(parameters).map(parameterOf), ...asList(headers).map(headerOf)]
  const refusals = refusalsOf({
    access,
    hasBody: Object.keys(bodyContent).length > 0,
    hasPathParameter: allParameters.some((parameter) => parameter['in'] === 'path'),
    isIdempotent: allParameters.some(({ name }) => name === IDEMPOTENCY_KEY_HEADER.name),
    asksProvider: asksProvider === true,
    further: asList(errors).map(Number),
  })
  return {
    ...rest,
    parameters: allParameters,
    ...(Object.keys(bodyContent).length === 0
      ? {}
      : { requestBody: { required: true, content: bodyContent } }),
    responses: {
      ...(status === 303
        ? { 303: { description: 'A redirect' } }
        : {
            [typeof status === 'number' ? status : 200]: {
              description: 'Success',
              ...(replyHeaders === undefined ? {} : { headers: replyHeaders }),
              content: Array.isArray(media)
                ? mediaContent(media)
                : { ...replyContent(replySchema, streams === true), ...mediaContent(asList(alsoAs)) },
            },
          }),
      ...Object.fromEntries(refusals.map((refusal) => [String(refusal), errorOf(refusal, error)])),
    },
  }
}

function parameterOf(value: unknown): JsonObject {
  const { name, in: place, required, schema, description } = objectOf(value)
  return {
    name,
    in: place,
    required: place === 'path' || required === true,
    ...(description === undefined ? {} : { description }),
    schema: schemaOf31(schema),
  }
}

const headerOf = (value: unknown): JsonObject => ({ ...objectOf(value), in: 'header', required: false })

/** The generator lists three content types for each body; Sluice reads and writes only JSON. */
function jsonSchemaOf(holder: unknown): unknown {
  const content = objectOf(objectOf(holder)['content'])
  return objectOf(content['application/json'])['schema']
}

const formContent = (schema: unknown): JsonObject =>
  schema === undefined ? {} : { 'multipart/form-data': { schema: schemaOf31(schema) } }

const jsonContent = (schema: unknown): JsonObject => ({ 'application/json': { schema: schemaOf31(schema) } })

const mediaContent = (types: readonly unknown[]): JsonObject =>
  Object.fromEntries(types.map((type) => [String(type), { schema: { type: 'string', format: 'binary' } }]))

const replyContent = (schema: unknown, streams: boolean): JsonObject => ({
  ...jsonContent(isJsonObject(schema) ? schema : {}),
  ...(streams
    ? { 'text/event-stream': { schema: { type: 'string', description: 'Server-sent events.' } } }
    : {}),
})

const REASONS: Readonly<Record<number, string>> = {
  400: 'The request is invalid: the message names the field and what is allowed',
  401: 'Missing or invalid API key',
  402: 'A spending limit is reached',
  403: 'This kind of key may not call the operation, or a rule forbids it',
  404: 'Not found',
  408: 'The request body took too long to arrive',
  409: 'The request conflicts with another change: retry it',
  413: 'The request body is too large',
  429: 'Too many requests: retry after the seconds in Retry-After',
  500: 'Internal error',
  502: 'The provider failed',
  503: 'The gateway or every provider is unavailable: retry later',
  524: 'The provider did not answer in time',
  529: 'The provider is overloaded',
}

/** `form`: the schema of errors that are not in the envelope. */
const errorOf = (status: number, form: unknown): JsonObject => ({
  description: REASONS[status] ?? 'Error',
  ...(REFUSAL_HEADERS[status] === undefined ? {} : { headers: { ...REFUSAL_HEADERS[status] } }),
  content: isJsonObject(form)
    ? jsonContent(form)
    : { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

const tagsOf = (paths: JsonObject): string[] => [
  ...new Set(
    Object.values(paths)
      .flatMap((methods) => Object.values(objectOf(methods)))
      .flatMap((operation) => asList(objectOf(operation)['tags']).map(String)),
  ),
]
