/** A request from the door to its line in the log. */
import { Elysia, type ElysiaConfig } from 'elysia'
import type { Session } from '../core/caller.ts'
import { newRequestId } from '../core/ids.ts'
import type { BodyLease } from './body-budget.ts'
import { pathOf } from './path.ts'

/** What the listening server knows of a request's connection, and can do with it: `Bun.Server` has both. */
export interface Connection {
  timeout(request: Request, seconds: number): void
  requestIP(request: Request): { readonly address: string } | null
}

/** Made once, with every field. Each field that changes belongs to the one module that its comment names. */
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
  /** Label of the key that it was authenticated by; `caller.ts`. */
  keyLabel: string | null
  /** The person whose session it came with; `caller.ts`. */
  userId: string | null
  /** Of its cookie; undefined until it is looked up; the `SessionSource`. */
  session: Session | null | undefined
  /** Whether the rate limit of administration has counted it; `rate-limit.ts`. */
  isCounted: boolean
  /** JSON members of its settled generation, for its line; ''; none is settled; `access-log.ts`. */
  settled: string
  /** Whether its generation writes the line, after the reply; `access-log.ts`. */
  isDeferred: boolean
  /** Whether its line is written or dropped; `access-log.ts`. */
  isClosed: boolean
  /** Whether its reply was made with the headers that every reply has; `reply-headers.ts`. */
  isHeaded: boolean
}

export const openIncoming = (request: Request, body: BodyLease, connection?: Connection): Incoming => ({
  request,
  connection,
  id: newRequestId(),
  path: pathOf(request.url),
  arrivedAt: performance.now(),
  body,
  keyLabel: null,
  userId: null,
  session: undefined,
  isCounted: false,
  settled: '',
  isDeferred: false,
  isClosed: false,
  isHeaded: false,
})

/** Lifts the server's idle timeout once the request has been read: its reply may be silent for longer. */
export const keepOpen = ({ connection, request }: Incoming): void => connection?.timeout(request, 0)

/** Our additions to the context of every route. */
interface WithIncoming {
  decorator: { incoming: Incoming }
  store: Record<never, never>
  derive: Record<never, never>
  resolve: Record<never, never>
}

/** Routes to be used by an application of `createApplication`. */
export const routes = <const Prefix extends string = ''>(config?: ElysiaConfig<Prefix>) =>
  new Elysia<Prefix, WithIncoming>(config)

/**
 * The root of all routes, and the one way to call it. Elysia makes the context and calls the hook in the turn in which
 * `fetch` is called, so that no other request can come between.
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
