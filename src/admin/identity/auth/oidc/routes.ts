import { Elysia } from 'elysia'
import { operationsOf } from '../../../../http/operation.ts'
import { type VisitorDeps, visitorOptions } from '../../../../http/visitor.ts'
import type { AuthDeps } from '../deps.ts'
import { oidcCallbackQuery, oidcStartQuery } from '../schema.ts'
import { endFlowCookie } from './flow.ts'
import { beginOidc, endOidc } from './service.ts'

const documented = operationsOf('Sign-in')

/** Where browsers go to the identity provider and come back from it. */
export const oidcRoutes = (deps: AuthDeps & VisitorDeps) =>
  new Elysia()
    .use(visitorOptions(deps))
    .get(
      '/auth/oidc/start',
      async ({ visitor, query, redirect, set }) => {
        const { url, cookie } = await beginOidc(deps, visitor, query.return_to ?? null)
        set.headers['set-cookie'] = cookie
        return redirect(url, 303)
      },
      {
        visitor: true,
        query: oidcStartQuery,
        detail: documented('startSingleSignOn', 'Send the browser to the identity provider', {
          status: 303,
          errors: [404, 502],
          access: 'anyone',
        }),
      },
    )
    .get(
      '/auth/oidc/callback',
      async ({ visitor, query, request, redirect, set }) => {
        const over = endFlowCookie(deps.auth.site, visitor.isSecure)
        const { url, cookie } = await endOidc(deps, visitor, request, query)
        set.headers['set-cookie'] = [cookie, over]
        return redirect(url, 303)
      },
      {
        visitor: true,
        query: oidcCallbackQuery,
        detail: documented('endSingleSignOn', 'Take the browser back from the identity provider', {
          description: 'With a session, to the path that the start named.',
          status: 303,
          errors: [401, 403, 404, 502],
          access: 'anyone',
        }),
      },
    )
