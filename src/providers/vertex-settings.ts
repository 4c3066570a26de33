import { readFileSync } from 'node:fs'
import { defined } from '../core/json.ts'
import type { ConfigProblem } from '../core/problem.ts'
import type { CredentialRecord, ProviderQuirks, ProviderRecord } from '../core/snapshot.ts'
import { readGoogleAccount } from './google-account.ts'
import { isHeaderValue } from './provider.ts'
import type { Environment, ProviderDefaults } from './settings.ts'
import {
  readBaseUrl,
  type SettingPlaces,
  type Settings,
  settingsOfEntry,
  settingsOfEnvironment,
} from './settings.ts'

/** Claude on Vertex does not accept URLs (Anthropic's vision reference, 2026). */
const QUIRKS: ProviderQuirks = { takesUrls: { messages: false }, embeddings: { form: 'instances' } }

export const VERTEX_SETTINGS = {
  project: { variables: ['GOOGLE_VERTEX_PROJECT', 'GOOGLE_CLOUD_PROJECT'], entry: 'vertex.project' },
  location: { variables: ['GOOGLE_VERTEX_LOCATION', 'GOOGLE_CLOUD_LOCATION'], entry: 'vertex.location' },
  /** The path of a credentials file, read once. */
  credentialsFile: { variables: ['GOOGLE_APPLICATION_CREDENTIALS'], entry: 'vertex.credentials_file' },
  /** The content of such a file. */
  serviceAccount: { variables: ['GOOGLE_SERVICE_ACCOUNT_JSON'], entry: 'vertex.service_account' },
  /** The key of the express mode. */
  apiKey: { variables: ['GOOGLE_VERTEX_API_KEY'], entry: 'api_key' },
  address: { variables: ['GOOGLE_VERTEX_BASE_URL'], entry: 'base_url' },
} as const satisfies Record<string, SettingPlaces>

type VertexSettings = Settings<keyof typeof VERTEX_SETTINGS>

/**
 * Vertex, if a project and a location are set together with an account, or a key of the express mode. An account alone
 * turns nothing on: such files often serve other programs.
 */
export function vertexOfEnvironment(
  environment: Environment,
  defaults: ProviderDefaults,
  problems: ConfigProblem[],
): ProviderRecord[] {
  const settings = settingsOfEnvironment(environment, VERTEX_SETTINGS, problems)
  const { project, location, serviceAccount, credentialsFile, apiKey, ...others } = settings.values
  const hasAccount = serviceAccount !== undefined || credentialsFile !== undefined
  const isComplete = hasAccount && project !== undefined && location !== undefined
  if (!isComplete && apiKey === undefined) return []
  // A complete account takes precedence over a key.
  const values = isComplete
    ? { project, location, serviceAccount, credentialsFile, ...others }
    : { apiKey, ...others }
  const used = isComplete ? (serviceAccount === undefined ? 'credentialsFile' : 'serviceAccount') : 'apiKey'
  const found = problems.length
  const fields = vertexFields(settings.placeOf(used), { ...settings, values: defined(values) })
  if (problems.length > found) return []
  return [{ slug: 'google-vertex', name: 'Google Vertex', ...fields, ...defaults, isLocal: false }]
}

export const vertexOfEntry = (entry: { slug: string }, place: string, problems: ConfigProblem[]) =>
  vertexFields(entry.slug, settingsOfEntry(entry, place, VERTEX_SETTINGS, problems))

/** The fields of a provider's record that are Vertex's. */
function vertexFields(id: string, settings: VertexSettings) {
  const isExpress = settings.values.apiKey !== undefined
  return {
    kind: 'vertex',
    dialect: 'gemini',
    // The express mode serves only Google's models.
    ...(isExpress ? {} : { alsoSpeaks: ['messages', 'chat'] as const }),
    baseUrl: addressOf(settings, isExpress),
    credentialHeader: { name: 'x-goog-api-key', prefix: '' },
    credentials: [credentialOf(id, settings)],
    quirks: QUIRKS,
  } satisfies Partial<ProviderRecord>
}

const PROJECT = /^(?:[a-z0-9.-]+:)?[a-z0-9][a-z0-9-]{1,62}$/
const LOCATION = /^[a-z][a-z0-9-]{1,40}$/

function addressOf({ values, reject }: VertexSettings, isExpress: boolean): string {
  const { project, location, address } = values
  let root = `https://${hostOf(isExpress ? 'global' : (location ?? 'global'))}/v1`
  if (address !== undefined) {
    const base = readBaseUrl(address)
    if ('problem' in base) reject('address', base.problem)
    else root = base.url
  }
  if (isExpress || /\/projects\/[^/]+\/locations\/[^/]+$/.test(root)) return root
  if (project === undefined) reject('project', 'is missing')
  else if (!PROJECT.test(project)) reject('project', 'must be the id of a project')
  if (location === undefined) reject('location', 'is missing')
  else if (!LOCATION.test(location)) {
    reject('location', 'must be a location, such as us-central1 or global')
  }
  return `${root}/projects/${project}/locations/${location}`
}

/** Google's hosts: the global one, one per region, and those of the multi-regions. */
function hostOf(location: string): string {
  if (!LOCATION.test(location) || location === 'global') return 'aiplatform.googleapis.com'
  if (location === 'us' || location === 'eu') return `aiplatform.${location}.rep.googleapis.com`
  return `${location}-aiplatform.googleapis.com`
}

/** A key, else an account: its content before the file that holds one. */
function credentialOf(id: string, { values, placeOf, reject }: VertexSettings): CredentialRecord {
  const { apiKey, serviceAccount, credentialsFile } = values
  if (apiKey !== undefined) {
    if (!isHeaderValue(apiKey)) reject('apiKey', 'contains characters that no credential has')
    return { id, secret: apiKey }
  }
  const name = serviceAccount === undefined ? 'credentialsFile' : 'serviceAccount'
  const text = serviceAccount ?? contentOf(credentialsFile)
  const read = text === undefined ? undefined : readGoogleAccount(text)
  if (read !== undefined && 'account' in read) return { id, secret: null, google: read.account }
  if (read !== undefined) reject(name, read.problem)
  else if (credentialsFile === undefined) reject(name, `is missing, and so is ${placeOf('apiKey')}`)
  else reject(name, 'names a file that cannot be read')
  return { id, secret: null }
}

function contentOf(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
