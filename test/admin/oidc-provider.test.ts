import { describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { expectEnvelope } from '../scenario.ts'
import { person, START, startSingleSignOn, whoIs } from './oidc.ts'
import { listOf, manage, openBrowser } from './people.ts'

const oidc = startSingleSignOn()
const { causes, clock, enter, start } = oidc

describe('a provider that fails', () => {
  const rows: [name: string, set: () => void][] = [
    ['answers 500', () => Object.assign(oidc.provider, { broken: 500 })],
    ['answers with a page', () => Object.assign(oidc.provider, { broken: 200 })],
    [
      'has another name',
      () => Object.assign(oidc.provider, { discovery: { issuer: 'https://evil.example' } }),
    ],
    ['names no token endpoint', () => Object.assign(oidc.provider, { discovery: { token_endpoint: null } })],
    [
      'names an endpoint that is not an address',
      () => Object.assign(oidc.provider, { discovery: { jwks_uri: 'file:///etc/passwd' } }),
    ],
  ]
  test.each(rows)('%s', async (_name, set) => {
    // The cached discovery document has expired.
    clock.now += 3_600_001
    set()
    const reply = await openBrowser(() => oidc.handler).ask({ path: START })
    Object.assign(oidc.provider, { broken: null, discovery: {} })
    expectEnvelope(reply)
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([502, null])
  })

  test('with endpoints on other private hosts is not called', async () => {
    clock.now += 3_600_001
    oidc.provider.discovery = {
      token_endpoint: `${oidc.provider.issuer.replace('127.0.0.1', '127.0.0.2')}/token`,
    }
    const reply = await enter(person('victim@example.org'))
    oidc.provider.discovery = {}
    clock.now += 3_600_001
    expect(reply.status).toBe(502)
    expect(causes.at(-1)).toMatch(/^127\.0\.0\.2:\d+\/realm\/token: The URL leads to a private/)
  })
})

describe('groups', () => {
  const SETTINGS = {
    SLUICE_OIDC_GROUPS_CLAIM: 'roles',
    SLUICE_OIDC_ADMIN_GROUPS: 'ai-admins, owners',
    SLUICE_OIDC_MEMBER_GROUPS: 'staff',
    SLUICE_OIDC_TRUST_EMAIL: 'on',
  }
  test('decide at each sign-in on role and admission; the last administrator stays one', async () => {
    const other = await start(SETTINGS)
    const app = createApp(other.deps)
    const role = async (email: string, roles: unknown): Promise<unknown> => {
      const browser = openBrowser(() => app)
      const reply = await enter(person(email, { roles, email_verified: undefined }), browser)
      return reply.status === 303 ? Object(await whoIs(browser)).role : reply.status
    }
    expect(await role('ada@example.org', ['staff'])).toBe('org:member')
    expect(await role('ada@example.org', ['staff', 'owners'])).toBe('org:admin')
    expect(await role('ada@example.org', ['staff'])).toBe('org:member')
    expect(await role('bob@example.org', 'ai-admins')).toBe('org:admin')
    for (const roles of [[], ['other'], undefined, 'staffroom', { staff: true }, [['staff']]])
      expect(await role('eve@example.org', roles)).toBe(403)
    // A member who has lost the group is rejected.
    expect(await role('ada@example.org', ['other'])).toBe(403)
    const owner = listOf(await manage(app, 'GET', '/organization/members'))[0]
    await manage(app, 'PATCH', `/organization/members/${owner?.['id']}`, { role: 'org:member' })
    expect(await role('bob@example.org', ['staff'])).toBe('org:admin')
    await other.stop()
  })
})
