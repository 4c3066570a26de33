import { Elysia, t } from 'elysia'
import { operationsOf } from '../../../http/operation.ts'
import { data, dataReply, deleted, deletedReply, noQuery } from '../../../http/schemas.ts'
import { type VisitorDeps, visitorOptions } from '../../../http/visitor.ts'
import { acceptInvitation } from '../organization/invitations.ts'
import type { AuthDeps } from './deps.ts'
import {
  acceptBody,
  emptyBody,
  passwordBody,
  sessionParams,
  sessionView,
  setupBody,
  signedIn,
  signInBody,
  signInMethods,
} from './schema.ts'
import { endSession, listSessions, type Opened } from './sessions.ts'
import { needsSetup, setUp } from './setup.ts'
import { actorOfSession, changePassword, signedInView, signIn, signOut } from './sign-in.ts'

const documented = operationsOf('Sign-in')
const whoEntered = dataReply(signedIn)

/** Signing in with passwords and links; sessions. Single sign-on is in `oidc/`. */
export const authRoutes = (deps: AuthDeps & VisitorDeps) =>
  new Elysia().use(enteringRoutes(deps)).use(sessionRoutes(deps))

async function methodsOf({ auth: { oidc, site }, database }: AuthDeps) {
  const start = `${site.address}/api/v1/auth/oidc/start`
  return {
    password: true,
    oidc: oidc === null ? null : { issuer: oidc.settings.issuer, start },
    needs_setup: await needsSetup(database),
  }
}

/** Sets the cookie of an opened session; the reply shows its person. */
function entered(
  deps: AuthDeps,
  set: { headers: Record<string, unknown> },
  { cookie, userId }: Opened & { userId: string },
) {
  set.headers['set-cookie'] = cookie
  return data(signedInView(deps, userId))
}

const enteringRoutes = (deps: AuthDeps & VisitorDeps) =>
  new Elysia()
    .use(visitorOptions(deps))
    .get('/auth/methods', () => methodsOf(deps), {
      response: { 200: signInMethods },
      detail: documented('listSignInMethods', 'List the ways to sign in', { access: 'anyone' }),
    })
    .post(
      '/auth/sign-in',
      async ({ visitor, body, set }) => entered(deps, set, await signIn(deps, visitor, body)),
      {
        visitor: true,
        body: signInBody,
        response: whoEntered,
        detail: documented('signIn', 'Sign in with a password', {
          description: 'Opens a session, in a cookie. Failures are counted by account and by address.',
          errors: [401, 403, 429],
          access: 'anyone',
        }),
      },
    )
    .post(
      '/auth/setup',
      async ({ visitor, body, set }) => entered(deps, set, await setUp(deps, visitor, body)),
      {
        visitor: true,
        body: setupBody,
        response: whoEntered,
        detail: documented(
          'setUpOwner',
          'Set the e-mail address and the password of the owner, with the token of a set-up link',
          { errors: [403, 404, 409], access: 'anyone' },
        ),
      },
    )
    .post(
      '/auth/accept-invitation',
      async ({ visitor, body, set }) => entered(deps, set, await acceptInvitation(deps, visitor, body)),
      {
        visitor: true,
        body: acceptBody,
        response: whoEntered,
        detail: documented(
          'acceptInvitation',
          'Become a member, or set a new password, with the token of a link',
          { errors: [403, 404], access: 'anyone' },
        ),
      },
    )

const sessionRoutes = (deps: AuthDeps & VisitorDeps) =>
  new Elysia()
    .use(visitorOptions(deps))
    .post(
      '/auth/sign-out',
      async ({ visitor, incoming, set }) => {
        set.headers['set-cookie'] = await signOut(deps, visitor, incoming)
        return { signed_out: true }
      },
      {
        visitor: true,
        body: emptyBody,
        response: { 200: t.Object({ signed_out: t.Boolean() }) },
        detail: documented('signOut', 'End the session of this request', {
          description: 'The reply is the same without one.',
          errors: [403],
          access: 'anyone',
        }),
      },
    )
    .get('/auth/session', ({ session }) => data(signedInView(deps, session.userId)), {
      signedIn: true,
      response: whoEntered,
      detail: documented('getSession', 'Get the signed-in person and what they can see', {
        access: 'session',
      }),
    })
    .get('/auth/sessions', ({ session }) => data(listSessions(deps, session.userId, session.id)), {
      signedIn: true,
      query: noQuery,
      response: dataReply(t.Array(sessionView)),
      detail: documented('listSessions', 'List your sessions', { access: 'session' }),
    })
    .delete(
      '/auth/sessions/:id',
      ({ session, visitor, params }) =>
        deleted(endSession(deps, actorOfSession(session, visitor), session.userId, params.id)),
      {
        signedIn: true,
        params: sessionParams,
        response: deletedReply,
        detail: documented('endSession', 'End one of your sessions', { access: 'session' }),
      },
    )
    .post(
      '/auth/password',
      async ({ session, visitor, body, set }) => {
        const opened = await changePassword(deps, visitor, session, body)
        return entered(deps, set, { ...opened, userId: session.userId })
      },
      {
        signedIn: true,
        body: passwordBody,
        response: whoEntered,
        detail: documented('changePassword', 'Change your password', {
          description: 'Ends all of your sessions and opens a new one here.',
          access: 'session',
        }),
      },
    )
