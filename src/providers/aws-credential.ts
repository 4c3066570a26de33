import type { ConfigProblem } from '../core/problem.ts'
import type { AwsKeys, CredentialRecord } from '../core/snapshot.ts'
import { isHeaderValue } from './credential-header.ts'

/** Names of the keys where they stand: variables of the environment, or keys of an entry. */
export interface KeyNames {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string
}

export const KEY_VARIABLES: KeyNames = {
  accessKeyId: 'AWS_ACCESS_KEY_ID',
  secretAccessKey: 'AWS_SECRET_ACCESS_KEY',
  sessionToken: 'AWS_SESSION_TOKEN',
}

/** A credential that signs. What cannot stand in a signature is a problem, by its name; the value is never quoted. */
export function awsCredential(
  id: string,
  keys: AwsKeys,
  names: KeyNames,
  problems: ConfigProblem[],
): CredentialRecord | undefined {
  const found = problems.length
  for (const name of ['accessKeyId', 'secretAccessKey', 'sessionToken'] as const) {
    const value = keys[name]
    if (value === undefined || isHeaderValue(value)) continue
    problems.push({
      path: names[name],
      message: 'holds characters that no credential has (a line break, perhaps)',
    })
  }
  return problems.length > found ? undefined : { id, secret: null, aws: keys }
}
