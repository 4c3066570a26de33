/** Single sign-on by OpenID Connect: the authorization code flow with PKCE (OIDC Core 1.0, RFC 7636, RFC 9700). */

import { unavailable } from '../../../core/errors.ts'
import type { JsonObject } from '../../../core/events.ts'
import { neverBack } from '../../../core/never-back.ts'
import { withoutTrailing } from '../../../core/trailing.ts'
import { isJsonObject } from '../../../http/json.ts'
import { hostOf, type OutboundAllow } from '../../../net/address.ts'
import { type GuardedOptions, guardedFetch } from '../../../net/guarded.ts'
import { failed, unproven } from './failure.ts'
import { createKeySource } from './key-source.ts'

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
  /** Who is in one of them is an administrator; none: roles are changed here alone. */
  adminGroups: readonly string[]
  /** Only who is in one of these, or of the administrators', may enter; none: everybody whom the provider lets in. */
  memberGroups: readonly string[]
  /** Takes e-mail addresses that the provider says nothing of for verified. */
  trustEmail: boolean
}

/** What is asked of the browser, and kept until it comes back. */
export interface Proof {
  state: string
  nonce: string
  /** The code verifier of PKCE. */
  verifier: string
}

export interface OidcClient {
  readonly settings: OidcSettings
  /** Where the browser is sent. */
  authorizationUrl(proof: Proof, redirectUri: string): Promise<string>
  /** Claims of the person whom this code stands for. Throws a `GatewayError` 401 for what does not prove it, 502 for a provider that fails. */
  redeem(code: string, proof: Proof, redirectUri: string): Promise<JsonObject>
  /** Whether the `iss` of an answer is the issuer as it names itself, or is missing where it need not be there (RFC 9207). */
  isIssuer(iss: string | undefined): Promise<boolean>
  /**
   * True the first time: a sign-in that was begun once ends once. `until` is when it would be too late anyway. Throws a
   * `GatewayError` 503 while too many are remembered: none is forgotten before its time.
   */
  takes(state: string, until: number): boolean
}

interface Provider {
  issuer: string
  authorizationEndpoint: string
  tokenEndpoint: string
  userinfoEndpoint: string | null
  jwksUri: string
  takesBasic: boolean
  /** It promises an `iss` in every answer. */
  namesItself: boolean
}

const DISCOVERY_MS = 3_600_000
/** Of ten minutes: some megabytes. */
const MOST_TAKEN = 50_000
const RETRY_AFTER_SECONDS = 60
const REPLY = { limitBytes: 1_000_000, timeoutMs: 10_000, maxRedirects: 0 } as const

export function createOidcClient(
  settings: OidcSettings,
  outboundAllow: OutboundAllow,
  now: () => number,
): OidcClient {
  // The operator wrote the issuer: it may be on a private host. What it names elsewhere may not, unless allowed.
  const host = hostOf(new URL(settings.issuer))
  const allow = { ...outboundAllow, hosts: new Set([...outboundAllow.hosts, host]) }
  const ask = (url: string, options: Partial<GuardedOptions> = {}) =>
    askProvider(url, { ...REPLY, allow, ...options })
  // A clock that is set back would keep addresses and keys for as long as it was ahead.
  const steady = neverBack(now)
  let known: { provider: Provider; until: number } | null = null
  const taken = new Map<string, number>()
  const discover = async (): Promise<Provider> => {
    if (known !== null && known.until > steady()) return known.provider
    const provider = providerOf(settings, await ask(`${settings.issuer}/.well-known/openid-configuration`))
    known = { provider, until: steady() + DISCOVERY_MS }
    return provider
  }
  const keys = createKeySource(async () => ask((await discover()).jwksUri), steady)
  return {
    settings,
    async isIssuer(iss) {
      const { issuer, namesItself } = await discover()
      return iss === undefined ? !namesItself : iss === issuer
    },
    takes(state, until) {
      if (taken.has(state)) return false
      // The oldest come first: each call looks at the few that are over.
      for (const [old, end] of taken) {
        if (end > now()) break
        taken.delete(old)
      }
      if (taken.size >= MOST_TAKEN)
        throw unavailable('Too many sign-ins end at this moment', RETRY_AFTER_SECONDS)
      taken.set(state, until)
      return true
    },
    async authorizationUrl(proof, redirectUri) {
      const url = new URL((await discover()).authorizationEndpoint)
      const challenge = Bun.SHA256.hash(proof.verifier, 'base64')
      const asked = {
        response_type: 'code',
        client_id: settings.clientId,
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state: proof.state,
        nonce: proof.nonce,
        code_challenge: challenge.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value)
      return url.href
    },
    async redeem(code, proof, redirectUri) {
      const provider = await discover()
      const asked = tokenRequest(settings, provider, code, proof, redirectUri)
      const tokens = await ask(provider.tokenEndpoint, asked)
      const { id_token: idToken, access_token: accessToken } = tokens
      if (typeof idToken !== 'string') throw unproven('the token endpoint gave no ID token')
      const { verifyIdToken } = await import('./id-token.ts')
      const claims = await verifyIdToken(idToken, keys, {
        issuer: provider.issuer,
        audience: settings.clientId,
        nonce: proof.nonce,
        now: now(),
      })
      if (
        claims['email'] !== undefined ||
        provider.userinfoEndpoint === null ||
        typeof accessToken !== 'string'
      )
        return claims
      const more = await ask(provider.userinfoEndpoint, {
        headers: { authorization: `Bearer ${accessToken}` },
      })
      // Another person's answer must not be joined to this one (OIDC Core 5.3.2).
      if (more['sub'] !== claims['sub']) throw unproven('userinfo is of another subject')
      return { ...more, ...claims }
    },
  }
}

function tokenRequest(
  { clientId, clientSecret }: OidcSettings,
  { takesBasic }: Provider,
  code: string,
  { verifier }: Proof,
  redirectUri: string,
): Partial<GuardedOptions> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  })
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' }
  if (clientSecret !== null && takesBasic) {
    const pair = [clientId, clientSecret].map((part) => encodeURIComponent(part)).join(':')
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  } else {
    form.set('client_id', clientId)
    if (clientSecret !== null) form.set('client_secret', clientSecret)
  }
  return { method: 'POST', headers, body: form.toString() }
}

async function askProvider(url: string, options: GuardedOptions): Promise<JsonObject> {
  const headers = { accept: 'application/json', ...options.headers }
  const { host, pathname } = new URL(url)
  const reply = await guardedFetch(url, { ...options, headers }).catch((cause) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw failed('cannot be reached', new Error(`${host}${pathname}: ${why}`))
  })
  const value = jsonOf(reply.body)
  if (reply.status === 200 && value !== null) return value
  // A code that was used, or a wrong client: the provider says which, in a word that is not secret (RFC 6749, 5.2).
  const code = value?.['error']
  if (options.method === 'POST' && (reply.status === 400 || reply.status === 401) && typeof code === 'string')
    throw unproven(`the identity provider answered ${code.replace(/[^\w.-]/g, '').slice(0, 60)}`)
  throw failed('gave no usable answer', new Error(`status ${reply.status} of ${host}${pathname}`))
}

function jsonOf(body: Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

function providerOf({ issuer }: OidcSettings, document: JsonObject): Provider {
  const text = (name: string): string => {
    const value = document[name]
    if (typeof value !== 'string')
      throw failed('says too little of itself', new Error(`no ${name} in its discovery document`))
    return value
  }
  const endpoint = (name: string): string => {
    const value = text(name)
    const scheme = URL.parse(value)?.protocol
    const isSafe = scheme === 'https:' || (scheme === 'http:' && issuer.startsWith('http:'))
    if (!isSafe)
      throw failed('names an address that cannot be used', new Error(`${name} of its discovery document`))
    return value
  }
  // Whoever answers must be who was asked (OIDC Discovery 4.3); some write a slash at the end.
  if (withoutTrailing(text('issuer'), '/') !== issuer)
    throw failed(
      'has another name',
      new Error('the issuer of its discovery document is not SLUICE_OIDC_ISSUER'),
    )
  const methods = document['token_endpoint_auth_methods_supported']
  return {
    issuer: text('issuer'),
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: endpoint('token_endpoint'),
    userinfoEndpoint: document['userinfo_endpoint'] === undefined ? null : endpoint('userinfo_endpoint'),
    jwksUri: endpoint('jwks_uri'),
    takesBasic: !Array.isArray(methods) || methods.includes('client_secret_basic'),
    namesItself: document['authorization_response_iss_parameter_supported'] === true,
  }
}
