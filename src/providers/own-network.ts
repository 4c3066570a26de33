import type { ProviderRecord } from '../core/snapshot.ts'
import { hostOf, isPrivateHost, type OutboundAllow } from '../net/address.ts'
import { vendors } from './compatible.ts'

/** Hosts of vendors: what they fetch, they fetch from their own network. Those with a part of the account are left out. */
const VENDOR_HOSTS: ReadonlySet<string> = new Set(
  vendors.flatMap(({ baseUrl }) => (baseUrl.includes('${') ? [] : [new URL(baseUrl).hostname])),
)

/**
 * Whether a provider runs on the operator's own network: true or false if its address shows it, else the name that must
 * be resolved. A private address, a private name, a name without a dot (a container, `/etc/hosts`) and an excepted host
 * are the operator's; a vendor's or a cloud's host is not.
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
