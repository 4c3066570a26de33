import { describe, expect, test } from 'bun:test'
import { OWNER, OWNER_PASSWORD, signIn, startSignIn } from './sign-in.ts'

const { browser, ownersBrowser } = startSignIn()

describe('a page of another site', () => {
  const rows: [name: string, headers: Record<string, string>, write: number][] = [
    ['an own page', { 'sec-fetch-site': 'same-origin' }, 200],
    ['an own page without encryption', { origin: 'http://localhost' }, 200],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['another host of the domain', { 'sec-fetch-site': 'same-site' }, 403],
    ['a bookmark', { 'sec-fetch-site': 'none' }, 403],
    ['another origin', { origin: 'http://evil.example' }, 403],
    ['another port', { origin: 'http://localhost:8080' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    ['an origin with ours as its prefix', { origin: 'http://localhost.evil.example' }, 403],
    ['an origin with a path', { origin: 'http://localhost/path' }, 403],
    ['another site that sends both', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost' }, 403],
    ['nothing', {}, 403],
  ]
  test.each(rows)('%s', async (_name, headers, status) => {
    const own = await ownersBrowser()
    const patch = { method: 'PATCH', path: '/api/v1/workspaces/default', body: { description: 'd' } }
    expect((await own.askFrom(patch, headers)).status).toBe(status)
    expect((await own.askFrom({ method: 'DELETE', path: '/api/v1/keys/x' }, headers)).status).toBe(
      status === 200 ? 404 : 403,
    )
    const bad = { ...patch, body: '{ malformed' }
    expect((await own.askFrom(bad, headers)).status).toBe(status === 200 ? 400 : 403)
    const end = { method: 'DELETE', path: `/api/v1/auth/sessions/${'0'.repeat(64)}` }
    expect((await own.askFrom(end, headers)).status).toBe(status === 200 ? 404 : 403)
    const change = { method: 'POST', path: '/api/v1/auth/password', body: {} }
    expect((await own.askFrom(change, headers)).status).toBe(status === 200 ? 400 : 403)
    // Reading is harmless: a browser does not give the reply to a page of another site.
    expect((await own.askFrom({ path: '/api/v1/workspaces' }, headers)).status).toBe(200)
    const out = await own.askFrom({ method: 'POST', path: '/api/v1/auth/sign-out' }, headers)
    expect(out.status).toBe(status)
  })

  test('cannot sign in; a client that is not a browser can', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'http://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of foreign) {
      const reply = await browser().askFrom(signIn(OWNER, OWNER_PASSWORD), headers)
      expect([reply.status, reply.headers.get('set-cookie')]).toEqual([403, null])
    }
    expect((await browser().askFrom(signIn(OWNER, OWNER_PASSWORD), {})).status).toBe(200)
  })
})
