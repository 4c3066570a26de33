/** A gateway with single sign-on and its identity provider, for the tests of one file. */
import { afterAll, beforeAll, beforeEach, expect } from 'bun:test'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import type { Reply } from '../scenario.ts'
import { CLIENT, type Granted, type IdentityProvider, startIdentityProvider } from './identity-provider.ts'
import { type Browser, dataOf, openBrowser } from './people.ts'

export const START = '/api/v1/auth/oidc/start'
export const pathOf = (url: string | null): string => (url ?? '').replace('http://localhost', '')
export const person = (email: string, more: object = {}): Granted => ({
  claims: { sub: `of ${email}`, email, email_verified: true, given_name: 'Ada', family_name: 'L', ...more },
})
export const whoIs = async (browser: Browser) =>
  dataOf(await browser.ask({ path: '/api/v1/auth/session' }))['user']

export function startSingleSignOn() {
  const clock = { now: Date.now() }
  /** Warnings and errors in the log. */
  const logged: unknown[] = []
  /** Private causes of failures. */
  const causes: string[] = []
  let provider: IdentityProvider
  let gateway: Gateway
  let handler: Handler
  const start = (environment: Record<string, string>): Promise<Gateway> =>
    startGateway({
      now: () => clock.now,
      environment: {
        SLUICE_OIDC_ISSUER: `${provider.issuer}/`,
        SLUICE_OIDC_CLIENT_ID: CLIENT.id,
        SLUICE_OIDC_CLIENT_SECRET: CLIENT.secret,
        ...environment,
      },
    })
  beforeAll(async () => {
    provider = await startIdentityProvider(() => clock.now)
    gateway = await start({})
    gateway.deps.log.warn = (...line: unknown[]) => void logged.push(line)
    gateway.deps.log.error = (...line: unknown[]) => {
      const { err } = objectOf(line[0])
      if (err instanceof Error) causes.push(err.message)
      logged.push(line)
    }
    handler = createApp(gateway.deps)
  })
  afterAll(async () => {
    await gateway.stop()
    await provider.stop()
  })
  beforeEach(() => {
    // The provider's keys may be fetched again.
    clock.now += 60_000
  })

  async function begin(browser: Browser, path = START): Promise<string> {
    const reply = await browser.ask({ path })
    expect([reply.status, reply.text]).toEqual([303, ''])
    return reply.headers.get('location') ?? ''
  }
  /** A browser goes to the provider, and comes back with what the provider grants. */
  const enter = async (granted: Granted, browser = openBrowser(() => handler)): Promise<Reply> =>
    await browser.askFrom(
      { path: pathOf(provider.agree(await begin(browser), granted)) },
      { 'sec-fetch-site': 'cross-site' },
    )
  return {
    clock,
    logged,
    causes,
    get provider() {
      return provider
    },
    get handler() {
      return handler
    },
    start,
    begin,
    enter,
  }
}
