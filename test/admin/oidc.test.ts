import { describe, expect, test } from 'bun:test'
import { pathOf, person, START, startSingleSignOn, whoIs } from './oidc.ts'
import { join, listOf, manage, openBrowser } from './people.ts'

const oidc = startSingleSignOn()
const { begin, clock, enter } = oidc

describe('single sign-on', () => {
  test('creates a member at the first sign-in and finds them at the next', async () => {
    const browser = openBrowser(() => oidc.handler)
    const reply = await enter(person('New@Example.org'), browser)
    expect([reply.status, reply.headers.get('location')]).toEqual([303, 'http://localhost/'])
    const user = await whoIs(browser)
    expect(user).toMatchObject({
      email: 'new@example.org',
      name: 'Ada L',
      first_name: 'Ada',
      role: 'org:member',
      has_password: false,
    })
    // The browser has only the session's cookie.
    expect([...browser.cookies.keys()]).toEqual(['sluice_session'])
    const again = openBrowser(() => oidc.handler)
    // Found by the subject, although the address has changed.
    await enter(person('New@Example.org', { email: 'renamed@example.org' }), again)
    expect(await whoIs(again)).toEqual(user)
    const [begun, joined] = listOf(
      await manage(oidc.handler, 'GET', '/audit-log?action=session.begin'),
    ).concat(listOf(await manage(oidc.handler, 'GET', '/audit-log?action=member.join')))
    expect(begun).toMatchObject({ actor: { type: 'user', label: 'Ada L' }, after: { method: 'oidc' } })
    expect([begun?.['action'], joined?.['action']]).toContain('session.begin')
  })

  test('returns to the requested path, only on this server', async () => {
    const browser = openBrowser(() => oidc.handler)
    const there = await begin(browser, `${START}?return_to=/ui/keys?new=1`)
    const back = await browser.ask({ path: pathOf(oidc.provider.agree(there, person('path@example.org'))) })
    expect(back.headers.get('location')).toBe('http://localhost/ui/keys?new=1')
    for (const path of ['//evil.example', '/\\evil.example', 'https://evil.example', '/%09/evil.example'])
      expect((await browser.ask({ path: `${START}?return_to=${path}` })).status).toBe(400)
  })

  test('finds the member of a verified address, and takes the role of an invitation', async () => {
    const { id } = await join(() => oidc.handler, 'known@example.org', 'org:admin')
    const browser = openBrowser(() => oidc.handler)
    await enter(person('Known@example.org'), browser)
    expect(await whoIs(browser)).toMatchObject({ id, role: 'org:admin', has_password: true })
    await manage(oidc.handler, 'POST', '/organization/invitations', {
      email: 'awaited@example.org',
      role: 'org:admin',
    })
    const awaited = openBrowser(() => oidc.handler)
    await enter(person('awaited@example.org'), awaited)
    expect(await whoIs(awaited)).toMatchObject({ role: 'org:admin' })
    expect(listOf(await manage(oidc.handler, 'GET', '/organization/invitations'))).toEqual([])
  })

  test('finds no member by an address that is not verified', async () => {
    for (const email_verified of [false, undefined, 'false']) {
      const reply = await enter(person('known@example.org', { sub: 'stranger', email_verified }))
      expect([reply.status, reply.text]).toEqual([403, expect.stringContaining('does not confirm')])
      expect(reply.headers.get('set-cookie')).toBeNull()
    }
    expect((await enter({ claims: { sub: 'nobody' }, userinfo: { sub: 'nobody' } })).status).toBe(403)
  })

  test('gets an address that the token lacks from userinfo, if the subject is the same', async () => {
    const userinfo = { sub: 'told', email: 'told@example.org', email_verified: true }
    const browser = openBrowser(() => oidc.handler)
    expect((await enter({ claims: { sub: 'told' }, userinfo }, browser)).status).toBe(303)
    expect(await whoIs(browser)).toMatchObject({ email: 'told@example.org' })
    const other = await enter({ claims: { sub: 'thief' }, userinfo })
    expect(other.status).toBe(401)
  })

  test('fetches keys that the provider has rotated', async () => {
    await enter(person('rotates@example.org'))
    await oidc.provider.rotate()
    // Keys are not fetched twice within a minute.
    clock.now += 60_000
    oidc.provider.asked.length = 0
    expect((await enter(person('rotates@example.org'))).status).toBe(303)
    expect(oidc.provider.asked.filter((path) => path === '/keys')).toHaveLength(1)
    // They are cached, as is the provider's discovery document.
    oidc.provider.asked.length = 0
    expect((await enter(person('rotates@example.org'))).status).toBe(303)
    expect(oidc.provider.asked).toEqual(['/token'])
  })

  test('fetches rotated keys although the clock was set back', async () => {
    clock.now += 24 * 3_600_000
    await enter(person('backwards@example.org'))
    clock.now -= 24 * 3_600_000
    await oidc.provider.rotate()
    // The clock has not moved: keys are not fetched twice in half a minute.
    expect((await enter(person('backwards@example.org'))).status).toBe(401)
    clock.now += 60_000
    expect((await enter(person('backwards@example.org'))).status).toBe(303)
  })

  test('requires iss from a provider that announces it', async () => {
    oidc.provider.discovery = { authorization_response_iss_parameter_supported: true }
    clock.now += 3_600_000
    expect((await enter(person('named@example.org'))).status).toBe(303)
    const browser = openBrowser(() => oidc.handler)
    const back = new URL(oidc.provider.agree(await begin(browser), person('unnamed@example.org')))
    back.searchParams.delete('iss')
    expect((await browser.ask({ path: pathOf(back.href) })).status).toBe(401)
    oidc.provider.discovery = {}
    clock.now += 3_600_000
  })

  test('sends the secret in the form to a provider that requires it there', async () => {
    oidc.provider.discovery = { token_endpoint_auth_methods_supported: ['client_secret_post'] }
    clock.now += 3_600_000
    expect((await enter(person('form@example.org'))).status).toBe(303)
    oidc.provider.discovery = {}
    clock.now += 3_600_000
  })

  test('is among the methods', async () => {
    const { json } = await openBrowser(() => oidc.handler).ask({ path: '/api/v1/auth/methods' })
    expect(json).toMatchObject({ oidc: { issuer: oidc.provider.issuer, start: `http://localhost${START}` } })
  })
})
