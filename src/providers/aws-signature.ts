import { AwsV4Signer } from 'aws4fetch'
import type { UpstreamCall } from '../core/attempt.ts'
import type { AwsKeys } from '../core/snapshot.ts'

export interface SigningScope {
  readonly service: string
  readonly region: string
}

/**
 * The call with the headers of AWS Signature Version 4. The keys are in none of them. `now` decides for which minutes
 * AWS accepts it. The path is signed as it is sent and then encoded once more, as every service but S3 wants it: a
 * `%3A` of the address is a `%253A` of the signature.
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
