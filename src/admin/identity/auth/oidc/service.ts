import { sql } from 'drizzle-orm'
import { badRequest, GatewayError, notFound, unauthorized } from '../../../../core/errors.ts'
import type { JsonObject } from '../../../../core/events.ts'
import { isTaken, requireThat } from '../../../../db/database.ts'
import { cookiePath } from '../../../../http/site.ts'
import type { Visitor } from '../../../../http/visitor.ts'
import { change } from '../../../change.ts'
import type { AuthDeps } from '../deps.ts'
import type { OidcCallbackQuery } from '../schema.ts'
import { type Opened, openSession } from '../sessions.ts'
import { actorOfUser } from '../sign-in.ts'
import type { OidcClient, OidcSettings } from './client.ts'
import { flowCookie, flowOf, newFlow, redirectUri } from './flow.ts'
import { arrivalOf } from './person.ts'

/** Sends the browser to the identity provider. `cookie` proves later that it was this browser. */
export async function beginOidc(
  deps: AuthDeps,
  visitor: Visitor,
  returnTo: string | null,
): Promise<{ url: string; cookie: string }> {
  const { site } = deps.auth
  const flow = newFlow(returnTo ?? `${cookiePath(site).replace(/\/$/, '')}/`, deps.now())
  const url = await clientOf(deps).authorizationUrl(flow, redirectUri(site))
  return { url, cookie: flowCookie(flow, deps.sealer, site, visitor.isSecure) }
}

/**
 * Signs in the person that the identity provider sends back. Throws a `GatewayError`: 400 for a browser that did not
 * begin this, 401 for an invalid proof, 403 for a person whom the settings exclude, 502 for a failing provider.
 */
export async function endOidc(
  deps: AuthDeps,
  visitor: Visitor,
  request: Request,
  query: OidcCallbackQuery,
): Promise<Opened & { url: string }> {
  const client = clientOf(deps)
  const { site } = deps.auth
  const flow = flowOf(request, query.state ?? '', deps.sealer, deps.now())
  if (!client.takes(flow.state, flow.expiresAt))
    throw badRequest('This sign-in has already ended: start again')
  if (query.error !== undefined) throw unauthorized('The identity provider refused this sign-in')
  if (query.code === undefined) throw badRequest('is missing', 'query parameter code')
  const { code, iss } = query
  const claims = await logged(deps, visitor, () =>
    client.redeem({ code, iss, state: flow.state }, flow, redirectUri(site)),
  )
  const opened = await enter(deps, visitor, client.settings, claims)
  return { ...opened, url: new URL(site.address).origin + flow.returnTo }
}

async function enter(
  deps: AuthDeps,
  visitor: Visitor,
  settings: OidcSettings,
  claims: JsonObject,
): Promise<Opened> {
  const arrival = await arrivalOf(deps, settings, claims)
  const opened = openSession(deps, visitor, arrival.user.id)
  const entered = {
    action: 'session.begin',
    resourceId: opened.id,
    workspaceId: null,
    after: { user_id: arrival.user.id, method: 'oidc' },
  } as const
  try {
    await change(deps, actorOfUser(arrival.user, visitor), [...arrival.changes, entered], (tx) => [
      requireThat(tx, sql`(select deleted_at from users where id = ${arrival.user.id}) is null`, () =>
        unauthorized('You were removed from the organisation'),
      ),
      ...arrival.writes(tx),
      ...opened.writes(tx),
    ])
  } catch (thrown) {
    // Another sign-in of the same person stored them first: now they are known.
    if (isTaken(thrown, 'email') || isTaken(thrown, 'subject'))
      return await enter(deps, visitor, settings, claims)
    throw thrown
  }
  return opened
}

function clientOf({ auth }: AuthDeps): OidcClient {
  if (auth.oidc === null) throw notFound('Single sign-on is not set up here')
  return auth.oidc
}

/** Logs why a proof failed. The reply does not say it: an attacker may read it. */
async function logged<T>(deps: AuthDeps, visitor: Visitor, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof GatewayError && error.status < 500) {
      const why = error.cause instanceof Error ? error.cause.message : error.message
      deps.log.warn(
        { request_id: visitor.requestId, trace_id: visitor.traceId, address: visitor.address, why },
        'a single sign-on failed',
      )
    }
    throw error
  }
}
