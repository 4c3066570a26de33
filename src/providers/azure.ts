import type { ConfigProblem } from '../core/problem.ts'
import type { CredentialRecord, EntraClient, ProviderQuirks, ProviderRecord } from '../core/snapshot.ts'
import { withoutTrailing } from '../core/trailing.ts'
import { isTokenUrl } from './google-account.ts'
import { compatible, isHeaderValue, type PreparedBody, type Provider, type TokenSource } from './provider.ts'
import type { Environment, ProviderDefaults } from './settings.ts'
import {
  readBaseUrl,
  type SettingPlaces,
  type Settings,
  settingsOfEntry,
  settingsOfEnvironment,
  UNSET_URL,
} from './settings.ts'
import { askForToken, callWithToken, createTokenSource } from './token.ts'
import { AZURE_CHAT_MODELS, OPENAI_RECORDINGS } from './vendor-quirks.ts'

/** Tokens of Microsoft Entra, for a client with a secret (client credentials, RFC 6749 §4.4). */
const entraTokens = ({ tokenUrl, clientId, clientSecret, scope }: EntraClient): TokenSource =>
  createTokenSource((outbound) =>
    askForToken(
      tokenUrl,
      { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope },
      outbound,
    ),
  )

/**
 * Azure OpenAI and Foundry. A key is sent in `api-key`; a client of Entra gets a token. With a dated API version the
 * path names the deployment, which is what the model is called here
 * (`/openai/deployments/{deployment}/chat/completions?api-version=…`). Without one it is the v1 API, in which the body
 * names it.
 */
export const azure: Provider = {
  prepare(provider, credential, call, outbound) {
    if (call.path.startsWith('/messages')) return prepare(claudeAt(provider), credential, call, outbound)
    const addressed = provider.apiVersion === undefined ? call : { ...call, path: versioned(provider, call) }
    return prepare(provider, credential, addressed, outbound)
  },
}

const prepare: Provider['prepare'] = (provider, credential, call, outbound) => {
  const { entra } = credential
  if (entra === undefined) return compatible.prepare(provider, credential, call)
  return callWithToken(provider, credential, call, outbound, () => entraTokens(entra))
}

/** Foundry serves Claude beside the APIs of OpenAI, without an API version. */
const claudeAt = (provider: ProviderRecord): ProviderRecord => ({
  ...provider,
  baseUrl: `${provider.baseUrl.replace(/\/openai(?:\/v1)?$/, '')}/anthropic/v1`,
})

/** `/responses` is the one path that is not below a deployment; `preview` is a version of the v1 API. */
function versioned({ apiVersion = '' }: ProviderRecord, { path, body, form }: PreparedBody): string {
  const query = `?api-version=${encodeURIComponent(apiVersion)}`
  if (path.startsWith('/responses') || !/^\d/.test(apiVersion)) return path + query
  const deployment = String(form?.get('model') ?? body['model'] ?? '')
  return `/deployments/${encodeURIComponent(deployment)}${path}${query}`
}

export const AZURE_SETTINGS = {
  apiKey: { variables: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'], entry: 'api_key' },
  address: { variables: ['AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_BASE_URL'], entry: 'base_url' },
  resourceName: { variables: ['AZURE_RESOURCE_NAME'], entry: 'azure.resource_name' },
  apiVersion: { variables: ['AZURE_OPENAI_API_VERSION'], entry: 'azure.api_version' },
  tenantId: { variables: ['AZURE_TENANT_ID'], entry: 'azure.tenant_id' },
  clientId: { variables: ['AZURE_CLIENT_ID'], entry: 'azure.client_id' },
  clientSecret: { variables: ['AZURE_CLIENT_SECRET'], entry: 'azure.client_secret' },
  authorityHost: { variables: ['AZURE_AUTHORITY_HOST'], entry: 'azure.authority_host' },
} as const satisfies Record<string, SettingPlaces>

type AzureSettings = Settings<keyof typeof AZURE_SETTINGS>

/** Azure OpenAI, if its address is set together with a key or a client of Entra. */
export function azureOfEnvironment(
  environment: Environment,
  defaults: ProviderDefaults,
  problems: ConfigProblem[],
): ProviderRecord[] {
  const settings = settingsOfEnvironment(environment, AZURE_SETTINGS, problems)
  const { apiKey, tenantId, clientId, clientSecret, address, resourceName } = settings.values
  const hasCredential = apiKey !== undefined || [tenantId, clientId, clientSecret].every(Boolean)
  if (!hasCredential || (address === undefined && resourceName === undefined)) return []
  const found = problems.length
  const fields = azureFields(settings.placeOf(apiKey === undefined ? 'clientId' : 'apiKey'), settings)
  if (problems.length > found) return []
  return [{ slug: 'azure', name: 'Azure OpenAI', ...fields, ...defaults, isLocal: false }]
}

export const azureOfEntry = (entry: { slug: string }, place: string, problems: ConfigProblem[]) =>
  azureFields(entry.slug, settingsOfEntry(entry, place, AZURE_SETTINGS, problems))

/** The fields of a provider's record that are Azure's. */
function azureFields(id: string, settings: AzureSettings) {
  const { apiVersion } = settings.values
  const isNamed = apiVersion !== undefined && apiVersion !== 'v1'
  if (isNamed && !/^(?:\d{4}-\d{2}-\d{2}(?:-preview)?|preview|latest)$/.test(apiVersion)) {
    settings.reject('apiVersion', 'must be a version such as 2024-10-21 or 2025-04-01-preview, or v1')
  }
  return {
    kind: 'azure',
    dialect: 'chat',
    alsoSpeaks: ['responses'],
    baseUrl: addressOf(settings),
    ...(isNamed ? { apiVersion } : {}),
    credentialHeader: { name: 'api-key', prefix: '' },
    credentials: [credentialOf(id, settings)],
    quirks: quirksOf(apiVersion),
  } satisfies Partial<ProviderRecord>
}

/**
 * Reasoning models reject `max_tokens`; all models of OpenAI take the newer name. Versions before September 2024 know
 * neither that name nor `stream_options` (400 `Unrecognized request argument`). Versions before March 2025 have no
 * `/responses`: a caller of that API is still sent there and gets Azure's own error.
 */
function quirksOf(apiVersion: string | undefined): ProviderQuirks {
  const isDated = apiVersion !== undefined && /^\d/.test(apiVersion)
  const isOlderThan = (date: string): boolean => isDated && apiVersion < date
  return {
    ...(isOlderThan('2024-09-01')
      ? { outputBoundField: 'max_tokens', streamOptions: false }
      : { outputBoundField: 'max_completion_tokens' }),
    // A deployment has a default service tier (Foundry's page on priority processing, 2026).
    accountTier: 'any',
    responsesExtensions: false,
    recordings: OPENAI_RECORDINGS,
    chatModels: isOlderThan('2025-03-01') ? /^/ : AZURE_CHAT_MODELS,
  }
}

/** The portal shows the resource's address alone; SDKs append `/openai` or `/openai/v1`. */
function addressOf({ values: { address, resourceName, apiVersion }, reject }: AzureSettings): string {
  const path = /^\d/.test(apiVersion ?? '') ? '/openai' : '/openai/v1'
  if (address !== undefined) {
    const base = readBaseUrl(address)
    if ('url' in base) return base.url.replace(/\/openai(?:\/v1)?$/, '') + path
    reject('address', base.problem)
  } else if (resourceName === undefined) {
    reject('address', 'is missing')
  } else {
    if (/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/.test(resourceName)) {
      return `https://${resourceName}.openai.azure.com${path}`
    }
    reject('resourceName', 'must be the plain name of an Azure resource')
  }
  return UNSET_URL
}

/** A key, else a client of Entra. */
function credentialOf(id: string, settings: AzureSettings): CredentialRecord {
  const { values, placeOf, reject } = settings
  const { apiKey, tenantId, clientId = '', clientSecret = '' } = values
  if (apiKey !== undefined) {
    if (!isHeaderValue(apiKey)) reject('apiKey', 'contains characters that no credential has')
    return { id, secret: apiKey }
  }
  for (const name of ['tenantId', 'clientId', 'clientSecret'] as const) {
    if (values[name] === undefined) reject(name, `is missing, and so is ${placeOf('apiKey')}`)
  }
  if (tenantId !== undefined && !/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(tenantId)) {
    reject('tenantId', 'must be the id or the domain of a tenant')
  }
  const tokenUrl = `${authorityOf(settings)}/${tenantId}/oauth2/v2.0/token`
  return { id, secret: null, entra: { tokenUrl, clientId, clientSecret, scope: scopeFor(tokenUrl) } }
}

const AUTHORITY = 'https://login.microsoftonline.com'

function authorityOf({ values: { authorityHost = AUTHORITY }, reject }: AzureSettings): string {
  const url = /^https?:\/\//.test(authorityHost) ? authorityHost : `https://${authorityHost}`
  if (isTokenUrl(url) && !/[?#]/.test(url)) return withoutTrailing(url, '/')
  reject('authorityHost', 'must be an https address')
  return AUTHORITY
}

/** The clouds of governments have domains of their own. */
function scopeFor(tokenUrl: string): string {
  const host = new URL(tokenUrl).hostname
  const domain = host.endsWith('.us') ? 'azure.us' : host.endsWith('.cn') ? 'azure.cn' : 'azure.com'
  return `https://cognitiveservices.${domain}/.default`
}
