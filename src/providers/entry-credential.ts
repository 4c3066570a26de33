import type { ConfigProblem } from '../core/problem.ts'
import type { CredentialRecord, ProviderRecord } from '../core/snapshot.ts'
import { azureOfEntry } from './azure.ts'
import { AWS_SETTINGS, awsCredential, bedrockAddress, isRegion, regionIn } from './bedrock.ts'
import type { Entry } from './entry-schema.ts'
import { isHeaderValue } from './provider.ts'
import { readBaseUrl, settingsOfEntry, UNSET_URL } from './settings.ts'
import { vertexOfEntry } from './vertex-settings.ts'

/** The address of an entry, or of its region. Problems are reported with their place. */
export function entryAddress(
  { base_url, aws }: Entry,
  isBedrock: boolean,
  place: string,
  problems: ConfigProblem[],
): string {
  if (base_url !== undefined) {
    const base = readBaseUrl(base_url)
    if ('url' in base) return base.url
    problems.push({ path: `${place}.base_url`, message: base.problem })
  } else if (isBedrock && aws?.region !== undefined) {
    return isRegion(aws.region.trim()) ? bedrockAddress(aws.region.trim()) : UNSET_URL
  } else {
    problems.push({ path: `${place}.base_url`, message: 'is missing' })
  }
  return UNSET_URL
}

/** The credential of an entry: `api_key`, else the keys of its `aws` block. */
export function entryCredential(
  entry: Entry,
  isBedrock: boolean,
  baseUrl: string,
  place: string,
  problems: ConfigProblem[],
): CredentialRecord {
  const { slug, api_key, aws } = entry
  const secret = api_key?.trim() ?? ''
  if (secret !== '' && !isHeaderValue(secret)) {
    problems.push({
      path: `${place}.api_key`,
      message: 'contains characters that no credential has, such as a space',
    })
  }
  const shown = { id: slug, secret: secret === '' ? null : secret }
  if (aws === undefined) return shown
  if (!isBedrock) {
    problems.push({ path: `${place}.aws`, message: 'is for entries of the dialect "converse"' })
  }
  const signing = signingCredential(entry, baseUrl, place, problems)
  if (signing === undefined) return shown
  if (secret === '') return signing
  problems.push({ path: `${place}.api_key`, message: 'conflicts with aws.access_key_id: set one of the two' })
  return shown
}

/** Undefined if the block has no keys, or unusable ones. */
function signingCredential(
  entry: Entry,
  baseUrl: string,
  place: string,
  problems: ConfigProblem[],
): CredentialRecord | undefined {
  const settings = settingsOfEntry(entry, place, AWS_SETTINGS, problems)
  const { values, reject } = settings
  const { region, accessKeyId, secretAccessKey } = values
  if (region !== undefined && !isRegion(region)) {
    reject('region', 'must be the name of a region, such as us-east-1')
  }
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined
  if (region === undefined && regionIn(baseUrl) === undefined) {
    reject('region', 'is missing: calls are signed for a region')
  }
  if (accessKeyId === undefined) reject('accessKeyId', 'is missing')
  if (secretAccessKey === undefined) reject('secretAccessKey', 'is missing')
  return awsCredential(entry.slug, settings)
}

type CloudFields = Pick<
  ProviderRecord,
  'kind' | 'dialect' | 'alsoSpeaks' | 'baseUrl' | 'apiVersion' | 'credentialHeader' | 'credentials' | 'quirks'
>

/** The fields that the block `azure` or `vertex` of an entry sets; undefined without such a block. */
export function cloudFields(entry: Entry, place: string, problems: ConfigProblem[]): CloudFields | undefined {
  const [first, second] = (['aws', 'azure', 'vertex'] as const).filter((name) => entry[name] !== undefined)
  if (second !== undefined) {
    problems.push({ path: `${place}.${second}`, message: `conflicts with ${first}: set one of the two` })
  }
  if (first === 'azure') return azureOfEntry(entry, place, problems)
  return first === 'vertex' ? vertexOfEntry(entry, place, problems) : undefined
}
