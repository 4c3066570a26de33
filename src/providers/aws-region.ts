import type { ProviderRecord } from '../core/snapshot.ts'

/** `us-east-1`, `us-gov-west-1`, `ap-southeast-2`. */
export const isRegion = (text: string): boolean => /^[a-z]{2,4}(?:-[a-z]+){1,2}-\d{1,2}$/.test(text)

export const bedrockAddress = (region: string): string => `https://bedrock-runtime.${region}.amazonaws.com`

/** The region of an address of Bedrock's own; undefined for any other host. */
export function regionIn(baseUrl: string): string | undefined {
  const host = new URL(baseUrl).hostname
  const found = /^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$/.exec(
    host,
  )?.[1]
  return found !== undefined && isRegion(found) ? found : undefined
}

/**
 * Geographies of inference profiles by the beginning of a region's name, best first: the one that holds only this
 * country's regions before the wider one. Canada is a source region of the profiles of the United States, too.
 */
const GEOGRAPHIES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^us-gov-/, ['us-gov']],
  [/^us-/, ['us', 'global']],
  [/^ca-/, ['ca', 'us', 'global']],
  [/^eu-/, ['eu', 'global']],
  [/^ap-northeast-[13]$/, ['jp', 'apac', 'global']],
  [/^ap-southeast-[24]$/, ['au', 'apac', 'global']],
  [/^ap-/, ['apac', 'global']],
]

/** What of a Bedrock provider's record follows from its region. */
export const regionFields = (
  region: string | undefined,
): Pick<ProviderRecord, 'region' | 'upstreamPrefixes'> => ({
  ...(region === undefined ? {} : { region }),
  upstreamPrefixes: GEOGRAPHIES.find(([pattern]) => pattern.test(region ?? ''))?.[1] ?? ['global'],
})
