import type { ConfigProblem } from '../core/problem.ts'
import type { CredentialRecord, ProviderRecord, Timeouts } from '../core/snapshot.ts'
import { readBaseUrl } from './base-url.ts'
import { quirksOf, type Vendor, vendors } from './compatible.ts'
import { credentialHeaderFor } from './credential-header.ts'

/** Values of the environment, read elsewhere. */
export type Environment = Readonly<Record<string, string | undefined>>

/** What a provider gets where nobody says otherwise. */
export interface ProviderDefaults {
  readonly timeouts: Timeouts
  readonly maxInFlight: number
}

/** A part of a host name or of a path: nothing that could lead elsewhere. */
const ADDRESS_PART = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/

/**
 * The vendors that the environment turns on: a credential under its usual name is enough, blank ones count as absent.
 * `<PREFIX>_BASE_URL` moves a vendor. A vendor whose address has a part that is not set stays off, silently: such
 * credentials are often there for other programs. Problems name the variable and never quote its value.
 */
export function environmentProviders(
  environment: Environment,
  defaults: ProviderDefaults,
): { providers: ProviderRecord[]; problems: ConfigProblem[] } {
  const providers: ProviderRecord[] = []
  const problems: ConfigProblem[] = []
  for (const vendor of vendors) {
    const key = vendor.keys.find((name) => wordOf(environment, name) !== undefined)
    const secret = key === undefined ? undefined : wordOf(environment, key)
    if (key === undefined || secret === undefined) continue
    if (!isHeaderValue(secret)) {
      problems.push({ path: key, message: 'holds characters that no credential has (a line break, perhaps)' })
      continue
    }
    const baseUrl = addressFor(vendor, key, environment, problems)
    if (baseUrl === undefined) continue
    providers.push(vendorProvider(vendor, baseUrl, [{ id: key, secret }], defaults))
  }
  return { providers, problems }
}

/** The record of a vendor. `baseUrl` is its own or where the operator moved it. */
export function vendorProvider(
  vendor: Vendor,
  baseUrl: string,
  credentials: readonly CredentialRecord[],
  defaults: ProviderDefaults,
): ProviderRecord {
  const dialect = vendor.dialect ?? 'chat'
  return {
    slug: vendor.slug,
    name: vendor.name,
    kind: 'compatible',
    dialect,
    ...(vendor.alsoSpeaks && isAtHome(baseUrl, vendor) ? { alsoSpeaks: vendor.alsoSpeaks } : {}),
    baseUrl,
    ...credentialHeaderFor(dialect),
    credentials,
    timeouts: defaults.timeouts,
    maxInFlight: defaults.maxInFlight,
    quirks: quirksOf(vendor),
    isLocal: false,
  }
}

/** The variable that moves a vendor: `OPENAI_API_KEY` → `OPENAI_BASE_URL`, `HF_TOKEN` → `HF_BASE_URL`. */
export const baseUrlVariable = (key: string): string =>
  `${key.replace(/_(?:API_KEY|TOKEN|PAT)$/, '')}_BASE_URL`

/** What may stand in an HTTP header: visible ASCII. */
export const isHeaderValue = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/**
 * At the vendor's own host, or one of its regions (`eu.api.openai.com`). Elsewhere there is often another server, which
 * speaks the vendor's main dialect and perhaps no other.
 */
function isAtHome(address: string, { baseUrl }: Vendor): boolean {
  const [host, home] = [new URL(address).hostname, new URL(baseUrl).hostname]
  return host === home || host.endsWith(`.${home}`)
}

/** Undefined: the vendor stays off, with a problem unless a part of its address is simply not set. */
function addressFor(
  vendor: Vendor,
  key: string,
  environment: Environment,
  problems: ConfigProblem[],
): string | undefined {
  const variable = baseUrlVariable(key)
  const moved = wordOf(environment, variable)
  if (moved !== undefined) {
    const base = readBaseUrl(moved)
    if ('url' in base) return withVersion(base.url, vendor)
    problems.push({ path: variable, message: base.problem })
    return undefined
  }
  let isWhole = true
  const address = vendor.baseUrl.replace(/\$\{([A-Z0-9_]+)\}/g, (_, name: string) => {
    const part = wordOf(environment, name)
    if (part !== undefined && ADDRESS_PART.test(part) && !part.includes('..')) return part
    if (part !== undefined) {
      problems.push({
        path: name,
        message: `must be a plain name: it becomes part of the address of ${vendor.name}`,
      })
    }
    isWhole = false
    return ''
  })
  return isWhole ? address : undefined
}

/** An address that a vendor was moved to, with the version segment where the vendor implies it. */
export const withVersion = (url: string, { impliedVersion }: Vendor): string =>
  impliedVersion !== undefined && new URL(url).pathname === '/' ? url + impliedVersion : url

/** Blank counts as absent. */
function wordOf(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim()
  return value === '' ? undefined : value
}
