import { AwsV4Signer } from 'aws4fetch'
import type { UpstreamCall } from '../core/attempt.ts'
import { defined } from '../core/json.ts'
import type { AwsKeys, CredentialRecord, ProviderRecord } from '../core/snapshot.ts'
import { compatible, isHeaderValue, type Provider } from './provider.ts'
import type { SettingPlaces, Settings } from './settings.ts'

/** The service that calls are signed for; the host's name differs (`bedrock-runtime`). */
const SERVICE = 'bedrock'

/**
 * Amazon Bedrock: its own API key is sent like any other; access keys of AWS sign the call and are never sent. Settings
 * reject a signing provider without a region.
 */
export const bedrock: Provider = {
  async prepare(provider, credential, call, outbound) {
    const prepared = await compatible.prepare(provider, credential, call)
    const { body } = prepared
    if (credential.aws === undefined || typeof body !== 'string') return prepared
    const region = provider.region ?? regionIn(provider.baseUrl)
    if (region === undefined) throw new Error(`${provider.slug} has no region to sign for`)
    return signCall(
      { ...prepared, body },
      credential.aws,
      { service: SERVICE, region },
      new Date(outbound?.now() ?? Date.now()),
    )
  },
}

interface SigningScope {
  readonly service: string
  readonly region: string
}

/**
 * The call with the headers of AWS Signature Version 4. The keys are in none of them. `now` decides for which minutes
 * AWS accepts it. The signature encodes the path once more than the address, as every service except S3 requires: `%3A`
 * in the address is `%253A` in the signature.
 */
export async function signCall(
  call: UpstreamCall & { readonly body: string },
  keys: AwsKeys,
  { service, region }: SigningScope,
  now: Date,
): Promise<UpstreamCall> {
  const { method, url, headers, body } = call
  const signer = new AwsV4Signer({
    method,
    url,
    headers,
    body,
    accessKeyId: keys.accessKeyId,
    secretAccessKey: keys.secretAccessKey,
    ...(keys.sessionToken === undefined ? {} : { sessionToken: keys.sessionToken }),
    service,
    region,
    datetime: now.toISOString().replace(/[:-]|\.\d{3}/g, ''),
  })
  const signed = await signer.sign()
  return { ...call, headers: Object.fromEntries(signed.headers) }
}

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
 * Geographies of inference profiles by the prefix of a region's name, best first: the country's own before the wider
 * one. Canada is also a source region of the profiles of the United States.
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

/** The fields of a Bedrock provider's record that follow from its region. */
export const regionFields = (
  region: string | undefined,
): Pick<ProviderRecord, 'region' | 'upstreamPrefixes'> => ({
  ...(region === undefined ? {} : { region }),
  upstreamPrefixes: GEOGRAPHIES.find(([pattern]) => pattern.test(region ?? ''))?.[1] ?? ['global'],
})

export const AWS_SETTINGS = {
  region: { variables: ['AWS_REGION', 'AWS_DEFAULT_REGION'], entry: 'aws.region' },
  accessKeyId: { variables: ['AWS_ACCESS_KEY_ID'], entry: 'aws.access_key_id' },
  secretAccessKey: { variables: ['AWS_SECRET_ACCESS_KEY'], entry: 'aws.secret_access_key' },
  sessionToken: { variables: ['AWS_SESSION_TOKEN'], entry: 'aws.session_token' },
} as const satisfies Record<string, SettingPlaces>

/** A credential that signs; undefined without both keys, or with invalid characters, which are problems. */
export function awsCredential(
  id: string,
  { values, reject }: Settings<keyof typeof AWS_SETTINGS>,
): CredentialRecord | undefined {
  const { accessKeyId, secretAccessKey, sessionToken } = values
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  const names = ['accessKeyId', 'secretAccessKey', 'sessionToken'] as const
  const invalid = names.filter((name) => !isHeaderValue(values[name] ?? 'absent'))
  for (const name of invalid) reject(name, 'contains characters that no credential has, such as a line break')
  if (invalid.length > 0) return undefined
  return { id, secret: null, aws: defined({ accessKeyId, secretAccessKey, sessionToken }) }
}
