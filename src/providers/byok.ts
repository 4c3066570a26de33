import { isObject } from '../core/json.ts'
import type { CredentialRecord, ProviderKind } from '../core/snapshot.ts'
import { cloudVendors, vendors } from './compatible.ts'
import { readGoogleAccount } from './google-account.ts'
import { isHeaderValue } from './provider.ts'

/** The kind of the vendor or cloud with this slug; undefined if unknown. */
export const vendorKindOf = (slug: string): ProviderKind | undefined => {
  const vendor = vendors.find((one) => one.slug === slug)
  return vendor === undefined
    ? cloudVendors.find((one) => one.slug === slug)?.kind
    : (vendor.kind ?? 'compatible')
}

/**
 * Reads a workspace's BYOK key of a provider. Bedrock's may be the JSON of an access key
 * (`accessKeyId`, `secretAccessKey`, `sessionToken`), Vertex's the key file of a service account. Any other key is sent
 * in a header. The problem completes "<field> …" and never quotes the text.
 */
export function readByokKey(
  kind: ProviderKind,
  id: string,
  written: string,
): { credential: CredentialRecord } | { problem: string } {
  const text = written.trim()
  if (text === '') return { problem: 'must not be blank' }
  if (text.startsWith('{')) {
    if (kind === 'bedrock') return readAccessKey(id, text)
    if (kind === 'vertex') return readServiceAccount(id, text)
  }
  if (isHeaderValue(text)) return { credential: { id, secret: text } }
  return { problem: 'contains characters that no credential has, such as a space or a line break' }
}

function readAccessKey(id: string, text: string): { credential: CredentialRecord } | { problem: string } {
  const fields = parsed(text)
  if (fields === undefined) return { problem: 'is not JSON' }
  const wordOf = (...names: readonly string[]): string | undefined => {
    const value = names.map((name) => fields[name]).find((one) => typeof one === 'string')
    return typeof value === 'string' && isHeaderValue(value.trim()) ? value.trim() : undefined
  }
  const accessKeyId = wordOf('accessKeyId', 'access_key_id')
  const secretAccessKey = wordOf('secretAccessKey', 'secret_access_key')
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return { problem: 'lacks accessKeyId or secretAccessKey' }
  }
  const sessionToken = wordOf('sessionToken', 'session_token')
  const aws = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
  return { credential: { id, secret: null, aws } }
}

const GOOGLE = /^https:\/\/[a-z0-9.-]+\.googleapis\.com\//

/** Only Google's token endpoint is allowed: a BYOK key must not choose the hosts that this gateway calls. */
function readServiceAccount(
  id: string,
  text: string,
): { credential: CredentialRecord } | { problem: string } {
  const read = readGoogleAccount(text)
  if ('problem' in read) return read
  if (!GOOGLE.test(read.account.tokenUrl)) {
    return { problem: 'has a token_uri that is not at googleapis.com' }
  }
  return { credential: { id, secret: null, google: read.account } }
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
