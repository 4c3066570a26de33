import type { DialectName } from '../../core/events.ts'
import type { EndpointRecord, ProviderRecord } from '../../core/snapshot.ts'

/** The dialects of an endpoint, or of its provider if the endpoint sets none. Never empty. */
export const dialectsOf = (
  { dialect, alsoSpeaks = [] }: ProviderRecord,
  endpoint: EndpointRecord,
): readonly [DialectName, ...DialectName[]] => endpoint.dialects ?? [dialect, ...alsoSpeaks]
