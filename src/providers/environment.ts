import type { ConfigProblem } from '../core/problem.ts'
import type { CredentialRecord, ProviderRecord } from '../core/snapshot.ts'
import { withoutTrailing } from '../core/trailing.ts'
import { azureOfEnvironment } from './azure.ts'
import { AWS_SETTINGS, awsCredential, regionFields, regionIn } from './bedrock.ts'
import { quirksOf, type Vendor, vendors } from './compatible.ts'
import { credentialHeaderFor, isHeaderValue } from './provider.ts'
import { type Environment, type ProviderDefaults, readBaseUrl, settingsOfEnvironment } from './settings.ts'
import { vertexOfEnvironment } from './vertex-settings.ts'

export type { Environment, ProviderDefaults } from './settings.ts'

/** A part of a host name or path that cannot change the host. */
const ADDRESS_PART = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/

/**
 * The vendors that the environment turns on: a credential under its usual name is enough; blank ones count as absent.
 * `<PREFIX>_BASE_URL` moves a vendor. A vendor whose address has an unset part stays off silently: such credentials often
 * serve other programs. Problems name the variable and never quote its value.
 */
export function environmentProviders(
  environment: Environment,
  defaults: ProviderDefaults,
): { providers: ProviderRecord[]; problems: ConfigProblem[] } {
  const providers: ProviderRecord[] = []
  const problems: ConfigProblem[] = []
  for (const vendor of vendors) {
    const credential = credentialOf(vendor, environment, problems)
    if (credential === undefined) continue
    const baseUrl = addressFor(vendor, environment, problems)
    if (baseUrl === undefined) continue
    const region = partOf(environment, 'AWS_REGION')
    const provider = vendorProvider(vendor, baseUrl, [credential], defaults, region)
    if (credential.aws === undefined || provider.region !== undefined) providers.push(provider)
    else
      problems.push({ path: 'AWS_REGION', message: `must be set: calls to ${vendor.name} are signed for it` })
  }
  providers.push(...azureOfEnvironment(environment, defaults, problems))
  providers.push(...vertexOfEnvironment(environment, defaults, problems))
  return { providers, problems }
}

/**
 * The vendors with these slugs, without a credential: at their own address or where the environment moves them. A vendor
 * whose address has an unset part, or without a region to sign for, is left out.
 */
export const uncredentialled = (
  environment: Environment,
  defaults: ProviderDefaults,
  slugs: readonly string[],
): ProviderRecord[] =>
  vendors.flatMap((vendor) => {
    if (!slugs.includes(vendor.slug)) return []
    const baseUrl = addressFor(vendor, environment, [])
    if (baseUrl === undefined) return []
    const provider = vendorProvider(vendor, baseUrl, [], defaults, partOf(environment, 'AWS_REGION'))
    return provider.kind === 'bedrock' && provider.region === undefined ? [] : [provider]
  })

/** A key under one of the vendor's names, else keys that sign. */
function credentialOf(
  vendor: Vendor,
  environment: Environment,
  problems: ConfigProblem[],
): CredentialRecord | undefined {
  const key = vendor.keys.find((name) => wordOf(environment, name) !== undefined)
  const secret = key === undefined ? undefined : wordOf(environment, key)
  if (key === undefined || secret === undefined) {
    if (vendor.kind !== 'bedrock') return undefined
    return awsCredential('AWS_ACCESS_KEY_ID', settingsOfEnvironment(environment, AWS_SETTINGS, problems))
  }
  if (isHeaderValue(secret)) return { id: key, secret }
  problems.push({ path: key, message: 'contains characters that no credential has, such as a line break' })
  return undefined
}

/** The record of a vendor. `baseUrl` is its own or the operator's; `region` is used if that does not contain one. */
export function vendorProvider(
  vendor: Vendor,
  baseUrl: string,
  credentials: readonly CredentialRecord[],
  defaults: ProviderDefaults,
  region?: string,
): ProviderRecord {
  const { dialect = 'chat', kind = 'compatible' } = vendor
  return {
    slug: vendor.slug,
    name: vendor.name,
    kind,
    dialect,
    ...(vendor.alsoSpeaks && isAtHome(baseUrl, vendor) ? { alsoSpeaks: vendor.alsoSpeaks } : {}),
    baseUrl,
    ...credentialHeaderFor(dialect),
    ...(kind === 'bedrock' ? regionFields(regionIn(baseUrl) ?? region) : {}),
    credentials,
    timeouts: defaults.timeouts,
    maxInFlight: defaults.maxInFlight,
    quirks: quirksOf(vendor),
    isLocal: false,
  }
}

/**
 * The variable that moves a vendor: `OPENAI_API_KEY` → `OPENAI_BASE_URL`, `HF_TOKEN` → `HF_BASE_URL`,
 * `AWS_BEARER_TOKEN_BEDROCK` → `AWS_BEDROCK_BASE_URL`.
 */
export const baseUrlVariable = (key: string): string =>
  `${key.replace(/_BEARER_TOKEN(?=_)|_(?:API_KEY|TOKEN|PAT)$/, '')}_BASE_URL`

/**
 * True at the vendor's own host, or one of its regions (`eu.api.openai.com`). Another host is often another server, which
 * speaks only the vendor's main dialect.
 */
function isAtHome(address: string, { baseUrl }: Vendor): boolean {
  const [host, home] = [new URL(address).hostname, new URL(baseUrl).hostname]
  return host === home || host.endsWith(`.${home}`)
}

/** Undefined: the vendor stays off, with a problem unless a part of its address is unset. */
function addressFor(vendor: Vendor, environment: Environment, problems: ConfigProblem[]): string | undefined {
  const variables = [...movingVariables(vendor, environment), ...(vendor.addresses ?? [])]
  const variable = variables.find((name) => wordOf(environment, name) !== undefined)
  if (variable !== undefined) {
    const base = readBaseUrl(wordOf(environment, variable) ?? '')
    if ('url' in base) return withVersion(base.url, vendor)
    problems.push({ path: variable, message: base.problem })
    return undefined
  }
  let isComplete = true
  const address = vendor.baseUrl.replace(/\$\{([A-Z0-9_]+)\}/g, (_, name: string) => {
    const part = partOf(environment, name)
    if (part !== undefined && ADDRESS_PART.test(part) && !part.includes('..')) return part
    if (part !== undefined) {
      problems.push({
        path: name,
        message: `must be a plain name: it becomes part of the address of ${vendor.name}`,
      })
    }
    isComplete = false
    return ''
  })
  return isComplete ? address : undefined
}

/** The operator's address of a vendor, with the version segment if the vendor implies it. */
export const withVersion = (url: string, { impliedVersion }: Vendor): string =>
  impliedVersion !== undefined && new URL(url).pathname === '/' ? url + impliedVersion : url

/** The address variables of the key in use, else of all keys. */
function movingVariables({ keys }: Vendor, environment: Environment): string[] {
  const used = keys.filter((name) => wordOf(environment, name) !== undefined).slice(0, 1)
  return (used.length > 0 ? used : keys).map(baseUrlVariable)
}

/**
 * AWS's tools read the region under two names; the first one wins. Databricks' tools have the host as an address,
 * `https://dbc-1.cloud.databricks.com/`.
 */
function partOf(environment: Environment, name: string): string | undefined {
  const part = wordOf(environment, name)
  if (name.endsWith('_HOST'))
    return part === undefined ? undefined : withoutTrailing(part.replace(/^https:\/\//i, ''), '/')
  return part ?? (name === 'AWS_REGION' ? wordOf(environment, 'AWS_DEFAULT_REGION') : undefined)
}

/** Blank counts as absent. */
function wordOf(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim()
  return value === '' ? undefined : value
}

const MOST_NAMED = 4

/**
 * How an operator turns one of these providers on, as a sentence without its full stop: the variables of their
 * credentials, in the order of the slugs.
 */
export function howToConfigure(slugs: readonly string[]): string {
  const variables = slugs.flatMap((slug) => vendors.find((vendor) => vendor.slug === slug)?.keys[0] ?? [])
  const [first, ...others] = variables.slice(0, MOST_NAMED)
  if (first === undefined) return 'Add a "providers:" entry for one that does'
  const or = others.length === 0 ? '' : ` (or ${others.join(', ')})`
  return `Set ${first}${or}, or add a "providers:" entry`
}
