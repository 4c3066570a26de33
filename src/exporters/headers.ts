import type { DestinationConfig } from './destination-types.ts'
import { lowerCased } from './otlp/call.ts'

/** `ours` with the operator's headers, which win, whatever the case of their names; and the type of the body. */
export const headersOf = (
  { headers }: DestinationConfig,
  ours: Readonly<Record<string, string>>,
  contentType: string,
): Record<string, string> => ({ ...ours, ...lowerCased(headers ?? {}), 'content-type': contentType })
