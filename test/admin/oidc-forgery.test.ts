import { describe, expect, test } from 'bun:test'
import { SignJWT } from 'jose'
import { expectEnvelope, type Reply } from '../scenario.ts'
import { CLIENT, type Granted, makeKey } from './identity-provider.ts'
import { pathOf, person, startSingleSignOn } from './oidc.ts'
import { type Browser, listOf, manage, openBrowser } from './people.ts'

const oidc = startSingleSignOn()
const { begin, causes, clock, enter, logged } = oidc

const emails = async (): Promise<unknown[]> =>
  listOf(await manage(oidc.handler, 'GET', '/organization/members?limit=100')).map(({ email }) => email)

const VICTIM = 'victim@example.org'
const seconds = () => Math.floor(clock.now / 1000)
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const withClaims = (more: object): Granted => person(VICTIM, more)
const withToken = (idToken: Granted['idToken']): Granted => ({
  ...person(VICTIM),
  ...(idToken && { idToken }),
})

describe('without proof there is no session', () => {
  const tokens: [name: string, granted: () => Granted][] = [
    ['a foreign nonce', () => withClaims({ nonce: 'of another sign-in' })],
    ['no nonce', () => withClaims({ nonce: undefined })],
    ['expired', () => withClaims({ iat: seconds() - 600, exp: seconds() - 300 })],
    ['no expiry', () => withClaims({ exp: undefined })],
    ['no time of issue', () => withClaims({ iat: undefined })],
    ['not yet valid', () => withClaims({ nbf: seconds() + 300 })],
    ['a foreign audience', () => withClaims({ aud: 'another client' })],
    ['no audience', () => withClaims({ aud: undefined })],
    ['several audiences without azp', () => withClaims({ aud: [CLIENT.id, 'other'] })],
    ['several audiences with a foreign azp', () => withClaims({ aud: [CLIENT.id, 'other'], azp: 'other' })],
    ['a foreign azp', () => withClaims({ azp: 'other' })],
    ['a foreign issuer', () => withClaims({ iss: 'https://evil.example' })],
    ['no subject', () => withClaims({ sub: undefined })],
    ['an empty subject', () => withClaims({ sub: '' })],
    ['a subject that is not a string', () => withClaims({ sub: 7 })],
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
      'signed with a foreign key under a known kid',
      () =>
        withToken(async (_, claims) => {
          const { key } = await makeKey('key-1')
          return await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'key-1' }).sign(key)
        }),
    ],
    [
      'signed with a key in its own header',
      () =>
        withToken(async (_, claims) => {
          const { key, jwk } = await makeKey('embedded')
          return await new SignJWT(claims)
            .setProtectedHeader({ alg: 'RS256', kid: 'embedded', jwk })
            .sign(key)
        }),
    ],
    [
      'claims that were changed after signing',
      () =>
        withToken((signed, claims) => {
          const [header, , signature] = signed.split('.')
          return `${header}.${base64({ ...claims, sub: 'another subject' })}.${signature}`
        }),
    ],
    ['an empty token', () => withToken(() => '')],
    ['a malformed token', () => withToken(() => 'a.b.c')],
  ]
  test.each(tokens)('a token: %s', async (_name, granted) => {
    const browser = openBrowser(() => oidc.handler)
    const reply = await enter(granted(), browser)
    expectEnvelope(reply)
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([401, null])
    expect(reply.text).toContain('did not confirm this sign-in')
    expect((await browser.ask({ path: '/api/v1/auth/session' })).status).toBe(401)
    expect(await emails()).not.toContain(VICTIM)
  })

  /** Changes to the request that returns from the provider. */
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
    ['another browser', 400, (_, back) => openBrowser(() => oidc.handler).ask({ path: pathOf(back.href) })],
    [
      'another browser with a sign-in of its own',
      400,
      async (_, back) => {
        const other = openBrowser(() => oidc.handler)
        await begin(other)
        return await other.ask({ path: pathOf(back.href) })
      },
    ],
    [
      'a code of another sign-in',
      401,
      async (mine, back) => {
        const other = new URL(
          oidc.provider.agree(await begin(openBrowser(() => oidc.handler)), person('thief@example.org')),
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
      'another provider replies',
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
        clock.now += 11 * 60_000
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
  test.each(ways)('the return: %s', async (_name, status, go) => {
    const mine = openBrowser(() => oidc.handler)
    const back = new URL(oidc.provider.agree(await begin(mine), person(VICTIM)))
    const reply = await go(mine, back)
    expectEnvelope(reply)
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([status, null])
    expect(await emails()).not.toContain(VICTIM)
  })

  test('a completed sign-in cannot be completed again', async () => {
    const browser = openBrowser(() => oidc.handler)
    const there = await begin(browser)
    const kept = new Map(browser.cookies)
    const path = pathOf(oidc.provider.agree(there, person('twice@example.org')))
    expect((await browser.ask({ path })).status).toBe(303)
    const thief = openBrowser(() => oidc.handler)
    for (const [name, value] of kept) thief.cookies.set(name, value)
    expect((await thief.ask({ path })).status).toBe(400)
  })

  test('neither causes nor the log contain a secret, a token or an address', () => {
    const text = JSON.stringify([logged, causes])
    expect(logged.length).toBeGreaterThan(10)
    expect(text).not.toContain(CLIENT.secret)
    expect(text).not.toMatch(/eyJ[\w-]{10}/)
    expect(text).not.toContain(VICTIM)
  })
})
