/** Route options for people: before sign-in, and with a session. */
import type { Actor } from '../core/actor.ts'
import type { Session } from '../core/caller.ts'
import { forbidden, unauthorized } from '../core/errors.ts'
import { whereFrom } from './actor.ts'
import { ADMIN_BODY_LIMIT, readJsonBody } from './body.ts'
import { type Incoming, routes } from './incoming.ts'
import { FOREIGN_PAGE, refuseForeignPage, type SessionSource } from './session.ts'
import { isSecure, pageOfOrigin, type Site } from './site.ts'

/** A client that is not authenticated yet. */
export interface Visitor extends Pick<Actor, 'requestId' | 'address' | 'userAgent'> {
  readonly isSecure: boolean
  readonly traceId: string
}

export interface VisitorDeps {
  sessions: SessionSource
  auth: { readonly site: Site }
  /** The client's address; null if unknown. */
  addressOf(incoming: Incoming): string | null
}

const visitorOf = (deps: VisitorDeps, incoming: Incoming): Visitor => ({
  ...whereFrom(incoming, deps.addressOf(incoming)),
  isSecure: isSecure(incoming.request, deps.auth.site),
  traceId: incoming.trace.traceId,
})

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/**
 * The route options `visitor: true` (no credential; adds `visitor`) and `signedIn: true` (401 without a session; adds
 * `session` and `visitor`). Requests from pages of other sites get a 403 before the body is read: such a page could sign
 * a person in under another account.
 */
export const visitorOptions = (deps: VisitorDeps) => {
  const refuseStranger = (request: Request): void => {
    if (request.method !== 'GET' && pageOfOrigin(request, deps.auth.site) === 'foreign')
      throw forbidden(FOREIGN_PAGE)
  }
  const sessionOf = async (incoming: Incoming): Promise<Session> => {
    const session = await deps.sessions.of(incoming)
    if (session === null) throw unauthorized('Sign in first: the request has no valid session')
    refuseForeignPage(deps.sessions, incoming.request)
    return session
  }
  // The body may be missing: signing out needs none.
  const read = async (incoming: Incoming) => {
    const { request } = incoming
    if (!METHODS_WITH_BODY.has(request.method)) return null
    return request.body === null ? {} : await readJsonBody(incoming, ADMIN_BODY_LIMIT)
  }
  return routes({ name: 'visitor' }).macro({
    visitor: (_: true) => ({
      async parse({ incoming }: { incoming: Incoming }) {
        refuseStranger(incoming.request)
        return await read(incoming)
      },
      transform: ({ incoming }: { incoming: Incoming }) => refuseStranger(incoming.request),
      resolve: ({ incoming }: { incoming: Incoming }) => ({ visitor: visitorOf(deps, incoming) }),
    }),
    signedIn: (_: true) => ({
      async parse({ incoming }: { incoming: Incoming }) {
        await sessionOf(incoming)
        return await read(incoming)
      },
      async transform({ incoming }: { incoming: Incoming }) {
        await sessionOf(incoming)
      },
      resolve: async ({ incoming }: { incoming: Incoming }) => ({
        session: await sessionOf(incoming),
        visitor: visitorOf(deps, incoming),
      }),
    }),
  })
}
