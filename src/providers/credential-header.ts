import type { DialectName } from '../core/events.ts'
import type { ProviderRecord } from '../core/snapshot.ts'

type CredentialHeader = NonNullable<ProviderRecord['credentialHeader']>

/** How the credential is shown where a dialect has a header of its own; all others show `authorization: Bearer …`. */
const HEADERS: Readonly<Partial<Record<DialectName, CredentialHeader>>> = {
  messages: { name: 'x-api-key', prefix: '' },
  gemini: { name: 'x-goog-api-key', prefix: '' },
}

/** What may stand in an HTTP header: visible ASCII. */
export const isHeaderValue = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/** The field of a provider's record; nothing where it is the usual header. */
export function credentialHeaderFor(dialect: DialectName): Pick<ProviderRecord, 'credentialHeader'> {
  const credentialHeader = HEADERS[dialect]
  return credentialHeader ? { credentialHeader } : {}
}
