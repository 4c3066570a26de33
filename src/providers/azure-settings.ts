import type { ConfigProblem } from '../core/problem.ts'
import type { CredentialRecord, ProviderQuirks, ProviderRecord } from '../core/snapshot.ts'
import { withoutTrailing } from '../core/trailing.ts'
import type { Environment, ProviderDefaults } from './environment.ts'
import { isTokenUrl } from './google-account.ts'
import { isHeaderValue } from './provider.ts'
import { readBaseUrl, wordsOf } from './variables.ts'
import { AZURE_CHAT_MODELS } from './vendor-quirks.ts'

/** What the environment or an entry says of Azure; texts as they were written, none of them blank. */
export interface AzureSettings {
  readonly apiKey?: string | undefined
  readonly address?: string | undefined
  readonly resourceName?: string | undefined
  readonly apiVersion?: string | undefined
  readonly tenantId?: string | undefined
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  readonly authorityHost?: string | undefined
}

/** Where each of them was written, for problems. */
export type AzurePlaces = Readonly<Record<keyof AzureSettings, string>>

/**
 * Reasoning models refuse `max_tokens`; all models of OpenAI take the newer name. Versions before September 2024 know
 * neither that name nor `stream_options` (400 `Unrecognized request argument`). Versions before March 2025 have no
 * `/responses`: a caller of that API is still sent there, and reads Azure's own refusal.
 */
function quirksOf(apiVersion: string | undefined): ProviderQuirks {
  const isDated = apiVersion !== undefined && /^\d/.test(apiVersion)
  const isOlderThan = (date: string): boolean => isDated && apiVersion < date
  return {
    ...(isOlderThan('2024-09-01')
      ? { outputBoundField: 'max_tokens', streamOptions: false }
      : { outputBoundField: 'max_completion_tokens' }),
    responsesExtensions: false,
    chatModels: isOlderThan('2025-03-01') ? EVERY_MODEL : AZURE_CHAT_MODELS,
  }
}

const EVERY_MODEL = /^/

/** Of several names the first that is set is used. */
export const AZURE_VARIABLES: Readonly<Record<keyof AzureSettings, readonly [string, ...string[]]>> = {
  apiKey: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'],
  address: ['AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_BASE_URL'],
  resourceName: ['AZURE_RESOURCE_NAME'],
  apiVersion: ['AZURE_OPENAI_API_VERSION'],
  tenantId: ['AZURE_TENANT_ID'],
  clientId: ['AZURE_CLIENT_ID'],
  clientSecret: ['AZURE_CLIENT_SECRET'],
  authorityHost: ['AZURE_AUTHORITY_HOST'],
}

/** Azure OpenAI, where its address is set together with a key or a client of Entra. */
export function azureOfEnvironment(
  environment: Environment,
  defaults: ProviderDefaults,
  problems: ConfigProblem[],
): ProviderRecord[] {
  const { values: settings, places } = wordsOf(environment, AZURE_VARIABLES)
  const { apiKey, tenantId, clientId, clientSecret, address, resourceName } = settings
  const hasCredential = apiKey !== undefined || [tenantId, clientId, clientSecret].every(Boolean)
  if (!hasCredential || (address === undefined && resourceName === undefined)) return []
  const id = apiKey === undefined ? places.clientId : places.apiKey
  const found = problems.length
  const fields = azureFields(id, settings, places, problems)
  if (problems.length > found) return []
  return [
    {
      slug: 'azure',
      name: 'Azure OpenAI',
      dialect: 'chat',
      alsoSpeaks: ['responses'],
      ...fields,
      timeouts: defaults.timeouts,
      maxInFlight: defaults.maxInFlight,
      isLocal: false,
    },
  ]
}

/** What of a provider's record is Azure's. Problems are told with their place; the values are never quoted. */
export function azureFields(
  id: string,
  settings: AzureSettings,
  places: AzurePlaces,
  problems: ConfigProblem[],
): Pick<ProviderRecord, 'kind' | 'baseUrl' | 'apiVersion' | 'credentialHeader' | 'credentials' | 'quirks'> {
  const { apiVersion } = settings
  const isNamed = apiVersion !== undefined && apiVersion !== 'v1'
  if (isNamed && !/^(?:\d{4}-\d{2}-\d{2}(?:-preview)?|preview|latest)$/.test(apiVersion)) {
    problems.push({
      path: places.apiVersion,
      message: 'must be a version such as 2024-10-21 or 2025-04-01-preview, or v1',
    })
  }
  return {
    kind: 'azure',
    baseUrl: addressOf(settings, places, problems),
    ...(isNamed ? { apiVersion } : {}),
    credentialHeader: { name: 'api-key', prefix: '' },
    credentials: [credentialOf(id, settings, places, problems)],
    quirks: quirksOf(apiVersion),
  }
}

const UNSET = 'http://unset.invalid'

/** The portal shows the resource's address alone; SDKs write it with `/openai` or `/openai/v1`. */
function addressOf(
  { address, resourceName, apiVersion }: AzureSettings,
  places: AzurePlaces,
  problems: ConfigProblem[],
): string {
  const path = /^\d/.test(apiVersion ?? '') ? '/openai' : '/openai/v1'
  if (address !== undefined) {
    const base = readBaseUrl(address)
    if ('url' in base) return base.url.replace(/\/openai(?:\/v1)?$/, '') + path
    problems.push({ path: places.address, message: base.problem })
    return UNSET
  }
  if (resourceName !== undefined && /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/.test(resourceName)) {
    return `https://${resourceName}.openai.azure.com${path}`
  }
  problems.push(
    resourceName === undefined
      ? { path: places.address, message: 'is missing' }
      : { path: places.resourceName, message: 'must be the plain name of an Azure resource' },
  )
  return UNSET
}

/** A key, else a client of Entra. */
function credentialOf(
  id: string,
  settings: AzureSettings,
  places: AzurePlaces,
  problems: ConfigProblem[],
): CredentialRecord {
  const { apiKey, tenantId, clientId, clientSecret } = settings
  if (apiKey !== undefined) {
    if (!isHeaderValue(apiKey)) {
      problems.push({ path: places.apiKey, message: 'holds characters that no credential has' })
    }
    return { id, secret: apiKey }
  }
  for (const name of ['tenantId', 'clientId', 'clientSecret'] as const) {
    if (settings[name] === undefined) {
      problems.push({ path: places[name], message: `is missing, and so is ${places.apiKey}` })
    }
  }
  if (tenantId !== undefined && !/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(tenantId)) {
    problems.push({ path: places.tenantId, message: 'must be the id or the domain of a tenant' })
  }
  const tokenUrl = `${authorityOf(settings, places, problems)}/${tenantId}/oauth2/v2.0/token`
  const entra = {
    tokenUrl,
    clientId: clientId ?? '',
    clientSecret: clientSecret ?? '',
    scope: scopeFor(tokenUrl),
  }
  return { id, secret: null, entra }
}

const AUTHORITY = 'https://login.microsoftonline.com'

function authorityOf(
  { authorityHost = AUTHORITY }: AzureSettings,
  places: AzurePlaces,
  problems: ConfigProblem[],
): string {
  const url = /^https?:\/\//.test(authorityHost) ? authorityHost : `https://${authorityHost}`
  if (isTokenUrl(url) && !/[?#]/.test(url)) return withoutTrailing(url, '/')
  problems.push({ path: places.authorityHost, message: 'must be an https address' })
  return AUTHORITY
}

/** The clouds of governments have names of their own. */
function scopeFor(tokenUrl: string): string {
  const host = new URL(tokenUrl).hostname
  const domain = host.endsWith('.us') ? 'azure.us' : host.endsWith('.cn') ? 'azure.cn' : 'azure.com'
  return `https://cognitiveservices.${domain}/.default`
}
