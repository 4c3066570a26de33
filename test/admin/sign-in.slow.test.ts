import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { call, expectEnvelope, runScenarios } from '../scenario.ts'
import { type Ask, dataOf, join, listOf, manage, openBrowser, PASSWORD } from './people.ts'

const OWNER = 'owner@example.org'
const OWNER_PASSWORD = 'the password of the owner'
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let now = Date.now()
let gateway: Gateway
let handler: Handler
let address: string | null = '192.0.2.1'
let site = 'http://localhost'

beforeAll(async () => {
  gateway = await startGateway({
    now: () => now,
    address: () => site,
    environment: { SLUICE_ADMIN_EMAIL: 'Owner@Example.org', SLUICE_ADMIN_PASSWORD: OWNER_PASSWORD },
  })
  handler = createApp({ ...gateway.deps, addressOf: () => address })
})
afterAll(() => gateway.stop())
// Nobody is held back by the failures of an earlier test.
beforeEach(() => {
  now += 16 * MINUTE
  address = '192.0.2.1'
  site = 'http://localhost'
})

const browser = () => openBrowser(() => handler)
const signIn = (email: string, password: string, over: Partial<Ask> = {}): Ask => ({
  method: 'POST',
  path: '/api/v1/auth/sign-in',
  body: { email, password },
  ...over,
})
async function ownersBrowser() {
  const own = browser()
  expect((await own.ask(signIn(OWNER, OWNER_PASSWORD))).status).toBe(200)
  return own
}
const SESSION: Ask = { path: '/api/v1/auth/session' }

describe('password sign-in', () => {
  test('the owner of the settings signs in, is known, and signs out', async () => {
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
    // The token that was is no session any more.
    for (const [name, value] of kept) own.cookies.set(name, value)
    expect((await own.ask(SESSION)).status).toBe(401)
    expect((await own.ask({ method: 'POST', path: '/api/v1/auth/sign-out' })).status).toBe(200)
  })

  test('over https the cookie is of this host alone, below a path of that path alone', async () => {
    const https = await browser().ask(
      signIn(OWNER, OWNER_PASSWORD, { headers: { 'x-forwarded-proto': 'https' } }),
    )
    expect(https.headers.get('set-cookie')).toMatch(
      /^__Host-sluice_session=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
    )
    site = 'https://ai.example.org/sluice'
    const below = await browser().ask(signIn(OWNER, OWNER_PASSWORD))
    expect(below.headers.get('set-cookie')).toMatch(/^sluice_session=[\w-]{43}; Path=\/sluice; .*Secure$/)
  })

  test('an unknown address, a wrong password and an account without one are told apart by nothing', async () => {
    const { browser: other } = await join(() => handler, 'told@example.org')
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

  test('the same letters typed in another way are the same password', async () => {
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
  test('five of an account from an address, then 429 until the quarter of an hour is over', async () => {
    for (let time = 0; time < 5; time++)
      expect((await browser().ask(signIn(OWNER, 'wrong'))).status).toBe(401)
    now += MINUTE
    for (const password of ['wrong', OWNER_PASSWORD]) {
      const reply = await browser().ask(signIn(OWNER, password))
      expectEnvelope(reply)
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, String(14 * 60)])
    }
    // Whoever signs in from elsewhere is not held back by it.
    address = '192.0.2.2'
    const elsewhere = await browser().ask(signIn(OWNER, OWNER_PASSWORD))
    expect(elsewhere.status).toBe(200)
    address = '192.0.2.1'
    now += 14 * MINUTE
    expect((await browser().ask(signIn(OWNER, OWNER_PASSWORD))).status).toBe(200)
  })

  test('an account that does not exist is limited in the same way', async () => {
    const statuses: number[] = []
    for (let time = 0; time < 7; time++)
      statuses.push((await browser().ask(signIn('ghost@example.org', 'wrong'))).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
  })

  test('many at once are no way around it', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => browser().ask(signIn(OWNER, 'wrong'))))
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(5)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(15)
  })

  test('thirty of one address, whatever the account; a /64 of IPv6 is one address', async () => {
    let hash = 0
    gateway.deps.auth.passwords.matches = async () => hash++ < 0
    const { createPasswords } = await import('../../src/admin/identity/auth/passwords.ts')
    try {
      for (let time = 0; time < 30; time++) {
        address = `2001:db8:1:2::${time.toString(16)}`
        expect((await browser().ask(signIn(`guess${time}@example.org`, 'wrong'))).status).toBe(401)
      }
      address = '2001:0db8:0001:0002:ffff::1'
      expect((await browser().ask(signIn('fresh@example.org', 'wrong'))).status).toBe(429)
      address = '2001:db8:1:3::1'
      expect((await browser().ask(signIn('fresh@example.org', 'wrong'))).status).toBe(401)
    } finally {
      Object.assign(gateway.deps.auth.passwords, createPasswords())
    }
  })

  test('a success forgets the failures of the account', async () => {
    for (let round = 0; round < 3; round++) {
      for (let time = 0; time < 4; time++) await browser().ask(signIn(OWNER, 'wrong'))
      expect((await browser().ask(signIn(OWNER, OWNER_PASSWORD))).status).toBe(200)
    }
  })

  test('the audit log has who came in, after how many failures, and who was refused', async () => {
    await browser().ask(signIn(OWNER, 'wrong'))
    await browser().ask(signIn(OWNER, OWNER_PASSWORD, { headers: { 'user-agent': 'browser/1' } }))
    const [entry] = listOf(await manage(handler, 'GET', '/audit-log?action=session.begin'))
    expect(entry).toMatchObject({
      actor: { type: 'user', label: 'Owner' },
      address: '192.0.2.1',
      user_agent: 'browser/1',
      after: { method: 'password', failed_before: 1 },
    })
    const before = listOf(await manage(handler, 'GET', '/audit-log?action=session.refuse')).length
    for (let time = 0; time < 8; time++) await browser().ask(signIn(OWNER, 'wrong'))
    const refused = listOf(await manage(handler, 'GET', '/audit-log?action=session.refuse'))
    expect(refused).toHaveLength(before + 1)
    expect(refused[0]).toMatchObject({ actor: { type: 'system' }, after: { failures: 5 } })
    // The same for nobody, and without what was typed.
    for (let time = 0; time < 8; time++) await browser().ask(signIn('canary@example.org', 'wrong'))
    const [unknown] = listOf(await manage(handler, 'GET', '/audit-log?action=session.refuse'))
    expect(unknown).toMatchObject({ resource: { type: 'session', id: 'unknown' }, after: { failures: 5 } })
    expect(JSON.stringify(unknown)).not.toContain('canary')
  })
})

describe('sessions', () => {
  test('thirty days without use end one; use keeps it', async () => {
    const own = await ownersBrowser()
    for (let time = 0; time < 3; time++) {
      now += 29 * DAY
      expect((await own.ask(SESSION)).status).toBe(200)
    }
    now += 30 * DAY
    expect((await own.ask(SESSION)).status).toBe(401)
  })

  test('are listed and ended one by one; nobody ends those of others', async () => {
    const { browser: ada } = await join(() => handler, 'lists@example.org')
    const second = browser()
    await second.ask(signIn('lists@example.org', PASSWORD, { headers: { 'user-agent': 'second/1' } }))
    const all = listOf(await ada.ask({ path: '/api/v1/auth/sessions' }))
    expect(all).toHaveLength(2)
    expect(all.filter(({ is_current }) => is_current)).toHaveLength(1)
    const other = all.find(({ user_agent }) => user_agent === 'second/1')
    expect(other).toMatchObject({ address: '192.0.2.1', is_current: false })
    const refused = await ada.ask({ path: '/api/v1/auth/sessions?limit=1' })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('query parameter limit')])
    const end = { method: 'DELETE', path: `/api/v1/auth/sessions/${other?.['id']}` }
    const owner = await ownersBrowser()
    expect((await owner.ask(end)).status).toBe(404)
    expect((await ada.ask(end)).json).toEqual({ deleted: true })
    expect((await second.ask(SESSION)).status).toBe(401)
    expect((await ada.ask(SESSION)).status).toBe(200)
    expect((await ada.ask(end)).status).toBe(404)
  })

  test('all end when the password is changed, but for a new one here', async () => {
    const { browser: here } = await join(() => handler, 'changes@example.org')
    const there = browser()
    await there.ask(signIn('changes@example.org', PASSWORD))
    const stolen = new Map(here.cookies)
    const body = { current_password: PASSWORD, new_password: 'another long password' }
    const wrong = await here.ask({
      method: 'POST',
      path: '/api/v1/auth/password',
      body: { ...body, current_password: 'not it' },
    })
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('current_password')])
    expect((await here.ask({ method: 'POST', path: '/api/v1/auth/password', body })).status).toBe(200)
    expect((await here.ask(SESSION)).status).toBe(200)
    expect((await there.ask(SESSION)).status).toBe(401)
    const thief = browser()
    for (const [name, value] of stolen) thief.cookies.set(name, value)
    expect((await thief.ask(SESSION)).status).toBe(401)
    expect((await browser().ask(signIn('changes@example.org', PASSWORD))).status).toBe(401)
    expect((await browser().ask(signIn('changes@example.org', 'another long password'))).status).toBe(200)
  })

  test('no token and no password lies in the database, its log, the audit log or the program log', async () => {
    const own = await ownersBrowser()
    const token = own.cookies.get('sluice_session') ?? ''
    expect(token).toHaveLength(43)
    const audit = (await manage(handler, 'GET', '/audit-log?limit=100')).text
    const files = await Promise.all(
      ['sluice.db', 'sluice.db-wal'].map((name) => Bun.file(`${gateway.folder}/${name}`).bytes()),
    )
    for (const secret of [token, OWNER_PASSWORD, PASSWORD]) {
      expect(audit).not.toContain(secret)
      for (const file of files) expect(Buffer.from(file).includes(secret)).toBe(false)
    }
    const hash = gateway.database.file
      .query<{ password_hash: string }, []>('SELECT password_hash FROM identities LIMIT 1')
      .get()?.password_hash
    expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
  })
})

describe('a session calls administration', () => {
  test('an administrator as a management key, under their own name', async () => {
    const own = await ownersBrowser()
    const made = await own.ask({ method: 'POST', path: '/api/v1/keys', body: { name: 'by the owner' } })
    expect(made.status).toBe(200)
    const hash = String(dataOf(made)['hash'])
    const owner = objectOf(dataOf(await own.ask(SESSION))['user'])
    expect(dataOf(made)['creator_user_id']).toBe(owner['id'])
    const [entry] = listOf(await own.ask({ path: `/api/v1/audit-log?resource_id=${hash}` }))
    expect(entry).toMatchObject({
      actor: { type: 'user', id: owner['id'], label: 'Owner' },
      action: 'key.create',
    })
    expect((await own.ask({ method: 'DELETE', path: `/api/v1/keys/${hash}` })).status).toBe(200)
    expect((await own.ask({ path: '/api/v1/key' })).status).toBe(403)
  })

  test('a key in the request goes before the session', async () => {
    const own = await ownersBrowser()
    const headers = { authorization: 'Bearer not-a-key-that-anybody-has-ever-made-here' }
    expect((await own.ask({ path: '/api/v1/keys', headers })).status).toBe(401)
  })

  test('a session infers nothing', async () => {
    const own = await ownersBrowser()
    const body = { model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] }
    const reply = await own.ask({ method: 'POST', path: '/api/v1/chat/completions', body })
    expect(reply.status).toBe(401)
  })

  test('a member reads what an inference key of their workspaces may, and changes nothing', async () => {
    const { id, browser: ada } = await join(() => handler, 'reads@example.org')
    expect((await ada.ask({ path: '/api/v1/workspaces' })).text).toContain('member of no workspace')
    await manage(handler, 'POST', '/workspaces', { name: 'Lab', slug: 'lab' })
    await manage(handler, 'POST', '/workspaces', { name: 'Secret', slug: 'secret' })
    for (const slug of ['lab', 'default'])
      await manage(handler, 'POST', `/workspaces/${slug}/members/add`, { user_ids: [id] })
    const seen = (slug: string) =>
      ada.ask({ path: '/api/v1/workspaces', headers: { 'x-workspace-id': slug } })
    expect(listOf(await ada.ask({ path: '/api/v1/workspaces' })).map(({ slug }) => slug)).toEqual(['default'])
    expect(listOf(await seen('lab')).map(({ slug }) => slug)).toEqual(['lab'])
    const [foreign, missing] = [await seen('secret'), await seen('missing')]
    expect([foreign.status, foreign.text]).toEqual([404, missing.text])
    expect((await ada.ask({ path: '/api/v1/models' })).status).toBe(200)
    expect((await ada.ask({ path: '/api/v1/keys' })).status).toBe(403)
    expect((await ada.ask({ path: '/api/v1/organization/members' })).status).toBe(403)
    const upload = await ada.ask({
      method: 'DELETE',
      path: '/api/v1/files/file_00000000000000000000000000000000',
    })
    expect([upload.status, upload.text]).toEqual([403, expect.stringContaining('Members may read')])
    const workspaces = objectOf((await ada.ask(SESSION)).json)['data']
    expect(objectOf(workspaces)['workspaces']).toHaveLength(2)
  })

  test.each([
    ['/keys', '/keys', { name: 'k' }],
    ['/guardrails', '/guardrails', { name: 'g' }],
    ['/byok', '/byok', { provider: 'openai', key: 'sk-0123456789abcdef' }],
    [
      '/observability/destinations',
      '/observability/destinations',
      { name: 'd', type: 'webhook', config: { url: 'https://hooks.example/in' } },
    ],
    ['/presets', '/presets/p/chat/completions', { model: 'sluice/demo' }],
  ])(
    'what an administrator makes and lists at %s is of the workspace that the header names',
    async (path, at, body) => {
      const own = await ownersBrowser()
      const slug = `of${path.replaceAll('/', '-')}`
      const { data } = objectOf((await manage(handler, 'POST', '/workspaces', { name: 'Of', slug })).json)
      const id = objectOf(data)['id']
      const headers = { 'x-workspace-id': slug, 'idempotency-key': slug }
      const made = await own.ask({ method: 'POST', path: `/api/v1${at}`, headers, body })
      expect(objectOf(objectOf(made.json)['data'])['workspace_id']).toBe(id)
      const listed = listOf(await own.ask({ path: `/api/v1${path}`, headers: { 'x-workspace-id': slug } }))
      expect(listed.map((one) => one['workspace_id'])).toContain(id)
      const elsewhere = listOf(await own.ask({ path: `/api/v1${path}` }))
      expect(elsewhere.map((one) => one['workspace_id'])).not.toContain(id)
    },
  )

  test('a role that changes holds for the next request of an open session', async () => {
    const { id, browser: bob } = await join(() => handler, 'rises@example.org')
    const role = (said: string) => manage(handler, 'PATCH', `/organization/members/${id}`, { role: said })
    expect((await bob.ask({ path: '/api/v1/keys' })).status).toBe(403)
    await role('org:admin')
    expect((await bob.ask({ path: '/api/v1/keys' })).status).toBe(200)
    await role('org:member')
    expect((await bob.ask({ path: '/api/v1/keys' })).status).toBe(403)
  })
})

describe('pages of other sites', () => {
  const rows: [name: string, headers: Record<string, string>, write: number][] = [
    ['an own page', { 'sec-fetch-site': 'same-origin' }, 200],
    ['an own page without encryption', { origin: 'http://localhost' }, 200],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['another host of the domain', { 'sec-fetch-site': 'same-site' }, 403],
    ['a bookmark', { 'sec-fetch-site': 'none' }, 403],
    ['another origin', { origin: 'http://evil.example' }, 403],
    ['another port', { origin: 'http://localhost:8080' }, 403],
    ['no origin to name', { origin: 'null' }, 403],
    ['an origin that only begins like ours', { origin: 'http://localhost.evil.example' }, 403],
    ['an origin with more than an origin', { origin: 'http://localhost/path' }, 403],
    ['another site that says both', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost' }, 403],
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
    // Reading is harmless: a page of another site is not given the answer.
    expect((await own.askFrom({ path: '/api/v1/workspaces' }, headers)).status).toBe(200)
    const out = await own.askFrom({ method: 'POST', path: '/api/v1/auth/sign-out' }, headers)
    expect(out.status).toBe(status)
  })

  test('no page of another site signs anybody in; what is no browser may', async () => {
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

describe('the set-up link', () => {
  test('sets up the owner once, within half an hour, and signs them in', async () => {
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
    // The later one took its place.
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
    // No second management key was made.
    expect(
      bare.database.file.query("SELECT hash FROM api_keys WHERE kind = 'management'").all(),
    ).toHaveLength(1)
    await bare.stop()
  })
})

runScenarios('refusals', () => handler, [
  { name: 'a session without one', path: '/v1/auth/session', status: 401, contains: ['Sign in first'] },
  { name: 'sessions without one', path: '/v1/auth/sessions', status: 401 },
  {
    name: 'ending without one',
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
    name: 'a cookie that is no session',
    path: '/v1/auth/session',
    headers: { cookie: 'sluice_session=abc' },
    status: 401,
  },
  {
    name: 'administration by a cookie that is none',
    path: '/v1/keys',
    headers: { cookie: `sluice_session=${'a'.repeat(43)}` },
    status: 401,
  },
  {
    name: 'an address that is none',
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
    name: 'single sign-on that is not set up',
    path: '/v1/auth/oidc/start',
    status: 404,
    contains: ['not set up'],
  },
  { name: 'how to sign in', path: '/v1/auth/methods', status: 200, json: { password: true, oidc: null } },
])
