import type { UpstreamCall } from '../core/attempt.ts'
import { type Cancellation, newCancellation, offCancel, onCancel } from '../core/cancellation.ts'
import { UpstreamError } from '../core/errors.ts'
import { asText, fieldsOf, parseJson } from '../core/json.ts'
import type { CredentialRecord, ProviderRecord, Timeouts } from '../core/snapshot.ts'
import { compatible, type Outbound, type PreparedBody, type TokenSource, type Tokens } from './provider.ts'

export interface AccessToken {
  readonly value: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** A token is renewed this long before its end, while the old one stays in use. */
const RENEW_MS = 5 * 60_000
/** The least remaining lifetime of a token, so that the call arrives before its end. */
const LEAST_MS = 30_000
/** The pause after a failed renewal, while the old token is valid. */
const PAUSE_MS = 30_000

export function createTokenSource(fetchToken: (outbound: Outbound) => Promise<AccessToken>): TokenSource {
  let token: AccessToken | null = null
  let pending: Promise<AccessToken> | null = null
  let renewAt = 0

  function fetchOnce(outbound: Outbound): Promise<AccessToken> {
    pending ??= fetchToken({ ...outbound, cancellation: newCancellation() })
      .then((fetched) => {
        token = fetched
        renewAt = fetched.expiresAt - Math.min(RENEW_MS, (fetched.expiresAt - outbound.now()) / 2)
        return fetched
      })
      .finally(() => {
        pending = null
      })
    return pending
  }

  return {
    async get(outbound) {
      const now = outbound.now()
      if (token !== null && now < token.expiresAt - LEAST_MS) {
        if (now >= renewAt && pending === null) {
          renewAt = now + PAUSE_MS
          fetchOnce(outbound).catch(() => undefined)
        }
        return token.value
      }
      return (await unlessCancelled(fetchOnce(outbound), outbound.cancellation)).value
    },
    forget() {
      token = null
    },
  }
}

export function createTokens(): Tokens {
  const sources = new WeakMap<CredentialRecord, TokenSource>()
  return {
    of(credential, make) {
      const source = sources.get(credential) ?? make()
      sources.set(credential, source)
      return source
    },
    forget: (credential) => sources.get(credential)?.forget(),
  }
}

/** A call with a token from this source in place of the credential. */
export async function callWithToken(
  provider: ProviderRecord,
  credential: CredentialRecord,
  call: PreparedBody,
  outbound: Outbound | undefined,
  make: () => TokenSource,
): Promise<UpstreamCall> {
  if (outbound === undefined) throw new Error('fetching a token needs an outbound client')
  const secret = await outbound.tokens.of(credential, make).get(outbound)
  const { credentialHeader: _, ...bearer } = provider
  return compatible.prepare(bearer, { id: credential.id, secret }, call)
}

function unlessCancelled<T>(promise: Promise<T>, cancellation: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    if (cancellation.reason !== null) return reject(cancellation.reason)
    onCancel(cancellation, reject)
    promise.then(resolve, reject).finally(() => offCancel(cancellation, reject))
  })
}

const TIMEOUTS: Timeouts = { firstByteMs: 10_000, betweenBytesMs: 10_000, totalMs: 15_000 }
const MOST_BYTES = 256 * 1024
const USUAL_LIFETIME_S = 3_600

/**
 * Requests a token (OAuth 2.0, RFC 6749). Throws an `UpstreamError`: `credential` for a rejection, `malformed` for an
 * unusable token, or what the connection throws. The endpoint's message may repeat the
 * request, so only its code is reported.
 */
export async function askForToken(
  url: string,
  form: Readonly<Record<string, string>>,
  outbound: Outbound,
): Promise<AccessToken> {
  const call: UpstreamCall = {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(form).toString(),
  }
  const { cancellation } = outbound
  const group = `token ${new URL(url).host}`
  const reply = await outbound.send(call, { group, maxInFlight: 16, timeouts: TIMEOUTS, cancellation })
  const body = parseJson(await reply.text(MOST_BYTES))
  if (reply.status >= 200 && reply.status < 300) return tokenIn(body, outbound.now())
  throw refusal(reply.status, body)
}

function tokenIn(body: unknown, now: number): AccessToken {
  const { access_token: value, expires_in } = fieldsOf(body)
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
    throw new UpstreamError('malformed', 'the token endpoint answered with something that is not a token')
  }
  const seconds = Number(expires_in)
  const lifetime = Number.isFinite(seconds) && seconds > 0 ? seconds : USUAL_LIFETIME_S
  return { value, expiresAt: now + lifetime * 1_000 }
}

function refusal(status: number, body: unknown): UpstreamError {
  const { error, error_description } = fieldsOf(body)
  const word = /^[\w.-]{1,60}$/.exec(asText(error) ?? '')?.[0]
  // Entra's number is more specific than its error code.
  const number = /\bAADSTS\d{3,8}\b/.exec(asText(error_description) ?? '')?.[0]
  const code = number ?? word ?? null
  const reason = `the token endpoint answered ${status}${code === null ? '' : ` (${code})`}`
  const options = { status, code }
  if (status === 429) return new UpstreamError('rate-limit', reason, options)
  if (status >= 500 || status === 408) return new UpstreamError('server', reason, options)
  return new UpstreamError('credential', reason, options)
}
