import type { UpstreamCall } from '../core/attempt.ts'
import type { CredentialRecord, ProviderKind, ProviderRecord } from '../core/snapshot.ts'
import { hostOf, isPrivateHost, type OutboundAllow } from '../net/address.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { vendors } from './compatible.ts'
import { demo } from './demo.ts'
import { compatible, type Outbound, type Provider } from './provider.ts'
import { vertex } from './vertex.ts'

/** The code that prepares a call, by the kind of provider. */
export const providers = { compatible, demo, bedrock, azure, vertex } satisfies Record<ProviderKind, Provider>

/** Anthropic's API requires its version (https://docs.anthropic.com/en/api/versioning). */
const HEADERS: Readonly<Record<string, Record<string, string>>> = {
  messages: { 'anthropic-version': '2023-06-01' },
}

/** The call that lists the models, which is free; null if the provider has no known one. */
export async function listingCall(
  provider: ProviderRecord,
  credential: CredentialRecord,
  outbound: Outbound,
): Promise<UpstreamCall | null> {
  const call = { path: '/models', headers: HEADERS[provider.dialect] ?? {}, body: {} }
  if (provider.kind === 'azure' && provider.apiVersion === undefined) {
    return asked(await providers.azure.prepare(provider, credential, call, outbound))
  }
  if (provider.kind !== 'compatible') return null
  // Cohere lists its models only in the first version of its API.
  const baseUrl = provider.dialect === 'cohere' ? provider.baseUrl.replace(/\/v2$/, '/v1') : provider.baseUrl
  return asked(await compatible.prepare({ ...provider, baseUrl }, credential, call))
}

function asked({ url, headers }: UpstreamCall): UpstreamCall {
  const { 'content-type': _, ...others } = headers
  return { method: 'GET', url, headers: { ...others, accept: 'application/json' }, body: undefined }
}

/** Hosts of vendors, which fetch URLs from their own network. Hosts that depend on an account are left out. */
const VENDOR_HOSTS: ReadonlySet<string> = new Set(
  vendors.flatMap(({ baseUrl }) => (baseUrl.includes('${') ? [] : [new URL(baseUrl).hostname])),
)

/**
 * Whether a provider runs on the operator's own network: true or false if its address shows it, else the name to resolve.
 * Private addresses and names, names without a dot (a container, `/etc/hosts`) and excepted hosts are the operator's;
 * hosts of vendors and clouds are not.
 */
export function isOnOwnNetwork(provider: ProviderRecord, allow: OutboundAllow): boolean | string {
  const { kind, baseUrl } = provider
  if (kind === 'demo') return false
  const url = new URL(baseUrl)
  const host = hostOf(url)
  if (isPrivateHost(url) || allow.hosts.has(host)) return true
  if (/^[\d.]+$/.test(host) || host.includes(':')) return false
  if (!host.includes('.')) return true
  return kind === 'compatible' && !isOfVendor(host) ? host : false
}

/** A vendor's host, or one of its regions (`eu.api.openai.com`). */
function isOfVendor(host: string): boolean {
  for (let name = host; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
    if (VENDOR_HOSTS.has(name)) return true
  }
  return false
}
