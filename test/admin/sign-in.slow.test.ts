import { describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { objectOf } from '../../src/http/json.ts'
import { startGateway } from '../gateway.ts'
import { call, expectEnvelope } from '../scenario.ts'
import { dataOf, join, listOf, manage, PASSWORD } from './people.ts'
import { MINUTE, OWNER, OWNER_PASSWORD, SESSION, signIn, startSignIn } from './sign-in.ts'

const admin = startSignIn()
const { at, browser, ownersBrowser } = admin

describe('password sign-in', () => {
  test('the owner from the settings signs in, has a session, and signs out', async () => {
    const own = browser()
    const reply = await own.ask(signIn('OWNER@example.ORG', OWNER_PASSWORD))
    expect(reply.status).toBe(200)
    expect(dataOf(reply)).toMatchObject({
      user: { name: 'Owner', email: OWNER, role: 'org:admin', has_password: true },
      organization: { name: 'My organisation' },
      workspaces: [{ slug: 'default' }],
    })
    expect(reply.headers.get('set-cookie')).toMatch(
      /^sluice_session=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
    )
    expect((await own.ask(SESSION)).json).toEqual(reply.json)
    const kept = new Map(own.cookies)
    expect((await own.ask({ method: 'POST', path: '/api/v1/auth/sign-out' })).json).toEqual({
      signed_out: true,
    })
    expect(own.cookies.size).toBe(0)
    // The old token is no longer a session.
    for (const [name, value] of kept) own.cookies.set(name, value)
    expect((await own.ask(SESSION)).status).toBe(401)
    expect((await own.ask({ method: 'POST', path: '/api/v1/auth/sign-out' })).status).toBe(200)
  })

  test('over https the cookie is bound to this host, and below a path to that path', async () => {
    const https = await browser().ask(
      signIn(OWNER, OWNER_PASSWORD, { headers: { 'x-forwarded-proto': 'https' } }),
    )
    expect(https.headers.get('set-cookie')).toMatch(
      /^__Host-sluice_session=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
    )
    at.site = 'https://ai.example.org/sluice'
    const below = await browser().ask(signIn(OWNER, OWNER_PASSWORD))
    expect(below.headers.get('set-cookie')).toMatch(/^sluice_session=[\w-]{43}; Path=\/sluice; .*Secure$/)
  })

  test('an unknown address, a wrong password and an account without one get the same reply', async () => {
    const { browser: other } = await join(() => admin.handler, 'told@example.org')
    await other.ask({ method: 'POST', path: '/api/v1/auth/sign-out' })
    const replies = await Promise.all(
      [
        [OWNER, 'wrong password'],
        ['nobody@example.org', 'wrong password'],
        ['told@example.org', OWNER_PASSWORD],
      ].map(([email = '', password = '']) => browser().ask(signIn(email, password))),
    )
    for (const reply of replies) {
      expectEnvelope(reply)
      expect([reply.status, reply.text]).toEqual([401, replies[0]?.text ?? ''])
      expect(reply.headers.get('set-cookie')).toBeNull()
    }
  })

  test('the same letters in another Unicode normalization are the same password', async () => {
    const own = await ownersBrowser()
    const change = { method: 'POST', path: '/api/v1/auth/password' }
    const composed = 'pässwörd with dots'
    const body = { current_password: OWNER_PASSWORD, new_password: composed.normalize('NFD') }
    expect((await own.ask({ ...change, body })).status).toBe(200)
    expect((await browser().ask(signIn(OWNER, composed.normalize('NFC')))).status).toBe(200)
    const back = { current_password: composed, new_password: OWNER_PASSWORD }
    expect((await own.ask({ ...change, body: back })).status).toBe(200)
  })
})

describe('failures are limited', () => {
  test('five for an account from an address, then 429 until 15 minutes are over', async () => {
    for (let time = 0; time < 5; time++)
      expect((await browser().ask(signIn(OWNER, 'wrong'))).status).toBe(401)
    at.now += MINUTE
    for (const password of ['wrong', OWNER_PASSWORD]) {
      const reply = await browser().ask(signIn(OWNER, password))
      expectEnvelope(reply)
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, String(14 * 60)])
    }
    // Another address is not limited by it.
    at.address = '192.0.2.2'
    const elsewhere = await browser().ask(signIn(OWNER, OWNER_PASSWORD))
    expect(elsewhere.status).toBe(200)
    at.address = '192.0.2.1'
    at.now += 14 * MINUTE
    expect((await browser().ask(signIn(OWNER, OWNER_PASSWORD))).status).toBe(200)
  })

  test('an account that does not exist is limited in the same way', async () => {
    const statuses: number[] = []
    for (let time = 0; time < 7; time++)
      statuses.push((await browser().ask(signIn('ghost@example.org', 'wrong'))).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
  })

  test('concurrent attempts do not get around the limit', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => browser().ask(signIn(OWNER, 'wrong'))))
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(5)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(15)
  })

  test('thirty from one address for any accounts; a /64 of IPv6 is one address', async () => {
    let hash = 0
    admin.gateway.deps.auth.passwords.matches = async () => hash++ < 0
    const { createPasswords } = await import('../../src/admin/identity/auth/passwords.ts')
    try {
      for (let time = 0; time < 30; time++) {
        at.address = `2001:db8:1:2::${time.toString(16)}`
        expect((await browser().ask(signIn(`guess${time}@example.org`, 'wrong'))).status).toBe(401)
      }
      at.address = '2001:0db8:0001:0002:ffff::1'
      expect((await browser().ask(signIn('fresh@example.org', 'wrong'))).status).toBe(429)
      at.address = '2001:db8:1:3::1'
      expect((await browser().ask(signIn('fresh@example.org', 'wrong'))).status).toBe(401)
    } finally {
      Object.assign(admin.gateway.deps.auth.passwords, createPasswords())
    }
  })

  test('a success resets the failures of the account', async () => {
    for (let round = 0; round < 3; round++) {
      for (let time = 0; time < 4; time++) await browser().ask(signIn(OWNER, 'wrong'))
      expect((await browser().ask(signIn(OWNER, OWNER_PASSWORD))).status).toBe(200)
    }
  })

  test('the audit log has each sign-in with the failures before it, and each refusal', async () => {
    await browser().ask(signIn(OWNER, 'wrong'))
    await browser().ask(signIn(OWNER, OWNER_PASSWORD, { headers: { 'user-agent': 'browser/1' } }))
    const [entry] = listOf(await manage(admin.handler, 'GET', '/audit-log?action=session.begin'))
    expect(entry).toMatchObject({
      actor: { type: 'user', label: 'Owner' },
      address: '192.0.2.1',
      user_agent: 'browser/1',
      after: { method: 'password', failed_before: 1 },
    })
    const before = listOf(await manage(admin.handler, 'GET', '/audit-log?action=session.refuse')).length
    for (let time = 0; time < 8; time++) await browser().ask(signIn(OWNER, 'wrong'))
    const refused = listOf(await manage(admin.handler, 'GET', '/audit-log?action=session.refuse'))
    expect(refused).toHaveLength(before + 1)
    expect(refused[0]).toMatchObject({ actor: { type: 'system' }, after: { failures: 5 } })
    // The same for an unknown account, without the address from the request.
    for (let time = 0; time < 8; time++) await browser().ask(signIn('canary@example.org', 'wrong'))
    const [unknown] = listOf(await manage(admin.handler, 'GET', '/audit-log?action=session.refuse'))
    expect(unknown).toMatchObject({ resource: { type: 'session', id: 'unknown' }, after: { failures: 5 } })
    expect(JSON.stringify(unknown)).not.toContain('canary')
  })
})

describe('the set-up link', () => {
  test('sets up the owner once, within half an hour, with a session', async () => {
    let clock = Date.now()
    const bare = await startGateway({ now: () => clock })
    const app = createApp(bare.deps)
    const needs = async () => objectOf((await call(app, { path: '/v1/auth/methods' })).json)['needs_setup']
    expect(await needs()).toBe(true)
    const link = async () => dataOf(await manage(app, 'POST', '/organization/setup-link', {}))
    const setUp = (token: unknown) =>
      call(app, {
        method: 'POST',
        path: '/v1/auth/setup',
        body: { token, email: 'Me@Example.org', password: PASSWORD, first_name: 'Grace', last_name: 'H' },
      })
    const first = await link()
    expect(first['url']).toBe(`http://localhost/ui/setup#t=${first['token']}`)
    const second = await link()
    // The second link replaced the first.
    expect((await setUp(first['token'])).status).toBe(404)
    clock += 30 * MINUTE
    expect((await setUp(second['token'])).status).toBe(404)
    const third = await link()
    const both = await Promise.all([setUp(third['token']), setUp(third['token'])])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 404])
    const done = both.find(({ status }) => status === 200)
    expect(done && dataOf(done)).toMatchObject({
      user: { email: 'me@example.org', name: 'Grace H', role: 'org:admin' },
    })
    expect(done?.headers.get('set-cookie')).toContain('sluice_session=')
    expect(await needs()).toBe(false)
    expect((await manage(app, 'POST', '/organization/setup-link', {})).status).toBe(409)
    const signedIn = await call(app, { ...signIn('me@example.org', PASSWORD) })
    expect(signedIn.status).toBe(200)
    // No second management key was created.
    expect(
      bare.database.file.query("SELECT hash FROM api_keys WHERE kind = 'management'").all(),
    ).toHaveLength(1)
    await bare.stop()
  })
})
