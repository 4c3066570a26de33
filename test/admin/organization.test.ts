import { describe, expect, test } from 'bun:test'
import { ensureOwner } from '../../src/admin/identity/organization/owner.ts'
import { createApp } from '../../src/app.ts'
import { objectOf } from '../../src/http/json.ts'
import { ensureFirstRun } from '../../src/server/first-run.ts'
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { administration } from './administration.ts'
import { accept, actionsOn, memberOf, signIn } from './members.ts'
import { dataOf, join, listOf, manage as manageAt, openBrowser } from './people.ts'

let now = Date.now()
const admin = administration({ now: () => now })
const { manage } = admin

const members = () => manage('GET', '/organization/members')

describe('members', () => {
  test('are listed in the order in which they joined, with all five fields', async () => {
    const [owner] = listOf(await members())
    expect(owner).toEqual({
      id: expect.stringMatching(/^user_/),
      email: '',
      first_name: null,
      last_name: null,
      role: 'org:admin',
    })
    now += 1000
    const { id } = await join(() => admin.handler, 'first@example.org')
    const page = await manage('GET', '/organization/members?offset=1&limit=1')
    expect(page.json).toEqual({
      data: [{ id, email: 'first@example.org', first_name: null, last_name: null, role: 'org:member' }],
      total_count: 2,
      next_cursor: null,
    })
  })

  test('change roles; the last administrator cannot', async () => {
    const [owner] = listOf(await members())
    const demote = () => manage('PATCH', `/organization/members/${owner?.['id']}`, { role: 'org:member' })
    const refused = await demote()
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('last administrator')])
    expect((await manage('DELETE', `/organization/members/${owner?.['id']}`)).status).toBe(400)
    const { id } = await join(() => admin.handler, 'second-admin@example.org', 'org:admin')
    expect(dataOf(await demote())['role']).toBe('org:member')
    expect((await manage('PATCH', `/organization/members/${id}`, { role: 'org:member' })).status).toBe(400)
    await manage('PATCH', `/organization/members/${owner?.['id']}`, { role: 'org:admin' })
    expect(
      dataOf(await manage('PATCH', `/organization/members/${id}`, { role: 'org:member' })),
    ).toMatchObject({
      id,
      role: 'org:member',
    })
    expect(await actionsOn(admin, id)).toEqual(['member.change_role', 'member.join'])
  })

  test('with active keys are not removed; the error names the keys of every workspace', async () => {
    const { id, browser } = await join(() => admin.handler, 'holder@example.org')
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
    expect(await memberOf(admin, 'holder@example.org')).toBeUndefined()
    expect((await browser.ask({ path: '/api/v1/auth/session' })).status).toBe(401)
    expect((await signIn(admin, 'holder@example.org')).status).toBe(401)
    expect(
      listOf(await manage('GET', '/workspaces/far/members')).map(({ user_id }) => user_id),
    ).not.toContain(id)
    expect((await remove()).status).toBe(404)
    // The address is free again, for another person.
    const again = await join(() => admin.handler, 'holder@example.org')
    expect(again.id).not.toBe(id)
  })

  test('management keys of a removed administrator pass to the owner', async () => {
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
    const { id, browser } = await join(() => admin.handler, 'everywhere@example.org')
    expect((await manage('DELETE', `/organization/members/${id}/sessions`)).json).toEqual({ deleted: true })
    expect((await browser.ask({ path: '/api/v1/auth/session' })).status).toBe(401)
    expect((await signIn(admin, 'everywhere@example.org')).status).toBe(200)
  })

  test('a member who forgot the password gets a link to set a new one', async () => {
    const { id, browser } = await join(() => admin.handler, 'forgot@example.org', 'org:admin')
    const made = objectOf((await manage('POST', `/organization/members/${id}/password-link`, {})).json)
    const reply = await accept(admin, made['token'], { password: 'quite another password' })
    expect(dataOf(reply)['user']).toMatchObject({ id, role: 'org:admin' })
    expect((await browser.ask({ path: '/api/v1/auth/session' })).status).toBe(401)
    expect((await signIn(admin, 'forgot@example.org')).status).toBe(401)
    expect((await signIn(admin, 'forgot@example.org', 'quite another password')).status).toBe(200)
    expect((await actionsOn(admin, id)).slice(0, 1)).toEqual(['member.set_password'])
  })
})

test('every start ensures the owner from the settings, and a new password ends their sessions', async () => {
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
  // The member with the address becomes an administrator.
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
