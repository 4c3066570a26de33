import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { administration } from './administration.ts'
import { accept, actionsOn, memberOf, signIn } from './members.ts'
import { listOf } from './people.ts'

const DAY = 24 * 3_600_000
let now = Date.now()
const admin = administration({ now: () => now })
const { manage } = admin

describe('invitations', () => {
  test('a link admits one person, once', async () => {
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
      accept(admin, token, { first_name: 'New', last_name: 'Person' }),
      accept(admin, token, { first_name: 'Other' }),
    ])
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 404])
    expect(await memberOf(admin, 'new.person@example.org')).toMatchObject({ role: 'org:admin' })
    expect((await signIn(admin, 'new.person@example.org')).status).toBe(200)
    expect(listOf(await manage('GET', '/organization/invitations'))).toEqual([])
    const invited = await manage('POST', '/organization/invitations', { email: 'new.person@example.org' })
    expect([invited.status, invited.text]).toEqual([409, expect.stringContaining('email')])
  })

  test('a link ends after seven days, when it is revoked, and when there is a newer one', async () => {
    const invite = async () =>
      objectOf((await manage('POST', '/organization/invitations', { email: 'late@example.org' })).json)
    const first = await invite()
    const second = await invite()
    expect((await accept(admin, first['token'])).status).toBe(404)
    now += 7 * DAY
    expect((await accept(admin, second['token'])).status).toBe(404)
    expect(listOf(await manage('GET', '/organization/invitations'))[0]).toMatchObject({ status: 'expired' })
    const third = await invite()
    const { id } = objectOf(third['data'])
    expect((await manage('DELETE', `/organization/invitations/${id}`)).json).toEqual({ deleted: true })
    expect((await accept(admin, third['token'])).status).toBe(404)
    expect((await manage('DELETE', `/organization/invitations/${id}`)).status).toBe(404)
    expect(await actionsOn(admin, String(id))).toEqual(['invitation.revoke', 'invitation.create'])
    expect(await memberOf(admin, 'late@example.org')).toBeUndefined()
  })

  test('two requests with one Idempotency-Key create one invitation with one link', async () => {
    const headers = { 'idempotency-key': 'invite-once' }
    const invite = () => manage('POST', '/organization/invitations', { email: 'once@example.org' }, headers)
    expect((await invite()).json).toEqual((await invite()).json)
  })

  test('no token is in the database or the audit log', async () => {
    const made = await manage('POST', '/organization/invitations', { email: 'canary@example.org' })
    const token = String(objectOf(made.json)['token'])
    expect(token).toHaveLength(43)
    expect((await manage('GET', '/audit-log?limit=100')).text).not.toContain(token)
    for (const name of ['sluice.db', 'sluice.db-wal']) {
      const bytes = await Bun.file(`${admin.gateway.folder}/${name}`).bytes()
      expect(Buffer.from(bytes).includes(token)).toBe(false)
    }
  })
})
