import { runScenarios } from '../scenario.ts'
import { PASSWORD } from './people.ts'
import { OWNER, startSignIn } from './sign-in.ts'

const admin = startSignIn()

runScenarios('refusals', () => admin.handler, [
  {
    name: 'the session without a session',
    path: '/v1/auth/session',
    status: 401,
    contains: ['Sign in first'],
  },
  { name: 'the list of sessions without a session', path: '/v1/auth/sessions', status: 401 },
  {
    name: 'ending a session without a session',
    method: 'DELETE',
    path: `/v1/auth/sessions/${'0'.repeat(64)}`,
    status: 401,
  },
  {
    name: 'a password without a session',
    method: 'POST',
    path: '/v1/auth/password',
    body: '{ malformed',
    status: 401,
  },
  {
    name: 'a malformed cookie',
    path: '/v1/auth/session',
    headers: { cookie: 'sluice_session=abc' },
    status: 401,
  },
  {
    name: 'administration with an unknown cookie',
    path: '/v1/keys',
    headers: { cookie: `sluice_session=${'a'.repeat(43)}` },
    status: 401,
  },
  {
    name: 'a malformed address',
    method: 'POST',
    path: '/v1/auth/sign-in',
    body: { email: 'nobody', password: 'x' },
    status: 400,
    contains: ['email', 'an e-mail address'],
  },
  {
    name: 'an unknown field',
    method: 'POST',
    path: '/v1/auth/sign-in',
    body: { email: OWNER, password: 'canary-password-in-body', remember: true },
    status: 400,
    contains: ['remember'],
    absent: ['canary'],
  },
  {
    name: 'a password of the wrong type',
    method: 'POST',
    path: '/v1/auth/sign-in',
    body: { email: OWNER, password: ['canary-password-in-body'] },
    status: 400,
    contains: ['password'],
    absent: ['canary'],
  },
  { name: 'a malformed body', method: 'POST', path: '/v1/auth/sign-in', body: '{', status: 400 },
  {
    name: 'a set-up with a short password',
    method: 'POST',
    path: '/v1/auth/setup',
    body: { token: 't', email: OWNER, password: 'short' },
    status: 400,
    contains: ['password'],
    absent: ['short"'],
  },
  {
    name: 'a set-up with a made-up token',
    method: 'POST',
    path: '/v1/auth/setup',
    body: { token: 'made-up-token', email: OWNER, password: PASSWORD },
    status: 404,
    absent: ['made-up-token'],
  },
  {
    name: 'single sign-on without settings',
    path: '/v1/auth/oidc/start',
    status: 404,
    contains: ['not set up'],
  },
  {
    name: 'the methods of signing in',
    path: '/v1/auth/methods',
    status: 200,
    json: { password: true, oidc: null },
  },
])
