import type { UpstreamCall } from '../core/attempt.ts'
import type { Cancellation } from '../core/cancellation.ts'
import { badRequest } from '../core/errors.ts'
import type { DialectName, JsonObject } from '../core/events.ts'
import type { CredentialRecord, ProviderRecord } from '../core/snapshot.ts'
import type { Upstream } from '../net/upstream.ts'

export interface PreparedBody {
  path: string
  headers: Record<string, string>
  body: JsonObject
  /** In place of the body. */
  form?: FormData
}

/** The access token of one credential, fetched on first use and renewed before it expires. */
export interface TokenSource {
  /**
   * A token that is valid for at least half a minute. One call at a time fetches it, however many requests wait; a
   * disconnect of one of them does not end it for the others. Throws `UpstreamError`.
   */
  get(outbound: Outbound): Promise<string>
  /** The provider rejected the token: the next call fetches a new one. */
  forget(): void
}

/** The token sources of a gateway, each kept for as long as its credential is configured. */
export interface Tokens {
  of(credential: CredentialRecord, make: () => TokenSource): TokenSource
  /** The provider rejected this credential: its token is not sent again. */
  forget(credential: CredentialRecord): void
}

/** The outbound client for requests before the call itself, such as for a token. */
export interface Outbound {
  readonly send: Upstream['send']
  /** Milliseconds since 1970. */
  now(): number
  /** When the caller disconnects. */
  readonly cancellation: Cancellation
  readonly tokens: Tokens
}

/** One kind of provider: adds the address and the credential to a dialect's call; built-in ones answer it. */
export interface Provider {
  prepare(
    provider: ProviderRecord,
    credential: CredentialRecord,
    call: PreparedBody,
    outbound?: Outbound,
  ): UpstreamCall | Promise<UpstreamCall>
  /** Replies without a network; absent: the call is sent. */
  answer?(call: UpstreamCall, signal: AbortSignal): Promise<Response>
}

type CredentialHeader = NonNullable<ProviderRecord['credentialHeader']>

/** The credential header of dialects with their own; all others send `authorization: Bearer …`. */
const HEADERS: Readonly<Partial<Record<DialectName, CredentialHeader>>> = {
  messages: { name: 'x-api-key', prefix: '' },
  gemini: { name: 'x-goog-api-key', prefix: '' },
}

/** Characters of an HTTP header value: visible ASCII. */
export const isHeaderValue = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/** The field of a provider's record; empty for the usual header. */
export function credentialHeaderFor(dialect: DialectName): Pick<ProviderRecord, 'credentialHeader'> {
  const credentialHeader = HEADERS[dialect]
  return credentialHeader ? { credentialHeader } : {}
}

/** RFC 3986 path characters and an optional query; no fragment, space, backslash or control character. */
const PATH = /^\/(?!\/)[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*(?:\?[A-Za-z0-9\-._~!$&'()*+,;=:@%/?]*)?$/
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i

/** A provider that speaks a known dialect at a fixed address, with one credential header. */
export const compatible: Provider = {
  prepare(provider, credential, call): UpstreamCall {
    return {
      method: 'POST',
      url: addressOf(provider.baseUrl, call.path),
      headers: headersOf(provider, credential, call),
      body: call.form ?? JSON.stringify(call.body),
    }
  },
}

/**
 * Appends a path to a base URL that settings validated. A path can hold a model's id, so it is not trusted: anything that
 * could leave the base's host or folder (`#`, `..`, `//`, a backslash, an encoded dot segment) is a 400.
 */
export function addressOf(baseUrl: string, path: string): string {
  const [folder = ''] = path.split('?')
  if (!PATH.test(path) || DOT_SEGMENT.test(folder)) {
    throw badRequest('The model name has characters that a URL cannot contain')
  }
  return baseUrl + path
}

const AUTHORIZATION = { name: 'authorization', prefix: 'Bearer ' }

/** The dialect's headers, then the provider's own, then the credential: a later one wins. Names in lower case. */
function headersOf(
  provider: ProviderRecord,
  credential: CredentialRecord,
  call: PreparedBody,
): Record<string, string> {
  // `fetch` sets the content type of a form, with its boundary.
  const headers: Record<string, string> =
    call.form === undefined ? { 'content-type': 'application/json' } : {}
  for (const name in call.headers) headers[name.toLowerCase()] = call.headers[name] ?? ''
  if (provider.headers) {
    for (const [name, value] of Object.entries(provider.headers)) headers[name.toLowerCase()] = value
  }
  if (credential.secret !== null) {
    const shown = provider.credentialHeader ?? AUTHORIZATION
    headers[shown.name.toLowerCase()] = shown.prefix + credential.secret
  }
  return headers
}
