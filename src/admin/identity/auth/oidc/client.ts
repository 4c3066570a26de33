/** Single sign-on by OpenID Connect: the authorization code flow with PKCE (OIDC Core 1.0, RFC 7636, RFC 9700). */

import type * as OAuth from 'oauth4webapi'
import { GatewayError, unavailable } from '../../../../core/errors.ts'
import type { JsonObject } from '../../../../core/events.ts'
import { neverBack } from '../../../../core/never-back.ts'
import { isJsonObject } from '../../../../http/json.ts'
import { hostOf, type OutboundAllow } from '../../../../net/address.ts'
import { guardedFetch, responseOf } from '../../../../net/guarded.ts'
import { failed, unproven } from './failure.ts'

export interface OidcSettings {
  /** Without a trailing slash. */
  issuer: string
  clientId: string
  /** Null: a public client, which PKCE alone protects. */
  clientSecret: string | null
  /** Separated by spaces. */
  scopes: string
  /** The claim that lists a person's groups. */
  groupsClaim: string
  /** Members of these groups are administrators. Empty: roles are changed in Sluice only. */
  adminGroups: readonly string[]
  /** Only members of these groups and administrators may sign in. Empty: everyone whom the provider accepts. */
  memberGroups: readonly string[]
  /** Treats an e-mail address as verified unless the provider says that it is not. */
  trustEmail: boolean
}

/** Secrets of one sign-in, stored in the browser until it comes back. */
export interface Proof {
  state: string
  nonce: string
  /** The code verifier of PKCE. */
  verifier: string
}

/** Parameters with which the provider sends the browser back. */
interface Callback {
  code: string
  state: string
  iss?: string | undefined
}

export interface OidcClient {
  readonly settings: OidcSettings
  /** Where the browser is sent. */
  authorizationUrl(proof: Proof, redirectUri: string): Promise<string>
  /**
   * The claims of the person who signed in. Throws a `GatewayError`: 401 if the callback or the token proves nothing, 502
   * if the provider fails.
   */
  redeem(callback: Callback, proof: Proof, redirectUri: string): Promise<JsonObject>
  /**
   * True the first time: a sign-in ends once. `until` is when it expires anyway. Throws a `GatewayError` 503 while too
   * many are remembered.
   */
  takes(state: string, until: number): boolean
}

const DISCOVERY_MS = 3_600_000
/** Of ten minutes: some megabytes. */
const MOST_TAKEN = 50_000
const RETRY_AFTER_SECONDS = 60
const CLOCK_TOLERANCE_SECONDS = 60
const REPLY = { limitBytes: 1_000_000, timeoutMs: 10_000, maxRedirects: 0 } as const
const JSON_HEADERS = { 'content-type': 'application/json' }

export function createOidcClient(
  settings: OidcSettings,
  outboundAllow: OutboundAllow,
  now: () => number,
): OidcClient {
  // The operator wrote the issuer, so it may be a private host. Its endpoints may be on others only if allowed.
  const host = hostOf(new URL(settings.issuer))
  const allow = { ...outboundAllow, hosts: new Set([...outboundAllow.hosts, host]) }
  // A clock that is set back would keep addresses and keys for as long as it was ahead.
  const steady = neverBack(now)
  const find = discovery(settings, allow, steady)
  const keys = keyCache(steady)
  return {
    settings,
    takes: onceEach(now),
    async authorizationUrl(proof, redirectUri) {
      const { oauth, server } = await find()
      const url = new URL(server.authorization_endpoint ?? '')
      const parameters = {
        response_type: 'code',
        client_id: settings.clientId,
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state: proof.state,
        nonce: proof.nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(proof.verifier),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return url.href
    },
    async redeem(callback, proof, redirectUri) {
      const { oauth, server, options } = await find()
      const client = {
        client_id: settings.clientId,
        [oauth.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
        [oauth.clockSkew]: Math.round((now() - Date.now()) / 1000),
      }
      const exchange = { oauth, server, options, client, settings, keys }
      return await claimsOf(exchange, callback, proof, redirectUri).catch((error: unknown) => {
        throw error instanceof GatewayError ? error : unproven(reasonOf(oauth, error))
      })
    },
  }
}

interface Found {
  readonly oauth: typeof OAuth
  readonly server: OAuth.AuthorizationServer
  readonly options: {
    [OAuth.customFetch]: (url: string, options: FetchOptions) => Promise<Response>
    [OAuth.allowInsecureRequests]: boolean
  }
}
type FetchOptions = OAuth.CustomFetchOptions<'GET' | 'POST', URLSearchParams | undefined>

/** The provider's metadata, read again every hour. The library is loaded on first use. */
function discovery(settings: OidcSettings, allow: OutboundAllow, steady: () => number): () => Promise<Found> {
  const issuer = settings.issuer
  let known: { found: Found; until: number } | null = null
  return async () => {
    if (known !== null && known.until > steady()) return known.found
    const oauth = await import('oauth4webapi')
    const options = {
      [oauth.customFetch]: (url: string, asked: FetchOptions) => fetchJson(url, asked, allow),
      [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
    }
    const reply = await oauth.discoveryRequest(new URL(issuer), { ...options, algorithm: 'oidc' })
    // Some providers write a slash at the end of their name.
    const { issuer: named }: OAuth.AuthorizationServer = await reply.clone().json()
    const expected = new URL(named === `${issuer}/` ? named : issuer)
    const server = await oauth.processDiscoveryResponse(expected, reply).catch((cause: unknown) => {
      throw failed('has another name than SLUICE_OIDC_ISSUER', cause)
    })
    for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const)
      checkEndpoint(name, server[name], issuer)
    known = { found: { oauth, server, options }, until: steady() + DISCOVERY_MS }
    return known.found
  }
}

function checkEndpoint(name: string, address: unknown, issuer: string): void {
  const scheme = typeof address === 'string' ? URL.parse(address)?.protocol : undefined
  if (scheme === 'https:' || (scheme === 'http:' && issuer.startsWith('http:'))) return
  throw failed('has an unusable discovery document', new Error(`${name} is missing or not an https address`))
}

/** The library's key cache by our clock: each call gets a copy with the age that the keys have by it. */
function keyCache(steady: () => number) {
  let known: { jwks: OAuth.JWKS; at: number } | null = null
  return async (use: (cache: OAuth.JWKSCacheInput) => Promise<void>): Promise<void> => {
    const cache: OAuth.JWKSCacheInput =
      known === null
        ? {}
        : { jwks: known.jwks, uat: Math.floor(Date.now() / 1000 - (steady() - known.at) / 1000) }
    try {
      await use(cache)
    } finally {
      if ('jwks' in cache && cache.jwks !== known?.jwks) known = { jwks: cache.jwks, at: steady() }
    }
  }
}

interface Exchange extends Found {
  readonly client: OAuth.Client
  readonly settings: OidcSettings
  readonly keys: ReturnType<typeof keyCache>
}

/** Exchanges the code, checks the ID token and its signature, and asks userinfo if the token has no e-mail address. */
async function claimsOf(
  { oauth, server, options, client, settings, keys }: Exchange,
  callback: Callback,
  proof: Proof,
  redirectUri: string,
): Promise<JsonObject> {
  const { iss, ...rest } = callback
  const sent = new URLSearchParams({ ...rest, ...(iss === undefined ? {} : { iss }) })
  const parameters = oauth.validateAuthResponse(server, client, sent, proof.state)
  const reply = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authenticationOf(oauth, server, settings),
    parameters,
    redirectUri,
    proof.verifier,
    options,
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, reply, {
    expectedNonce: proof.nonce,
    requireIdToken: true,
  })
  // The library caches keys for each metadata object by its own clock; a copy leaves that to `keys`.
  await keys((cache) =>
    oauth.validateApplicationLevelSignature({ ...server }, reply, { ...options, [oauth.jwksCache]: cache }),
  )
  const claims = oauth.getValidatedIdTokenClaims(tokens)
  if (claims === undefined || claims.sub === '') throw unproven('the ID token has no subject')
  if (claims['azp'] !== undefined && claims['azp'] !== settings.clientId)
    throw unproven('the ID token was issued for another client')
  if (claims['email'] !== undefined || server.userinfo_endpoint === undefined) return { ...claims }
  const info = await oauth.userInfoRequest(server, client, tokens.access_token, options)
  return { ...(await oauth.processUserInfoResponse(server, client, claims.sub, info)), ...claims }
}

function authenticationOf(
  oauth: typeof OAuth,
  { token_endpoint_auth_methods_supported: methods }: OAuth.AuthorizationServer,
  { clientSecret }: OidcSettings,
): OAuth.ClientAuth {
  if (clientSecret === null) return oauth.None()
  const takesBasic = methods === undefined || methods.includes('client_secret_basic')
  return takesBasic ? oauth.ClientSecretBasic(clientSecret) : oauth.ClientSecretPost(clientSecret)
}

/** Codes and messages of the library are fixed texts. An error code of the provider is a word (RFC 6749, 5.2). */
function reasonOf(oauth: typeof OAuth, error: unknown): string {
  if (error instanceof oauth.ResponseBodyError)
    return `the identity provider answered ${error.error.replace(/[^\w.-]/g, '').slice(0, 60)}`
  const code = error instanceof Error && 'code' in error ? `${error.code}: ` : ''
  return error instanceof Error ? `${code}${error.message}` : 'the ID token cannot be read'
}

/** Passes on JSON objects, and refusals of a code. Throws a `GatewayError` 502 for any other reply. */
async function fetchJson(url: string, asked: FetchOptions, allow: OutboundAllow): Promise<Response> {
  const { host, pathname } = new URL(url)
  const reply = await guardedFetch(url, {
    ...REPLY,
    allow,
    method: asked.method,
    headers: { ...asked.headers, accept: 'application/json' },
    ...(asked.body ? { body: asked.body.toString() } : {}),
  }).catch((cause) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw failed('cannot be reached', new Error(`${host}${pathname}: ${why}`))
  })
  const isRefusal = asked.method === 'POST' && (reply.status === 400 || reply.status === 401)
  if ((reply.status === 200 || isRefusal) && isJson(reply.body)) return responseOf(reply, JSON_HEADERS)
  throw failed('gave no usable answer', new Error(`status ${reply.status} of ${host}${pathname}`))
}

function isJson(body: Uint8Array): boolean {
  try {
    return isJsonObject(JSON.parse(new TextDecoder().decode(body)))
  } catch {
    return false
  }
}

/** Remembers values until they expire: true for each that is new. */
function onceEach(now: () => number): OidcClient['takes'] {
  const taken = new Map<string, number>()
  return (state, until) => {
    if (taken.has(state)) return false
    // The oldest come first: each call looks at the few that have expired.
    for (const [old, end] of taken) {
      if (end > now()) break
      taken.delete(old)
    }
    if (taken.size >= MOST_TAKEN)
      throw unavailable('Too many sign-ins end at this moment', RETRY_AFTER_SECONDS)
    taken.set(state, until)
    return true
  }
}
