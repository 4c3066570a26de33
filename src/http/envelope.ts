/**
 * The one place that builds error bodies: `{error: {code, message, metadata?}}`, or the form of the API that the route
 * belongs to.
 */
import { Kind, type TSchema, Type } from '@sinclair/typebox'
import type { ValidationError } from 'elysia'
import {
  type Availability,
  badRequest,
  GatewayError,
  NEVER_RETRY,
  notFound,
  storageFailure,
} from '../core/errors.ts'
import type { JsonObject } from '../core/events.ts'
import type { PublicError, RoutingMetadata } from '../core/result.ts'
import type { Incoming, routes } from './incoming.ts'
import { allowedMethods } from './methods.ts'
import { JSON_TYPE, replyHeaders, traceresponseOf } from './reply-headers.ts'
import { printable, problemsOf } from './validation.ts'

/** The log for private causes of errors. */
export interface ErrorLog {
  error(fields: object, message: string): void
}

interface ErrorBody {
  error: {
    code: number
    message: string
    metadata?: Record<string, unknown>
    availability?: Availability
  }
  service_metadata?: RoutingMetadata
  openrouter_metadata?: RoutingMetadata
}

/** `code` is the HTTP status. The routing metadata is next to `error`, under both names (api-surface §19). */
function errorBody(error: GatewayError): ErrorBody {
  const { status: code, message, metadata, availability, routing } = error
  return {
    error: { code, message, ...(metadata && { metadata }), ...(availability && { availability }) },
    ...(routing && { service_metadata: routing, openrouter_metadata: routing }),
  }
}

/** The body of an error in another API's form, without the routing metadata. */
type ErrorForm = (error: PublicError, requestId: string) => JsonObject

/** The form that the errors of a request have; undefined: the envelope. */
export type FormOf = (request: Request) => ErrorForm | undefined

/** The complete reply for a failure, with the headers of the error. */
export function errorResponse(error: GatewayError, incoming: Incoming, formOf?: FormOf): Response {
  const { id, request } = incoming
  const { status, message, metadata, routing } = error
  incoming.refusal = error.refusal ?? null
  incoming.param = error.param ?? null
  const ownHeaders = { ...(isPermanent(status) ? NEVER_RETRY : {}), ...error.headers }
  const headers = Object.assign(replyHeaders(incoming, JSON_TYPE), ownHeaders)
  headers['traceresponse'] ??= traceresponseOf(incoming)
  const form = formOf?.(request)
  if (form === undefined) return Response.json(errorBody(error), { status, headers })
  const body = {
    ...form({ status, message, headers: ownHeaders, ...(metadata && { metadata: { ...metadata } }) }, id),
    ...(routing && { service_metadata: routing, openrouter_metadata: routing }),
  }
  headers['request-id'] = id
  return Response.json(body, { status, headers })
}

/**
 * True if a retry would be rejected too. SDKs retry a 409 automatically, and agents retry a 401 for minutes. A status of
 * 500 or more is permanent only if its error says so.
 */
const isPermanent = (status: number): boolean =>
  status >= 400 && status < 500 && ![408, 425, 429].includes(status)

/** The public error of any thrown value: a `GatewayError` itself, 503 for a full disk, else a plain 500. */
export const publicError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError
    ? thrown
    : (storageFailure(thrown) ??
      new GatewayError(500, 'Internal server error: the cause is in the log, under this request id', {
        cause: thrown,
      }))

/** Logs the private cause, if the error has one. */
export function logFailure(log: ErrorLog, error: GatewayError, { id, trace }: Incoming): void {
  if (error.cause === undefined || error.status < 500) return
  log.error(
    { err: error.cause, request_id: id, trace_id: trace.traceId, status: error.status },
    error.message,
  )
}

/**
 * Replies to every failure with the envelope, or in the form of its route. Registered on the root application before any
 * route, so that it also covers unknown routes and wrong methods.
 */
export const errorEnvelope =
  (log: ErrorLog, { formOf, routedPath = (path) => path }: EnvelopeOptions = {}) =>
  (app: ReturnType<typeof routes>) =>
    app.onError({ as: 'global' }, ({ code, error, incoming, path }) => {
      const methods = () => allowedMethods(app.routes, routedPath(path))
      const failure = failureOf(code, error, incoming.request, path, methods)
      logFailure(log, failure, incoming)
      return errorResponse(failure, incoming, formOf)
    })

export interface EnvelopeOptions {
  /** Routes whose errors have a form of their own. */
  formOf?: FormOf
  /** Maps a path to its path in the table of routes; default: itself. */
  routedPath?: (path: string) => string
}

function failureOf(
  code: unknown,
  error: unknown,
  request: Request,
  path: string,
  methods: () => readonly string[],
): GatewayError {
  if (error instanceof GatewayError) return error
  if (isValidationError(code, error)) return invalid(error)
  switch (code) {
    case 'PARSE':
      return parseFailure(error)
    case 'NOT_FOUND':
      return noRoute(request, path, methods())
    case 'INVALID_FILE_TYPE':
      return badRequest('A file in the request is not of an allowed type')
    case 'INVALID_COOKIE_SIGNATURE':
      return badRequest('A cookie of the request has a wrong signature')
    default:
      return publicError(error)
  }
}

/**
 * Elysia wraps errors that are thrown while parsing, where callers are also authenticated. Anything other than a
 * `GatewayError` or a parse error is an internal error.
 */
function parseFailure(error: unknown): GatewayError {
  const cause = error instanceof Error ? error.cause : undefined
  const isOfTheBody = cause === undefined || cause instanceof SyntaxError
  return isOfTheBody ? badRequest('The request body is malformed JSON') : publicError(cause)
}

function noRoute({ method, headers }: Request, path: string, allowed: readonly string[]): GatewayError {
  const route = `${printable(method)} ${printable(path)}`
  if (allowed.length === 0) return notFound(`There is no ${route} here`)
  const allow = allowed.join(', ')
  const methods = `allowed on this path: ${allow}`
  // Codex asks for a WebSocket first. It turns to HTTP at once after a 426, and only after seven attempts otherwise.
  if (headers.get('upgrade')?.toLowerCase() === 'websocket') {
    return new GatewayError(426, `There are no WebSockets here, use HTTP: ${methods}`, {
      headers: { allow, upgrade: 'HTTP/1.1' },
    })
  }
  return new GatewayError(405, `There is no ${route} here: ${methods}`, { headers: { allow } })
}

const isValidationError = (code: unknown, error: unknown): error is Readonly<ValidationError> =>
  code === 'VALIDATION' && error instanceof Error && 'validator' in error

const PLACES: Readonly<Record<string, string>> = {
  query: 'query parameter ',
  params: 'path parameter ',
  headers: 'header ',
  cookie: 'cookie ',
}

// Elysia's own message repeats the value (headers with secrets, too), so it is never used.
function invalid(error: Readonly<ValidationError>): GatewayError {
  const problems = problemsOf(schemaOf(error.validator), error.value, PLACES[error.type] ?? '')
  if (error.type !== 'response') return badRequest(problems)
  return publicError(new Error(`A reply does not have its declared form: ${problems}`))
}

// Elysia hands over the compiled check with its schema, or the bare schema.
function schemaOf(validator: object): TSchema {
  const schema = 'schema' in validator ? validator.schema : validator
  return isSchema(schema) ? schema : Type.Unknown()
}

const isSchema = (value: unknown): value is TSchema =>
  typeof value === 'object' && value !== null && Kind in value
