import type { ConfigProblem } from '../core/problem.ts'
import type { ProviderRecord } from '../core/snapshot.ts'
import { type AzurePlaces, azureFields } from './azure-settings.ts'
import type { Entry } from './entry-schema.ts'
import { VERTEX_QUIRKS, type VertexPlaces, vertexFields } from './vertex-settings.ts'

type CloudFields = Pick<
  ProviderRecord,
  'kind' | 'dialect' | 'alsoSpeaks' | 'baseUrl' | 'apiVersion' | 'credentialHeader' | 'credentials' | 'quirks'
>

/** What the block `azure` or `vertex` of an entry says of its provider; undefined without one. */
export function cloudFields(entry: Entry, place: string, problems: ConfigProblem[]): CloudFields | undefined {
  const blocks = (['aws', 'azure', 'vertex'] as const).filter((name) => entry[name] !== undefined)
  const [first, second] = blocks
  if (second !== undefined) {
    problems.push({ path: `${place}.${second}`, message: `stands beside ${first}: give one of the two` })
  }
  if (first === 'azure') return azureOf(entry, place, problems)
  return first === 'vertex' ? vertexOf(entry, place, problems) : undefined
}

function azureOf({ slug, api_key, base_url, azure = {} }: Entry, place: string, problems: ConfigProblem[]) {
  const { resource_name, api_version, tenant_id, client_id, client_secret, authority_host } = azure
  const settings = {
    apiKey: wordOf(api_key),
    address: wordOf(base_url),
    resourceName: wordOf(resource_name),
    apiVersion: wordOf(api_version),
    tenantId: wordOf(tenant_id),
    clientId: wordOf(client_id),
    clientSecret: wordOf(client_secret),
    authorityHost: wordOf(authority_host),
  }
  const places: AzurePlaces = {
    apiKey: `${place}.api_key`,
    address: `${place}.base_url`,
    resourceName: `${place}.azure.resource_name`,
    apiVersion: `${place}.azure.api_version`,
    tenantId: `${place}.azure.tenant_id`,
    clientId: `${place}.azure.client_id`,
    clientSecret: `${place}.azure.client_secret`,
    authorityHost: `${place}.azure.authority_host`,
  }
  const fields = azureFields(slug, settings, places, problems)
  return { dialect: 'chat', alsoSpeaks: ['responses'], ...fields } as const
}

function vertexOf({ slug, api_key, base_url, vertex = {} }: Entry, place: string, problems: ConfigProblem[]) {
  const settings = {
    project: wordOf(vertex.project),
    location: wordOf(vertex.location),
    credentialsFile: wordOf(vertex.credentials_file),
    serviceAccount: wordOf(vertex.service_account),
    apiKey: wordOf(api_key),
    address: wordOf(base_url),
  }
  const places: VertexPlaces = {
    project: `${place}.vertex.project`,
    location: `${place}.vertex.location`,
    credentialsFile: `${place}.vertex.credentials_file`,
    serviceAccount: `${place}.vertex.service_account`,
    apiKey: `${place}.api_key`,
    address: `${place}.base_url`,
  }
  return {
    dialect: 'gemini',
    quirks: VERTEX_QUIRKS,
    ...vertexFields(slug, settings, places, problems),
  } as const
}

/** Blank counts as absent. */
const wordOf = (text: string | undefined): string | undefined => text?.trim() || undefined
