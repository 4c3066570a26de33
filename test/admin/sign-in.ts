/** A gateway with an owner who signs in, for the tests of one file. */
import { afterAll, beforeAll, beforeEach, expect } from 'bun:test'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { type Ask, type Browser, openBrowser } from './people.ts'

export const OWNER = 'owner@example.org'
export const OWNER_PASSWORD = 'the password of the owner'
export const MINUTE = 60_000
export const DAY = 24 * 60 * MINUTE
export const SESSION: Ask = { path: '/api/v1/auth/session' }

export const signIn = (email: string, password: string, over: Partial<Ask> = {}): Ask => ({
  method: 'POST',
  path: '/api/v1/auth/sign-in',
  body: { email, password },
  ...over,
})

/** Before each test the clock leaves the window of earlier failures, and address and site are the usual ones. */
export function startSignIn() {
  const usual: { address: string | null; site: string } = { address: '192.0.2.1', site: 'http://localhost' }
  const at = { now: Date.now(), ...usual }
  let gateway: Gateway
  let handler: Handler
  beforeAll(async () => {
    gateway = await startGateway({
      now: () => at.now,
      address: () => at.site,
      environment: { SLUICE_ADMIN_EMAIL: 'Owner@Example.org', SLUICE_ADMIN_PASSWORD: OWNER_PASSWORD },
    })
    handler = createApp({ ...gateway.deps, addressOf: () => at.address })
  })
  afterAll(() => gateway.stop())
  beforeEach(() => {
    Object.assign(at, usual)
    at.now += 16 * MINUTE
  })
  const browser = (): Browser => openBrowser(() => handler)
  return {
    at,
    get gateway() {
      return gateway
    },
    get handler() {
      return handler
    },
    browser,
    async ownersBrowser(): Promise<Browser> {
      const own = browser()
      expect((await own.ask(signIn(OWNER, OWNER_PASSWORD))).status).toBe(200)
      return own
    },
  }
}
