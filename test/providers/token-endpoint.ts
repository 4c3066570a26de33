import { afterAll, afterEach } from 'bun:test'
import { newCancellation } from '../../src/core/cancellation.ts'
import { createUpstream } from '../../src/net/client.ts'
import type { Outbound } from '../../src/providers/provider.ts'
import { createTokens } from '../../src/providers/token.ts'

/** A token endpoint on loopback. */
export interface TokenEndpoint {
  readonly url: string
  /** The requests so far. */
  readonly seen: { path: string; form: Record<string, string> }[]
  /** The answer to further requests; by default a new token, `token-1`, `token-2` …, for an hour. */
  answer: (count: number) => Response | Promise<Response>
  stop(): Promise<void>
}

export const freshToken = (count: number): Response =>
  Response.json({ access_token: `token-${count}`, expires_in: 3_600, token_type: 'Bearer' })

export function startTokenEndpoint(): TokenEndpoint {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const form = Object.fromEntries(new URLSearchParams(await request.text()))
      endpoint.seen.push({ path: new URL(request.url).pathname, form })
      return endpoint.answer(endpoint.seen.length)
    },
  })
  const endpoint: TokenEndpoint = {
    url: `http://127.0.0.1:${server.port}`,
    seen: [],
    answer: freshToken,
    stop: () => server.stop(true),
  }
  return endpoint
}

/** An endpoint and a client for all tests of a file: reset after each test, closed after the last. */
export function tokenEndpointOfFile() {
  const upstream = createUpstream()
  const endpoint = startTokenEndpoint()
  afterAll(async () => {
    upstream.close()
    await endpoint.stop()
  })
  afterEach(() => {
    endpoint.seen.length = 0
    endpoint.answer = freshToken
  })
  return { endpoint, upstream }
}

/** Outbound calls with a clock that a test moves. */
export function outboundAt(clock: { now: number }, send: Outbound['send']): Outbound {
  return { send, now: () => clock.now, cancellation: newCancellation(), tokens: createTokens() }
}

/** A key pair as Google issues it. */
export async function makeKeyPair(): Promise<{ pem: string; publicKey: CryptoKey }> {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: 2_048,
    publicExponent: new Uint8Array([1, 0, 1]),
  }
  const { publicKey, privateKey } = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', privateKey)).toString('base64')
  const lines = der.match(/.{1,64}/g) ?? []
  return {
    pem: `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`,
    publicKey,
  }
}

/** The parts of a JWT; throws unless the key made its signature. */
export async function verified(jwt: string, publicKey: CryptoKey) {
  const [header = '', claims = '', signature = ''] = jwt.split('.')
  const isOurs = await crypto.subtle.verify(
    'RSASSA-PKCS1-v1_5',
    publicKey,
    Buffer.from(signature, 'base64url'),
    new TextEncoder().encode(`${header}.${claims}`),
  )
  if (!isOurs) throw new Error('the signature is not of this key')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  return { header: read(header), claims: read(claims) }
}
