import { expect, test } from 'bun:test'
import { ensureOwner } from '../../src/admin/identity/organization/owner.ts'
import { createApp } from '../../src/app.ts'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { startGateway } from '../gateway.ts'
import { call, type Reply } from '../scenario.ts'
import { dataOf, join, listOf, manage as manageAt, openBrowser, PASSWORD } from './people.ts'

/** A link signs one person in once, and not at all once it has expired or was replaced. */

const gateway = await gatewayOfFile()
const handler = createApp(gateway.deps)

const manage = (method: string, path: string, body?: unknown) => manageAt(handler, method, path, body)
const accept = (token: unknown, password = PASSWORD): Promise<Reply> =>
  call(handler, { method: 'POST', path: '/v1/auth/accept-invitation', body: { token, password } })
const passwordLink = async (id: string): Promise<unknown> =>
  objectOf((await manage('POST', `/organization/members/${id}/password-link`, {})).json)['token']
const SESSION = { path: '/api/v1/auth/session' }

test('a password link of a removed member does not sign in', async () => {
  const { id } = await join(() => handler, 'leaves@example.org', 'org:admin')
  const token = await passwordLink(id)
  expect((await manage('DELETE', `/organization/members/${id}`)).status).toBe(200)
  expect((await accept(token)).status).toBe(404)
  const emails = listOf(await manage('GET', '/organization/members?limit=100')).map(({ email }) => email)
  expect(emails).not.toContain('leaves@example.org')
})

test('a password link ends when the password is changed without it, and works once', async () => {
  const { id, browser } = await join(() => handler, 'remembers@example.org')
  const token = await passwordLink(id)
  const body = { current_password: PASSWORD, new_password: 'remembered after all' }
  expect((await browser.ask({ method: 'POST', path: '/api/v1/auth/password', body })).status).toBe(200)
  expect((await accept(token)).status).toBe(404)
  const second = await passwordLink(id)
  const replies = await Promise.all([
    accept(second, 'quite another one'),
    accept(second, 'and one more of them'),
  ])
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 404])
})

test('a used invitation cannot be used again, not even by the same person', async () => {
  const made = await manage('POST', '/organization/invitations', { email: 'once@example.org' })
  const { token } = objectOf(made.json)
  expect((await accept(token)).status).toBe(200)
  expect((await accept(token, 'a password of a thief')).status).toBe(404)
})

test('a set-up link does not replace a password that the owner has got since', async () => {
  const other = await startGateway()
  const app = createApp(other.deps)
  const { token } = dataOf(await manageAt(app, 'POST', '/organization/setup-link', {}))
  const settings = { adminEmail: 'boss@example.org', adminPassword: 'the password of the settings' }
  await ensureOwner(other.database, settings, Date.now())
  const body = { token, email: 'thief@example.org', password: PASSWORD }
  expect((await call(app, { method: 'POST', path: '/v1/auth/setup', body })).status).toBe(404)
  await other.stop()
})

test('a session id that a browser brings is never adopted: each sign-in makes a new one', async () => {
  const { browser } = await join(() => handler, 'fixed@example.org')
  const first = browser.cookies.get('sluice_session')
  const signIn = {
    method: 'POST',
    path: '/api/v1/auth/sign-in',
    body: { email: 'fixed@example.org', password: PASSWORD },
  }
  expect((await browser.ask(signIn)).status).toBe(200)
  const second = browser.cookies.get('sluice_session')
  expect(second).not.toBe(first)
  const planted = openBrowser(() => handler)
  planted.cookies.set('sluice_session', 'x'.repeat(43))
  expect((await planted.ask(SESSION)).status).toBe(401)
  expect((await planted.ask(signIn)).status).toBe(200)
  expect(planted.cookies.get('sluice_session')).not.toBe('x'.repeat(43))
  const thief = openBrowser(() => handler)
  thief.cookies.set('sluice_session', 'x'.repeat(43))
  expect((await thief.ask(SESSION)).status).toBe(401)
})
