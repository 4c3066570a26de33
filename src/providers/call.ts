import type { UpstreamCall } from '../core/attempt.ts'
import { badRequest } from '../core/errors.ts'
import type { CredentialRecord, ProviderRecord } from '../core/snapshot.ts'
import type { PreparedBody, Provider } from './provider.ts'

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
 * Appends a path to a base URL that settings validated. A path can hold a model's id, so it is never trusted:
 * whatever could leave the base's host or folder (`#`, `..`, `//`, a backslash, an encoded dot segment) is a 400.
 */
export function addressOf(baseUrl: string, path: string): string {
  const [folder = ''] = path.split('?')
  if (!PATH.test(path) || DOT_SEGMENT.test(folder)) {
    throw badRequest('The model name has characters that cannot stand in an address')
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
  // The boundary of a form is known to whoever sends it.
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
