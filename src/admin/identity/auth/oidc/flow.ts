import { badRequest } from '../../../../core/errors.ts'
import type { Sealer } from '../../../../db/seal.ts'
import { cookieOf, setCookie } from '../../../../http/cookies.ts'
import { isJsonObject } from '../../../../http/json.ts'
import { cookiePath, type Site } from '../../../../http/site.ts'
import { newToken } from '../tokens.ts'
import type { Proof } from './client.ts'

/** A sign-in that a browser began: sealed into its cookie, so that no other browser can complete it. */
export interface Flow extends Proof {
  /** A path of this server. */
  returnTo: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

const NAME = 'sluice_sign_in'
const LIFETIME_MS = 10 * 60_000

export const newFlow = (returnTo: string, now: number): Flow => ({
  state: newToken(),
  nonce: newToken(),
  verifier: newToken(),
  returnTo,
  expiresAt: now + LIFETIME_MS,
})

const callbackOf = (address: string): string => `${address}/api/v1/auth/oidc/callback`
/** Where the identity provider sends the browser back to: to be registered there. */
export const redirectUri = (site: Site): string => callbackOf(site.address)
const pathOf = (site: Site): string => callbackOf(cookiePath(site).replace(/\/$/, ''))

const placeOf = (state: string) => ({ table: 'sessions', column: 'sign_in', rowId: state })

export const flowCookie = (flow: Flow, sealer: Sealer, site: Site, secure: boolean): string =>
  setCookie({
    name: NAME,
    value: sealer.seal(JSON.stringify(flow), placeOf(flow.state)),
    path: pathOf(site),
    maxAgeSeconds: LIFETIME_MS / 1000,
    isSecure: secure,
  })

export const endFlowCookie = (site: Site, secure: boolean): string =>
  setCookie({ name: NAME, value: '', path: pathOf(site), maxAgeSeconds: 0, isSecure: secure })

/** The sign-in that this browser has begun under this state. Throws a `GatewayError` 400 for any other. */
export function flowOf(request: Request, state: string, sealer: Sealer, now: number): Flow {
  const flow = opened(cookieOf(request, NAME) ?? '', state, sealer)
  if (flow === null || flow.expiresAt <= now)
    throw badRequest('This sign-in was started in another browser, or more than 10 minutes ago: start again')
  return flow
}

function opened(cookie: string, state: string, sealer: Sealer): Flow | null {
  try {
    const value: unknown = JSON.parse(sealer.open(cookie, placeOf(state)))
    return isFlow(value) ? value : null
  } catch {
    return null
  }
}

const isFlow = (value: unknown): value is Flow =>
  isJsonObject(value) &&
  ['state', 'nonce', 'verifier', 'returnTo'].every((name) => typeof value[name] === 'string') &&
  typeof value['expiresAt'] === 'number'
