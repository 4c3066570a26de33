import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { dataOf, join, listOf, manage, PASSWORD } from './people.ts'
import { DAY, OWNER_PASSWORD, SESSION, signIn, startSignIn } from './sign-in.ts'

const admin = startSignIn()
const { at, browser, ownersBrowser } = admin

describe('sessions', () => {
  test('a session ends after thirty days without use', async () => {
    const own = await ownersBrowser()
    for (let time = 0; time < 3; time++) {
      at.now += 29 * DAY
      expect((await own.ask(SESSION)).status).toBe(200)
    }
    at.now += 30 * DAY
    expect((await own.ask(SESSION)).status).toBe(401)
  })

  test('a session is listed and ended, but not by another person', async () => {
    const { browser: ada } = await join(() => admin.handler, 'lists@example.org')
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

  test('a change of the password ends all sessions and begins a new one', async () => {
    const { browser: here } = await join(() => admin.handler, 'changes@example.org')
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

  test('no token and no password is in the database, its write-ahead log or the audit log', async () => {
    const own = await ownersBrowser()
    const token = own.cookies.get('sluice_session') ?? ''
    expect(token).toHaveLength(43)
    const audit = (await manage(admin.handler, 'GET', '/audit-log?limit=100')).text
    const files = await Promise.all(
      ['sluice.db', 'sluice.db-wal'].map((name) => Bun.file(`${admin.gateway.folder}/${name}`).bytes()),
    )
    for (const secret of [token, OWNER_PASSWORD, PASSWORD]) {
      expect(audit).not.toContain(secret)
      for (const file of files) expect(Buffer.from(file).includes(secret)).toBe(false)
    }
    const hash = admin.gateway.database.file
      .query<{ password_hash: string }, []>('SELECT password_hash FROM identities LIMIT 1')
      .get()?.password_hash
    expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
  })
})

describe('a session calls administration', () => {
  test('as a management key does if it is of an administrator, under their own name', async () => {
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

  test('unless the request has a key, which takes precedence', async () => {
    const own = await ownersBrowser()
    const headers = { authorization: 'Bearer not-a-key-that-was-ever-created-anywhere' }
    expect((await own.ask({ path: '/api/v1/keys', headers })).status).toBe(401)
  })

  test('but not inference', async () => {
    const own = await ownersBrowser()
    const body = { model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] }
    const reply = await own.ask({ method: 'POST', path: '/api/v1/chat/completions', body })
    expect(reply.status).toBe(401)
  })

  test('as a member with the rights of an inference key to read, and changes nothing', async () => {
    const { id, browser: ada } = await join(() => admin.handler, 'reads@example.org')
    expect((await ada.ask({ path: '/api/v1/workspaces' })).text).toContain('not a member of a workspace')
    await manage(admin.handler, 'POST', '/workspaces', { name: 'Lab', slug: 'lab' })
    await manage(admin.handler, 'POST', '/workspaces', { name: 'Secret', slug: 'secret' })
    for (const slug of ['lab', 'default'])
      await manage(admin.handler, 'POST', `/workspaces/${slug}/members/add`, { user_ids: [id] })
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
    expect([upload.status, upload.text]).toEqual([403, expect.stringContaining('Members can only read')])
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
    'and at %s an administrator creates and lists in the workspace that the header names',
    async (path, at, body) => {
      const own = await ownersBrowser()
      const slug = `of${path.replaceAll('/', '-')}`
      const { data } = objectOf(
        (await manage(admin.handler, 'POST', '/workspaces', { name: 'Of', slug })).json,
      )
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

  test('and a changed role applies to its next request', async () => {
    const { id, browser: bob } = await join(() => admin.handler, 'rises@example.org')
    const role = (next: string) =>
      manage(admin.handler, 'PATCH', `/organization/members/${id}`, { role: next })
    expect((await bob.ask({ path: '/api/v1/keys' })).status).toBe(403)
    await role('org:admin')
    expect((await bob.ask({ path: '/api/v1/keys' })).status).toBe(200)
    await role('org:member')
    expect((await bob.ask({ path: '/api/v1/keys' })).status).toBe(403)
  })
})
