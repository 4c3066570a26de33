import { readFileSync } from 'node:fs'
import type { ConfigProblem } from '../core/problem.ts'
import type { CredentialRecord, ProviderQuirks, ProviderRecord } from '../core/snapshot.ts'
import type { Environment, ProviderDefaults } from './environment.ts'
import { readGoogleAccount } from './google-account.ts'
import { isHeaderValue } from './provider.ts'
import { readBaseUrl, wordsOf } from './variables.ts'

/** What the environment or an entry says of Vertex; texts as they were written, none of them blank. */
export interface VertexSettings {
  readonly project?: string | undefined
  readonly location?: string | undefined
  /** The path of a credentials file, read once. */
  readonly credentialsFile?: string | undefined
  /** The content of one. */
  readonly serviceAccount?: string | undefined
  /** Of the express mode. */
  readonly apiKey?: string | undefined
  readonly address?: string | undefined
}

/** Where each of them was written, for problems. */
export type VertexPlaces = Readonly<Record<keyof VertexSettings, string>>

/** Claude reads no addresses there (Anthropic's reference of vision, 2026). */
export const VERTEX_QUIRKS: ProviderQuirks = {
  takesUrls: { messages: false },
  embeddings: { form: 'instances' },
}

/** Of several names the first that is set is used. */
export const VERTEX_VARIABLES: Readonly<Record<keyof VertexSettings, readonly [string, ...string[]]>> = {
  project: ['GOOGLE_VERTEX_PROJECT', 'GOOGLE_CLOUD_PROJECT'],
  location: ['GOOGLE_VERTEX_LOCATION', 'GOOGLE_CLOUD_LOCATION'],
  credentialsFile: ['GOOGLE_APPLICATION_CREDENTIALS'],
  serviceAccount: ['GOOGLE_SERVICE_ACCOUNT_JSON'],
  apiKey: ['GOOGLE_VERTEX_API_KEY'],
  address: ['GOOGLE_VERTEX_BASE_URL'],
}

/**
 * Vertex, where a project and a location are set together with an account, or a key of the express mode. An account
 * alone turns nothing on: such files are often there for other programs.
 */
export function vertexOfEnvironment(
  environment: Environment,
  defaults: ProviderDefaults,
  problems: ConfigProblem[],
): ProviderRecord[] {
  const { values, places } = wordsOf(environment, VERTEX_VARIABLES)
  const { project, location, serviceAccount, credentialsFile, apiKey, address } = values
  const hasAccount = serviceAccount !== undefined || credentialsFile !== undefined
  const isWhole = hasAccount && project !== undefined && location !== undefined
  if (!isWhole && apiKey === undefined) return []
  const settings = isWhole
    ? { project, location, serviceAccount, credentialsFile, address }
    : { apiKey, address }
  const used = isWhole ? (serviceAccount === undefined ? 'credentialsFile' : 'serviceAccount') : 'apiKey'
  const found = problems.length
  const fields = vertexFields(places[used], settings, places, problems)
  if (problems.length > found) return []
  return [
    {
      slug: 'google-vertex',
      name: 'Google Vertex',
      dialect: 'gemini',
      ...fields,
      timeouts: defaults.timeouts,
      maxInFlight: defaults.maxInFlight,
      quirks: VERTEX_QUIRKS,
      isLocal: false,
    },
  ]
}

/** What of a provider's record is Vertex's. Problems are told with their place; the values are never quoted. */
export function vertexFields(
  id: string,
  settings: VertexSettings,
  places: VertexPlaces,
  problems: ConfigProblem[],
): Pick<ProviderRecord, 'kind' | 'baseUrl' | 'alsoSpeaks' | 'credentialHeader' | 'credentials'> {
  const isExpress = settings.apiKey !== undefined
  return {
    kind: 'vertex',
    // The express mode serves Google's own models alone.
    ...(isExpress ? {} : { alsoSpeaks: ['messages', 'chat'] as const }),
    baseUrl: addressOf(settings, isExpress, places, problems),
    credentialHeader: { name: 'x-goog-api-key', prefix: '' },
    credentials: [credentialOf(id, settings, places, problems)],
  }
}

const PROJECT = /^(?:[a-z0-9.-]+:)?[a-z0-9][a-z0-9-]{1,62}$/
const LOCATION = /^[a-z][a-z0-9-]{1,40}$/

function addressOf(
  { project, location, address }: VertexSettings,
  isExpress: boolean,
  places: VertexPlaces,
  problems: ConfigProblem[],
): string {
  let root = `https://${hostOf(isExpress ? 'global' : (location ?? 'global'))}/v1`
  if (address !== undefined) {
    const base = readBaseUrl(address)
    if ('problem' in base) problems.push({ path: places.address, message: base.problem })
    else root = base.url
  }
  if (isExpress || /\/projects\/[^/]+\/locations\/[^/]+$/.test(root)) return root
  if (project === undefined || !PROJECT.test(project)) {
    problems.push({
      path: places.project,
      message: project === undefined ? 'is missing' : 'must be the id of a project',
    })
  }
  if (location === undefined || !LOCATION.test(location)) {
    problems.push({
      path: places.location,
      message: location === undefined ? 'is missing' : 'must be a location, such as us-central1 or global',
    })
  }
  return `${root}/projects/${project}/locations/${location}`
}

/** Google's hosts: one for the world, one for each region, and those of the two regions of many. */
function hostOf(location: string): string {
  if (!LOCATION.test(location) || location === 'global') return 'aiplatform.googleapis.com'
  if (location === 'us' || location === 'eu') return `aiplatform.${location}.rep.googleapis.com`
  return `${location}-aiplatform.googleapis.com`
}

/** A key, else an account: its content before the file that holds one. */
function credentialOf(
  id: string,
  { apiKey, serviceAccount, credentialsFile }: VertexSettings,
  places: VertexPlaces,
  problems: ConfigProblem[],
): CredentialRecord {
  if (apiKey !== undefined) {
    if (!isHeaderValue(apiKey)) {
      problems.push({ path: places.apiKey, message: 'holds characters that no credential has' })
    }
    return { id, secret: apiKey }
  }
  const path = serviceAccount === undefined ? places.credentialsFile : places.serviceAccount
  const text = serviceAccount ?? contentOf(credentialsFile)
  if (text === undefined) {
    const isMissing = credentialsFile === undefined
    problems.push({
      path,
      message: isMissing ? `is missing, and so is ${places.apiKey}` : 'names a file that cannot be read',
    })
    return { id, secret: null }
  }
  const read = readGoogleAccount(text)
  if ('account' in read) return { id, secret: null, google: read.account }
  problems.push({ path, message: read.problem })
  return { id, secret: null }
}

function contentOf(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
