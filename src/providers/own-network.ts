import type { ProviderRecord } from '../core/snapshot.ts'
import { hostOf, isPrivateHost, type OutboundAllow } from '../net/address.ts'
import { vendors } from './compatible.ts'

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
