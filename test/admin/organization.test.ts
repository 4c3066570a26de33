import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ensureOwner } from '../../src/admin/identity/organization/owner.ts'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { ensureFirstRun } from '../../src/server/first-run.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios, type Scenario } from '../scenario.ts'
import { dataOf, join, listOf, manage as manageAt, openBrowser, PASSWORD } from './people.ts'

const DAY = 24 * 3_600_000
let now = Date.now()
let gateway: Gateway
let handler: Handler

beforeAll(async () => {
  gateway = await startGateway({ now: () => now })
  handler = createApp(gateway.deps)
})
afterAll(() => gateway.stop())

const manage = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  manageAt(handler, method, path, body, headers)
const members = () => manage('GET', '/organization/members')
const memberOf = async (email: string) => listOf(await members()).find((member) => member['email'] === email)
const accept = (token: unknown, more: object = {}): Promise<Reply> =>
  call(handler, {
    method: 'POST',
    path: '/v1/auth/accept-invitation',
    body: { token, password: PASSWORD, ...more },
  })
const signIn = (email: string, password = PASSWORD) =>
  call(handler, { method: 'POST', path: '/v1/auth/sign-in', body: { email, password } })
const actions = async (id: string): Promise<unknown[]> =>
  listOf(await manage('GET', `/audit-log?limit=100&resource_id=${id}`)).map(({ action }) => action)

describe('members', () => {
  test('are listed in the order of their joining, with all five fields', async () => {
    const [owner] = listOf(await members())
    expect(owner).toEqual({
      id: expect.stringMatching(/^user_/),
      email: '',
      first_name: null,
      last_name: null,
      role: 'org:admin',
    })
    now += 1000
    const { id } = await join(() => handler, 'first@example.org')
    const page = await manage('GET', '/organization/members?offset=1&limit=1')
    expect(page.json).toEqual({
      data: [{ id, email: 'first@example.org', first_name: null, last_name: null, role: 'org:member' }],
      total_count: 2,
      next_cursor: null,
    })
  })

  test('a role changes; the last administrator stays one', async () => {
    const [owner] = listOf(await members())
    const demote = () => manage('PATCH', `/organization/members/${owner?.['id']}`, { role: 'org:member' })
    const refused = await demote()
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('last administrator')])
    expect((await manage('DELETE', `/organization/members/${owner?.['id']}`)).status).toBe(400)
    const { id } = await join(() => handler, 'second-admin@example.org', 'org:admin')
    expect(dataOf(await demote())['role']).toBe('org:member')
    expect((await manage('PATCH', `/organization/members/${id}`, { role: 'org:member' })).status).toBe(400)
    await manage('PATCH', `/organization/members/${owner?.['id']}`, { role: 'org:admin' })
    expect(
      dataOf(await manage('PATCH', `/organization/members/${id}`, { role: 'org:member' })),
    ).toMatchObject({
      id,
      role: 'org:member',
    })
    expect(await actions(id)).toEqual(['member.change_role', 'member.join'])
  })

  test('who has active keys is not removed: they are named, wherever they are', async () => {
    const { id, browser } = await join(() => handler, 'holder@example.org')
    const space = dataOf(await manage('POST', '/workspaces', { name: 'Far', slug: 'far' }))
    const make = async (name: string, workspace_id?: unknown) =>
      dataOf(await manage('POST', '/keys', { name, creator_user_id: id, workspace_id }))['hash']
    // One person, keys in two workspaces.
    const hashes = [await make('near key'), await make('far key', space['id'])]
    const remove = () => manage('DELETE', `/organization/members/${id}`)
    const refused = await remove()
    expect(refused.status).toBe(400)
    for (const name of ['near key', 'far key']) expect(refused.text).toContain(name)
    await manage('DELETE', `/keys/${hashes[0]}`)
    expect((await remove()).text).not.toContain('near key')
    await manage('PATCH', `/keys/${hashes[1]}`, { disabled: true })
    await manage('POST', '/workspaces/far/members/add', { user_ids: [id] })
    expect((await remove()).json).toEqual({ deleted: true })
    expect(await memberOf('holder@example.org')).toBeUndefined()
    expect((await browser.ask({ path: '/api/v1/auth/session' })).status).toBe(401)
    expect((await signIn('holder@example.org')).status).toBe(401)
    expect(
      listOf(await manage('GET', '/workspaces/far/members')).map(({ user_id }) => user_id),
    ).not.toContain(id)
    expect((await remove()).status).toBe(404)
    // The address is free again, for another person.
    const again = await join(() => handler, 'holder@example.org')
    expect(again.id).not.toBe(id)
  })

  test('management keys of an administrator who leaves pass to the owner and go on', async () => {
    const other = await startGateway()
    const app = createApp(other.deps)
    const [first] = listOf(await manageAt(app, 'GET', '/organization/members'))
    const { id } = await join(() => app, 'heir@example.org', 'org:admin')
    const active = listOf(await manageAt(app, 'GET', '/keys'))
    for (const { hash } of active) await manageAt(app, 'DELETE', `/keys/${hash}`)
    expect((await manageAt(app, 'DELETE', `/organization/members/${first?.['id']}`)).status).toBe(200)
    const made = await manageAt(app, 'POST', '/keys', { name: 'after' })
    expect(dataOf(made)['creator_user_id']).toBe(id)
    await ensureFirstRun(other.database, {
      managementKey: MANAGEMENT_KEY,
      apiKey: API_KEY,
      adminEmail: null,
      adminPassword: null,
    })
    await other.stop()
  })

  test('are signed out everywhere', async () => {
    const { id, browser } = await join(() => handler, 'everywhere@example.org')
    expect((await manage('DELETE', `/organization/members/${id}/sessions`)).json).toEqual({ deleted: true })
    expect((await browser.ask({ path: '/api/v1/auth/session' })).status).toBe(401)
    expect((await signIn('everywhere@example.org')).status).toBe(200)
  })

  test('one who forgot the password gets a link for a new one', async () => {
    const { id, browser } = await join(() => handler, 'forgot@example.org', 'org:admin')
    const made = objectOf((await manage('POST', `/organization/members/${id}/password-link`, {})).json)
    const reply = await accept(made['token'], { password: 'quite another password' })
    expect(dataOf(reply)['user']).toMatchObject({ id, role: 'org:admin' })
    expect((await browser.ask({ path: '/api/v1/auth/session' })).status).toBe(401)
    expect((await signIn('forgot@example.org')).status).toBe(401)
    expect((await signIn('forgot@example.org', 'quite another password')).status).toBe(200)
    expect((await actions(id)).slice(0, 1)).toEqual(['member.set_password'])
  })
})

describe('invitations', () => {
  test('a link lets one person in, once', async () => {
    const made = await manage('POST', '/organization/invitations', {
      email: 'New.Person@Example.org',
      role: 'org:admin',
    })
    const { data, token, url } = objectOf(made.json)
    expect(data).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: 'new.person@example.org',
      role: 'org:admin',
      created_at: new Date(now).toISOString(),
      created_by: expect.stringMatching(/^user_/),
      expires_at: new Date(now + 7 * DAY).toISOString(),
      status: 'open',
    })
    expect(url).toBe(`http://localhost/ui/invite#t=${token}`)
    const listed = await manage('GET', '/organization/invitations')
    expect(listOf(listed)[0]).toMatchObject({ email: 'new.person@example.org' })
    expect(listed.text).not.toContain(String(token))
    const replies = await Promise.all([
      accept(token, { first_name: 'New', last_name: 'Person' }),
      accept(token, { first_name: 'Other' }),
    ])
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 404])
    expect(await memberOf('new.person@example.org')).toMatchObject({ role: 'org:admin' })
    expect((await signIn('new.person@example.org')).status).toBe(200)
    expect(listOf(await manage('GET', '/organization/invitations'))).toEqual([])
    const invited = await manage('POST', '/organization/invitations', { email: 'new.person@example.org' })
    expect([invited.status, invited.text]).toEqual([409, expect.stringContaining('email')])
  })

  test('it ends after seven days, when it is revoked, and when there is a newer one', async () => {
    const invite = async () =>
      objectOf((await manage('POST', '/organization/invitations', { email: 'late@example.org' })).json)
    const first = await invite()
    const second = await invite()
    expect((await accept(first['token'])).status).toBe(404)
    now += 7 * DAY
    expect((await accept(second['token'])).status).toBe(404)
    expect(listOf(await manage('GET', '/organization/invitations'))[0]).toMatchObject({ status: 'expired' })
    const third = await invite()
    const { id } = objectOf(third['data'])
    expect((await manage('DELETE', `/organization/invitations/${id}`)).json).toEqual({ deleted: true })
    expect((await accept(third['token'])).status).toBe(404)
    expect((await manage('DELETE', `/organization/invitations/${id}`)).status).toBe(404)
    expect(await actions(String(id))).toEqual(['invitation.revoke', 'invitation.create'])
    expect(await memberOf('late@example.org')).toBeUndefined()
  })

  test('the same Idempotency-Key makes one, with the same link', async () => {
    const headers = { 'idempotency-key': 'invite-once' }
    const invite = () => manage('POST', '/organization/invitations', { email: 'once@example.org' }, headers)
    expect((await invite()).json).toEqual((await invite()).json)
  })

  test('no token lies in the database or the audit log', async () => {
    const made = await manage('POST', '/organization/invitations', { email: 'canary@example.org' })
    const token = String(objectOf(made.json)['token'])
    expect(token).toHaveLength(43)
    expect((await manage('GET', '/audit-log?limit=100')).text).not.toContain(token)
    for (const name of ['sluice.db', 'sluice.db-wal']) {
      const bytes = await Bun.file(`${gateway.folder}/${name}`).bytes()
      expect(Buffer.from(bytes).includes(token)).toBe(false)
    }
  })
})

test('the owner of the settings is ensured at every start, and a new password ends their sessions', async () => {
  const settings = { adminEmail: 'Boss@Example.org', adminPassword: 'first password of boss' }
  const other = await startGateway()
  const app = createApp(other.deps)
  await ensureOwner(other.database, settings, Date.now())
  const browser = openBrowser(() => app)
  const enter = (password: string) =>
    browser.ask({ method: 'POST', path: '/v1/auth/sign-in', body: { email: 'boss@example.org', password } })
  expect((await enter(settings.adminPassword)).status).toBe(200)
  await ensureOwner(other.database, settings, Date.now())
  expect((await browser.ask({ path: '/v1/auth/session' })).status).toBe(200)
  await ensureOwner(other.database, { ...settings, adminPassword: 'second password of boss' }, Date.now())
  expect((await browser.ask({ path: '/v1/auth/session' })).status).toBe(401)
  expect((await enter(settings.adminPassword)).status).toBe(401)
  expect((await enter('second password of boss')).status).toBe(200)
  // Who has the address is the one who is meant, whatever became of them.
  const { id } = await join(() => app, 'member@example.org')
  await ensureOwner(other.database, { adminEmail: 'member@example.org', adminPassword: null }, Date.now())
  const all = listOf(await manageAt(app, 'GET', '/organization/members'))
  expect(all.map((one) => [one['email'], one['role']])).toEqual([
    ['boss@example.org', 'org:admin'],
    ['member@example.org', 'org:admin'],
  ])
  expect(all[1]?.['id']).toBe(id)
  await other.stop()
})

const OPERATIONS: [method: string, path: string, body?: unknown][] = [
  ['GET', '/organization/members'],
  ['PATCH', '/organization/members/ID', { role: 'org:member' }],
  ['DELETE', '/organization/members/ID'],
  ['DELETE', '/organization/members/ID/sessions'],
  ['POST', '/organization/members/ID/password-link', {}],
  ['GET', '/organization/invitations'],
  ['POST', '/organization/invitations', { email: 'x@example.org' }],
  ['DELETE', '/organization/invitations/ID'],
  ['POST', '/organization/setup-link', {}],
]
const bodies: [name: string, method: string, path: string, body: unknown, contains: string][] = [
  ['no role', 'PATCH', '/organization/members/x', {}, 'role'],
  ['an unknown role', 'PATCH', '/organization/members/x', { role: 'admin' }, 'role'],
  ['an unknown field', 'POST', '/organization/invitations', { email: 'x@example.org', team: 1 }, 'team'],
  ['no address', 'POST', '/organization/invitations', {}, 'email'],
  ['an address that is none', 'POST', '/organization/invitations', { email: 'x@' }, 'email'],
  ['an address of 255', 'POST', '/organization/invitations', { email: `${'x'.repeat(250)}@y.zz` }, 'email'],
  [
    'a short password',
    'POST',
    '/auth/accept-invitation',
    { token: 't', password: 'x'.repeat(11) },
    'password',
  ],
  [
    'a long password',
    'POST',
    '/auth/accept-invitation',
    { token: 't', password: 'x'.repeat(257) },
    'password',
  ],
]
const scenarios: Scenario[] = [
  ...bodies.map(([name, method, path, body, contains]) => ({
    name,
    method,
    path: `/v1${path}`,
    ...(path.startsWith('/auth') ? {} : { key: MANAGEMENT_KEY }),
    body,
    status: 400,
    contains: [contains],
  })),
  ...OPERATIONS.flatMap(([method, path, body]) => {
    const base = { method, path: `/api/v1${path}`, ...(body === undefined ? {} : { body }) }
    return [
      { ...base, name: `${method} ${path} without a key`, status: 401 },
      {
        ...base,
        name: `${method} ${path} with an inference key`,
        key: API_KEY,
        status: 403,
        contains: ['Only management keys'],
      },
      ...(path.includes('ID')
        ? [{ ...base, name: `${method} ${path} of nobody`, key: MANAGEMENT_KEY, status: 404 }]
        : []),
    ]
  }),
  {
    name: 'a page of 101',
    path: '/v1/organization/members?limit=101',
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['limit'],
  },
]
runScenarios('refusals', () => handler, scenarios)
