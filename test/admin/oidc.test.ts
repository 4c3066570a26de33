import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { SignJWT } from 'jose'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { expectEnvelope, type Reply } from '../scenario.ts'
import {
  CLIENT,
  type Granted,
  type IdentityProvider,
  makeKey,
  startIdentityProvider,
} from './identity-provider.ts'
import { type Browser, dataOf, join, listOf, manage, openBrowser } from './people.ts'

let now = Date.now()
let provider: IdentityProvider
let gateway: Gateway
let handler: Handler
const told: unknown[] = []
/** Private causes of failures. */
const why: string[] = []

beforeAll(async () => {
  provider = await startIdentityProvider(() => now)
  gateway = await start({})
  gateway.deps.log.warn = (...said: unknown[]) => void told.push(said)
  gateway.deps.log.error = (...said: unknown[]) => {
    const { err } = objectOf(said[0])
    if (err instanceof Error) why.push(err.message)
    told.push(said)
  }
  handler = createApp(gateway.deps)
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})
beforeEach(() => {
  // Keys may be looked for again.
  now += 60_000
})

const start = (environment: Record<string, string>): Promise<Gateway> =>
  startGateway({
    now: () => now,
    environment: {
      SLUICE_OIDC_ISSUER: `${provider.issuer}/`,
      SLUICE_OIDC_CLIENT_ID: CLIENT.id,
      SLUICE_OIDC_CLIENT_SECRET: CLIENT.secret,
      ...environment,
    },
  })

const START = '/api/v1/auth/oidc/start'
const pathOf = (url: string | null): string => (url ?? '').replace('http://localhost', '')
async function begin(browser: Browser, path = START): Promise<string> {
  const reply = await browser.ask({ path })
  expect([reply.status, reply.text]).toEqual([303, ''])
  return reply.headers.get('location') ?? ''
}
/** The whole way of a browser: there, and back with what the provider grants. */
async function enter(granted: Granted, browser = openBrowser(() => handler)): Promise<Reply> {
  return await browser.askFrom(
    { path: pathOf(provider.agree(await begin(browser), granted)) },
    { 'sec-fetch-site': 'cross-site' },
  )
}
const person = (email: string, more: object = {}): Granted => ({
  claims: { sub: `of ${email}`, email, email_verified: true, given_name: 'Ada', family_name: 'L', ...more },
})
const whoIs = async (browser: Browser) => dataOf(await browser.ask({ path: '/api/v1/auth/session' }))['user']
const emails = async (): Promise<unknown[]> =>
  listOf(await manage(handler, 'GET', '/organization/members?limit=100')).map(({ email }) => email)

describe('single sign-on', () => {
  test('makes a member of whom nobody knew, and knows them the next time', async () => {
    const browser = openBrowser(() => handler)
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
    // Only the session is left in the browser.
    expect([...browser.cookies.keys()]).toEqual(['sluice_session'])
    const again = openBrowser(() => handler)
    // Known by the subject, whatever the address is now.
    await enter(person('New@Example.org', { email: 'renamed@example.org' }), again)
    expect(await whoIs(again)).toEqual(user)
    const [begun, joined] = listOf(await manage(handler, 'GET', '/audit-log?action=session.begin')).concat(
      listOf(await manage(handler, 'GET', '/audit-log?action=member.join')),
    )
    expect(begun).toMatchObject({ actor: { type: 'user', label: 'Ada L' }, after: { method: 'oidc' } })
    expect([begun?.['action'], joined?.['action']]).toContain('session.begin')
  })

  test('goes back to the path that was asked for, on this server alone', async () => {
    const browser = openBrowser(() => handler)
    const there = await begin(browser, `${START}?return_to=/ui/keys?new=1`)
    const back = await browser.ask({ path: pathOf(provider.agree(there, person('path@example.org'))) })
    expect(back.headers.get('location')).toBe('http://localhost/ui/keys?new=1')
    for (const path of ['//evil.example', '/\\evil.example', 'https://evil.example', '/%09/evil.example'])
      expect((await browser.ask({ path: `${START}?return_to=${path}` })).status).toBe(400)
  })

  test('finds the member of a verified address, and takes the role of an invitation', async () => {
    const { id } = await join(() => handler, 'known@example.org', 'org:admin')
    const browser = openBrowser(() => handler)
    await enter(person('Known@example.org'), browser)
    expect(await whoIs(browser)).toMatchObject({ id, role: 'org:admin', has_password: true })
    await manage(handler, 'POST', '/organization/invitations', {
      email: 'awaited@example.org',
      role: 'org:admin',
    })
    const awaited = openBrowser(() => handler)
    await enter(person('awaited@example.org'), awaited)
    expect(await whoIs(awaited)).toMatchObject({ role: 'org:admin' })
    expect(listOf(await manage(handler, 'GET', '/organization/invitations'))).toEqual([])
  })

  test('an address that is not verified finds nobody', async () => {
    for (const email_verified of [false, undefined, 'false']) {
      const reply = await enter(person('known@example.org', { sub: 'stranger', email_verified }))
      expect([reply.status, reply.text]).toEqual([403, expect.stringContaining('does not confirm')])
      expect(reply.headers.get('set-cookie')).toBeNull()
    }
    expect((await enter({ claims: { sub: 'nobody' }, userinfo: { sub: 'nobody' } })).status).toBe(403)
  })

  test('asks userinfo for an address that the token does not tell, of the same person alone', async () => {
    const userinfo = { sub: 'told', email: 'told@example.org', email_verified: true }
    const browser = openBrowser(() => handler)
    expect((await enter({ claims: { sub: 'told' }, userinfo }, browser)).status).toBe(303)
    expect(await whoIs(browser)).toMatchObject({ email: 'told@example.org' })
    const other = await enter({ claims: { sub: 'thief' }, userinfo })
    expect(other.status).toBe(401)
  })

  test('keys that the provider has rotated are found', async () => {
    await enter(person('rotates@example.org'))
    await provider.rotate()
    // Keys are not read twice within a minute.
    now += 60_000
    provider.asked.length = 0
    expect((await enter(person('rotates@example.org'))).status).toBe(303)
    expect(provider.asked.filter((path) => path === '/keys')).toHaveLength(1)
    // They are kept, and so is what the provider told of itself.
    provider.asked.length = 0
    expect((await enter(person('rotates@example.org'))).status).toBe(303)
    expect(provider.asked).toEqual(['/token'])
  })

  test('keys that were rotated are found although the clock was set back', async () => {
    now += 24 * 3_600_000
    await enter(person('backwards@example.org'))
    now -= 24 * 3_600_000
    await provider.rotate()
    // The clock stands for a moment: keys are not looked for twice in half a minute.
    expect((await enter(person('backwards@example.org'))).status).toBe(401)
    now += 60_000
    expect((await enter(person('backwards@example.org'))).status).toBe(303)
  })

  test('a provider that promises to name itself must do so', async () => {
    provider.discovery = { authorization_response_iss_parameter_supported: true }
    now += 3_600_000
    expect((await enter(person('named@example.org'))).status).toBe(303)
    const browser = openBrowser(() => handler)
    const back = new URL(provider.agree(await begin(browser), person('unnamed@example.org')))
    back.searchParams.delete('iss')
    expect((await browser.ask({ path: pathOf(back.href) })).status).toBe(401)
    provider.discovery = {}
    now += 3_600_000
  })

  test('a provider that wants the secret in the form gets it there', async () => {
    provider.discovery = { token_endpoint_auth_methods_supported: ['client_secret_post'] }
    now += 3_600_000
    expect((await enter(person('form@example.org'))).status).toBe(303)
    provider.discovery = {}
    now += 3_600_000
  })

  test('is offered', async () => {
    const { json } = await openBrowser(() => handler).ask({ path: '/api/v1/auth/methods' })
    expect(json).toMatchObject({ oidc: { issuer: provider.issuer, start: `http://localhost${START}` } })
  })
})

const VICTIM = 'victim@example.org'
const seconds = () => Math.floor(now / 1000)
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const withClaims = (more: object): Granted => person(VICTIM, more)
const withToken = (idToken: Granted['idToken']): Granted => ({
  ...person(VICTIM),
  ...(idToken && { idToken }),
})

describe('what proves nothing lets nobody in', () => {
  const tokens: [name: string, granted: () => Granted][] = [
    ['another nonce', () => withClaims({ nonce: 'of another sign-in' })],
    ['no nonce', () => withClaims({ nonce: undefined })],
    ['expired', () => withClaims({ iat: seconds() - 600, exp: seconds() - 300 })],
    ['no expiry', () => withClaims({ exp: undefined })],
    ['no time of issue', () => withClaims({ iat: undefined })],
    ['not yet', () => withClaims({ nbf: seconds() + 300 })],
    ['another audience', () => withClaims({ aud: 'another client' })],
    ['no audience', () => withClaims({ aud: undefined })],
    ['several audiences, made for none', () => withClaims({ aud: [CLIENT.id, 'other'] })],
    ['several audiences, made for another', () => withClaims({ aud: [CLIENT.id, 'other'], azp: 'other' })],
    ['made for another', () => withClaims({ azp: 'other' })],
    ['another issuer', () => withClaims({ iss: 'https://evil.example' })],
    ['no subject', () => withClaims({ sub: undefined })],
    ['an empty subject', () => withClaims({ sub: '' })],
    ['a subject that is no text', () => withClaims({ sub: 7 })],
    ['alg none', () => withToken((_, claims) => `${base64({ alg: 'none' })}.${base64(claims)}.`)],
    [
      'alg none in capitals, with a signature',
      () =>
        withToken((signed, claims) => `${base64({ alg: 'NONE' })}.${base64(claims)}.${signed.split('.')[2]}`),
    ],
    [
      'signed with the client secret',
      () =>
        withToken((_, claims) =>
          new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(CLIENT.secret)),
        ),
    ],
    [
      'signed with a key of somebody else under a known name',
      () =>
        withToken(async (_, claims) => {
          const { key } = await makeKey('key-1')
          return await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'key-1' }).sign(key)
        }),
    ],
    [
      'signed with a key that it brings along',
      () =>
        withToken(async (_, claims) => {
          const { key, jwk } = await makeKey('brought')
          return await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'brought', jwk }).sign(key)
        }),
    ],
    [
      'claims that were changed after signing',
      () =>
        withToken((signed, claims) => {
          const [header, , signature] = signed.split('.')
          return `${header}.${base64({ ...claims, sub: 'somebody else' })}.${signature}`
        }),
    ],
    ['no token at all', () => withToken(() => '')],
    ['a token that is none', () => withToken(() => 'a.b.c')],
  ]
  test.each(tokens)('a token: %s', async (_name, granted) => {
    const browser = openBrowser(() => handler)
    const reply = await enter(granted(), browser)
    expectEnvelope(reply)
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([401, null])
    expect(reply.text).toContain('did not confirm this sign-in')
    expect((await browser.ask({ path: '/api/v1/auth/session' })).status).toBe(401)
    expect(await emails()).not.toContain(VICTIM)
  })

  /** What is done with the way back. */
  const ways: [name: string, status: number, go: (mine: Browser, back: URL) => Promise<Reply>][] = [
    [
      'another state',
      400,
      async (mine, back) => {
        back.searchParams.set('state', 'x'.repeat(43))
        return await mine.ask({ path: pathOf(back.href) })
      },
    ],
    [
      'no state',
      400,
      async (mine, back) => {
        back.searchParams.delete('state')
        return await mine.ask({ path: pathOf(back.href) })
      },
    ],
    ['another browser', 400, (_, back) => openBrowser(() => handler).ask({ path: pathOf(back.href) })],
    [
      'another browser that has begun as well',
      400,
      async (_, back) => {
        const other = openBrowser(() => handler)
        await begin(other)
        return await other.ask({ path: pathOf(back.href) })
      },
    ],
    [
      'a code of another sign-in',
      401,
      async (mine, back) => {
        const other = new URL(
          provider.agree(await begin(openBrowser(() => handler)), person('thief@example.org')),
        )
        back.searchParams.set('code', other.searchParams.get('code') ?? '')
        return await mine.ask({ path: pathOf(back.href) })
      },
    ],
    [
      'a made-up code',
      401,
      async (mine, back) => {
        back.searchParams.set('code', 'made up')
        return await mine.ask({ path: pathOf(back.href) })
      },
    ],
    [
      'no code',
      400,
      async (mine, back) => {
        back.searchParams.delete('code')
        return await mine.ask({ path: pathOf(back.href) })
      },
    ],
    [
      'another provider answers',
      401,
      async (mine, back) => {
        back.searchParams.set('iss', 'https://evil.example')
        return await mine.ask({ path: pathOf(back.href) })
      },
    ],
    [
      'the provider refuses',
      401,
      async (mine, back) => {
        back.searchParams.set('error', 'access_denied')
        return await mine.ask({ path: pathOf(back.href) })
      },
    ],
    [
      'eleven minutes later',
      400,
      async (mine, back) => {
        now += 11 * 60_000
        return await mine.ask({ path: pathOf(back.href) })
      },
    ],
    [
      'a second time, with the code and the cookie of the first',
      400,
      async (mine, back) => {
        const kept = new Map(mine.cookies)
        back.searchParams.set('code', 'used up by the first')
        await mine.ask({ path: pathOf(back.href) })
        for (const [name, value] of kept) mine.cookies.set(name, value)
        return await mine.ask({ path: pathOf(back.href) })
      },
    ],
  ]
  test.each(ways)('the way back: %s', async (_name, status, go) => {
    const mine = openBrowser(() => handler)
    const back = new URL(provider.agree(await begin(mine), person(VICTIM)))
    const reply = await go(mine, back)
    expectEnvelope(reply)
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([status, null])
    expect(await emails()).not.toContain(VICTIM)
  })

  test('a sign-in that has ended well does not end again', async () => {
    const browser = openBrowser(() => handler)
    const there = await begin(browser)
    const kept = new Map(browser.cookies)
    const path = pathOf(provider.agree(there, person('twice@example.org')))
    expect((await browser.ask({ path })).status).toBe(303)
    const thief = openBrowser(() => handler)
    for (const [name, value] of kept) thief.cookies.set(name, value)
    expect((await thief.ask({ path })).status).toBe(400)
  })

  test('neither answers nor the log tell a secret, a token or a code', () => {
    const text = JSON.stringify([told, why])
    expect(told.length).toBeGreaterThan(10)
    expect(text).not.toContain(CLIENT.secret)
    expect(text).not.toMatch(/eyJ[\w-]{10}/)
    expect(text).not.toContain(VICTIM)
  })
})

describe('a provider that fails', () => {
  const rows: [name: string, set: () => void][] = [
    ['answers 500', () => Object.assign(provider, { broken: 500 })],
    ['answers with a page', () => Object.assign(provider, { broken: 200 })],
    ['has another name', () => Object.assign(provider, { discovery: { issuer: 'https://evil.example' } })],
    ['names no token endpoint', () => Object.assign(provider, { discovery: { token_endpoint: null } })],
    [
      'names an endpoint that is no address',
      () => Object.assign(provider, { discovery: { jwks_uri: 'file:///etc/passwd' } }),
    ],
  ]
  test.each(rows)('%s', async (_name, set) => {
    // What it told of itself before is not believed for ever.
    now += 3_600_001
    set()
    const reply = await openBrowser(() => handler).ask({ path: START })
    Object.assign(provider, { broken: null, discovery: {} })
    expectEnvelope(reply)
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([502, null])
  })

  test('endpoints on private hosts other than the issuer are not called', async () => {
    now += 3_600_001
    provider.discovery = { token_endpoint: `${provider.issuer.replace('127.0.0.1', '127.0.0.2')}/token` }
    const reply = await enter(person(VICTIM))
    provider.discovery = {}
    now += 3_600_001
    expect(reply.status).toBe(502)
    expect(why.at(-1)).toMatch(/^127\.0\.0\.2:\d+\/realm\/token: The URL leads to a private/)
  })
})

describe('groups', () => {
  const SETTINGS = {
    SLUICE_OIDC_GROUPS_CLAIM: 'roles',
    SLUICE_OIDC_ADMIN_GROUPS: 'ai-admins, owners',
    SLUICE_OIDC_MEMBER_GROUPS: 'staff',
    SLUICE_OIDC_TRUST_EMAIL: 'on',
  }
  test('decide over roles at each sign-in, and over who may enter; the last administrator stays', async () => {
    const other = await start(SETTINGS)
    const before = handler
    handler = createApp(other.deps)
    const role = async (email: string, roles: unknown): Promise<unknown> => {
      const browser = openBrowser(() => handler)
      const reply = await enter(person(email, { roles, email_verified: undefined }), browser)
      return reply.status === 303 ? Object(await whoIs(browser)).role : reply.status
    }
    expect(await role('ada@example.org', ['staff'])).toBe('org:member')
    expect(await role('ada@example.org', ['staff', 'owners'])).toBe('org:admin')
    expect(await role('ada@example.org', ['staff'])).toBe('org:member')
    expect(await role('bob@example.org', 'ai-admins')).toBe('org:admin')
    for (const roles of [[], ['other'], undefined, 'staffroom', { staff: true }, [['staff']]])
      expect(await role('eve@example.org', roles)).toBe(403)
    // Who was let in once is not let in without the group.
    expect(await role('ada@example.org', ['other'])).toBe(403)
    const owner = listOf(await manage(handler, 'GET', '/organization/members'))[0]
    await manage(handler, 'PATCH', `/organization/members/${owner?.['id']}`, { role: 'org:member' })
    expect(await role('bob@example.org', ['staff'])).toBe('org:admin')
    handler = before
    await other.stop()
  })
})
