import type { DestinationConfig } from './destination-types.ts'

/** `ours` with the operator's headers, which win, whatever the case of their names; and the type of the body. */
export const headersOf = (
  { headers }: DestinationConfig,
  ours: Readonly<Record<string, string>>,
  contentType: string,
): Record<string, string> => ({ ...ours, ...lowerCased(headers ?? {}), 'content-type': contentType })

export const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
