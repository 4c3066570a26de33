/** An OpenID provider on loopback, with a key pair of its own: strict where a real one is. */
import { createHash } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

export interface Granted {
  /** Claims of the person, over those that the flow makes. */
  claims?: Record<string, unknown>
  /** In place of the signed ID token. */
  idToken?: (signed: string, claims: Record<string, unknown>) => string | Promise<string>
  /** What userinfo tells. */
  userinfo?: Record<string, unknown>
}

export interface IdentityProvider {
  issuer: string
  /** What is asked of it, by path. */
  asked: string[]
  /** Over the discovery document. */
  discovery: Record<string, unknown>
  /** The provider answers nothing but this status. */
  broken: number | null
  /** The person agrees: answers the URL that the browser goes to. Throws for a request that no provider takes. */
  agree(authorizationUrl: string, granted?: Granted): string
  /** Signs with another key from now on; the key set has both, or the new one alone. */
  rotate(): Promise<void>
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>
  stop(): Promise<void>
}

export const CLIENT = { id: 'sluice:client', secret: 'canary-client-secret-%/:' }

interface Grant extends Granted {
  challenge: string
  redirectUri: string
  nonce: string
}

const endpointsOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  userinfo_endpoint: `${issuer}/userinfo`,
  jwks_uri: `${issuer}/keys`,
})

/** The parameters of an authorization request. Throws if a provider would refuse it. */
function askedOf(url: URL, issuer: string): Record<string, string> {
  const asked = Object.fromEntries(url.searchParams)
  const isWhole =
    `${url.origin}${url.pathname}` === `${issuer}/authorize` &&
    asked['response_type'] === 'code' &&
    asked['client_id'] === CLIENT.id &&
    asked['code_challenge_method'] === 'S256' &&
    asked['scope']?.split(' ').includes('openid')
  if (!isWhole) throw new Error(`no provider accepts ${url.href}`)
  return asked
}

function isGranted(form: URLSearchParams, { challenge, redirectUri }: Grant): boolean {
  const verifier = createHash('sha256').update(form.get('code_verifier') ?? '')
  return (
    form.get('grant_type') === 'authorization_code' &&
    verifier.digest('base64url') === challenge &&
    form.get('redirect_uri') === redirectUri
  )
}

function isClient(request: Request, form: URLSearchParams, discovery: Record<string, unknown>): boolean {
  if (String(discovery['token_endpoint_auth_methods_supported']).includes('post'))
    return form.get('client_id') === CLIENT.id && form.get('client_secret') === CLIENT.secret
  const [, basic = ''] = /^Basic (.+)$/.exec(request.headers.get('authorization') ?? '') ?? []
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent)
  return id === CLIENT.id && secret === CLIENT.secret
}

const claimsOf = (grant: Grant, issuer: string, nowSeconds: number) => ({
  iss: issuer,
  aud: CLIENT.id,
  sub: 'subject-1',
  iat: nowSeconds,
  exp: nowSeconds + 300,
  nonce: grant.nonce,
  ...grant.claims,
})

/** `now` in milliseconds. */
export async function startIdentityProvider(now: () => number): Promise<IdentityProvider> {
  const grants = new Map<string, Grant>()
  const tokens = new Map<string, Grant>()
  let signing = await makeKey('key-1')
  let published: JWK[] = [signing.jwk]
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  const issuer = `http://127.0.0.1:${server.port}/realm`
  const provider: IdentityProvider = {
    issuer,
    asked: [],
    discovery: {},
    broken: null,
    agree(authorizationUrl, granted = {}) {
      const asked = askedOf(new URL(authorizationUrl), issuer)
      const code = crypto.randomUUID()
      const { redirect_uri: redirectUri = '', nonce = '', code_challenge: challenge = '' } = asked
      grants.set(code, { ...granted, redirectUri, nonce, challenge })
      return `${redirectUri}?${new URLSearchParams({ code, state: asked['state'] ?? '', iss: issuer })}`
    },
    async rotate() {
      signing = await makeKey(`key-${published.length + 1}`)
      published = [...published, signing.jwk]
    },
    sign: (claims, header) => sign(claims, header),
    stop: () => server.stop(true),
  }
  return provider

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const path = pathname.replace('/realm', '')
    provider.asked.push(path)
    if (provider.broken !== null) return new Response('<html>', { status: provider.broken })
    if (path === '/.well-known/openid-configuration')
      return Response.json({ ...endpointsOf(issuer), ...provider.discovery })
    if (path === '/keys') return Response.json({ keys: published })
    if (path === '/token') return await token(request)
    const bearer = request.headers.get('authorization')?.replace('Bearer ', '') ?? ''
    if (path === '/userinfo' && tokens.has(bearer)) return Response.json(tokens.get(bearer)?.userinfo ?? {})
    return new Response(null, { status: 404 })
  }

  async function token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text())
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    // A code can be used once.
    grants.delete(code)
    const refuse = (error: string) =>
      Response.json({ error }, { status: error === 'invalid_client' ? 401 : 400 })
    if (!isClient(request, form, provider.discovery)) return refuse('invalid_client')
    if (grant === undefined || !isGranted(form, grant)) return refuse('invalid_grant')
    const claims = claimsOf(grant, issuer, Math.floor(now() / 1000))
    const signed = await sign(claims)
    const accessToken = crypto.randomUUID()
    tokens.set(accessToken, grant)
    return Response.json({
      id_token: grant.idToken ? await grant.idToken(signed, claims) : signed,
      access_token: accessToken,
      token_type: 'Bearer',
    })
  }

  function sign(claims: Record<string, unknown>, header: Record<string, unknown> = {}): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: signing.kid, ...header })
      .sign(signing.key)
  }
}

export async function makeKey(kid: string): Promise<{ kid: string; key: CryptoKey; jwk: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  return { kid, key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } }
}
