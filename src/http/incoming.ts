/** A request, from its arrival to its line in the access log. */
import { Elysia, type ElysiaConfig } from 'elysia'
import type { Session } from '../core/caller.ts'
import { newRequestId } from '../core/ids.ts'
import type { Refusal } from '../core/refusal.ts'
import { newTrace, readTraceparent, type TraceContext } from '../core/trace-context.ts'
import type { BodyLease } from './body-budget.ts'
import { pathOf } from './path.ts'

/** The connection of a request; `Bun.Server` implements it. */
export interface Connection {
  timeout(request: Request, seconds: number): void
  requestIP(request: Request): { readonly address: string } | null
}

/** Created once, with every field. Only the module named in a field's comment changes it. */
export interface Incoming {
  readonly request: Request
  readonly connection: Connection | undefined
  /** The same in `x-request-id`, in the log and in the generation record. */
  readonly id: string
  /** The undecoded path without the query. */
  readonly path: string
  /** Milliseconds by the clock of `performance.now()`. */
  readonly arrivedAt: number
  /** Its share of the memory of request bodies. */
  readonly body: BodyLease
  /** By its headers, until the body names another; `request/receive.ts`. */
  trace: TraceContext
  /** Label of the key that it was authenticated by; `caller.ts`. */
  keyLabel: string | null
  /** Slug of that key's workspace; `caller.ts`. */
  workspace: string | null
  /** The model that the request names, in its words ('': none); null: no inference route has read it; `request/` and `pipeline.ts`. */
  model: string | null
  /** Why the gateway refused it; `envelope.ts`. */
  refusal: Refusal | null
  /** Where its fault is, such as `messages[0].role`; `envelope.ts`. */
  param: string | null
  /** The person whose session sent the request; set in `caller.ts`. */
  userId: string | null
  /** The session of its cookie; undefined until it is looked up; `SessionSource`. */
  session: Session | null | undefined
  /** Whether the rate limit of administration has counted it; `rate-limit.ts`. */
  isCounted: boolean
  /** JSON members of its settled generation, for its line; '' before the settlement; `access-log.ts`. */
  settled: string
  /** Whether its generation writes the line, after the reply; `access-log.ts`. */
  isDeferred: boolean
  /** Whether its line is written or dropped; `access-log.ts`. */
  isClosed: boolean
  /** True if its reply was created with the common headers; `reply-headers.ts`. */
  isHeaded: boolean
  /** Whether its connection has no idle timeout; `keepOpen`. */
  isKeptOpen: boolean
}

export const openIncoming = (request: Request, body: BodyLease, connection?: Connection): Incoming =>
  incomingOf(newRequestId(), request, body, connection)

const incomingOf = (
  id: string,
  request: Request,
  body: BodyLease,
  connection: Connection | undefined,
): Incoming => ({
  request,
  connection,
  id,
  path: pathOf(request.url),
  arrivedAt: performance.now(),
  body,
  trace: traceOf(request.headers, id),
  keyLabel: null,
  workspace: null,
  model: null,
  refusal: null,
  param: null,
  userId: null,
  session: undefined,
  isCounted: false,
  settled: '',
  isDeferred: false,
  isClosed: false,
  isHeaded: false,
  isKeptOpen: false,
})

function traceOf(headers: Headers, requestId: string): TraceContext {
  const traceparent = headers.get('traceparent')
  const trace = traceparent === null ? null : readTraceparent(traceparent, headers.get('tracestate'))
  return trace ?? newTrace(requestId)
}

/** Lifts the server's idle timeout once the request has been read: its reply may be silent for longer. */
export function keepOpen(incoming: Incoming): void {
  incoming.isKeptOpen = true
  incoming.connection?.timeout(incoming.request, 0)
}

/** More than the 60 to 90 s after which proxies and clients close idle connections: the side that sends requests closes first. */
const IDLE_SECONDS = 120

/**
 * Ends `keepOpen`: from now on the connection closes if the client neither reads its reply nor sends a request, which would
 * hold the reply in memory. Keep-alives of streams count as traffic.
 */
export function limitIdle(incoming: Incoming): void {
  if (!incoming.isKeptOpen) return
  incoming.isKeptOpen = false
  incoming.connection?.timeout(incoming.request, IDLE_SECONDS)
}

/** Additions to the context of every route. */
interface WithIncoming {
  decorator: { incoming: Incoming }
  store: Record<never, never>
  derive: Record<never, never>
  resolve: Record<never, never>
}

/** Routes to be used by an application of `createApplication`. */
export const routes = <const Prefix extends string = ''>(config?: ElysiaConfig<Prefix>) =>
  new Elysia<Prefix, WithIncoming>(config)

/** The hooks of a route that reads its body itself. */
export const readsBody = <Detail extends object>(detail: Detail) => ({ parse: 'none', detail }) as const

/**
 * The root application, and the only way to call it. Elysia creates the context and calls the hook synchronously in
 * `fetch`, so that no other request can interleave.
 */
export function createApplication(basePath: string) {
  let arriving: Incoming | null = null
  const app = routes({ prefix: basePath, normalize: false, handler: { standardHostname: false } }).onRequest(
    (context) => {
      if (arriving !== null) context.incoming = arriving
      arriving = null
    },
  )
  return {
    app,
    answer(incoming: Incoming): Response | Promise<Response> {
      arriving = incoming
      return app.fetch(incoming.request)
    },
  }
}
