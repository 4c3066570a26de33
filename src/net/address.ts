import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { badRequest } from '../core/errors.ts'

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number]

/** The operator's exceptions: private hosts and networks that guarded calls may reach. */
export interface OutboundAllow {
  /** Lower-case names without a trailing dot, allowed regardless of their addresses. */
  readonly hosts: ReadonlySet<string>
  readonly networks: readonly Network[]
}

export const NOTHING_ALLOWED: OutboundAllow = { hosts: new Set(), networks: [] }

/**
 * Names of private machines, regardless of their addresses (RFC 6761, RFC 6762, RFC 8375, ICANN 2024-07-29), and suffixes
 * that routers and companies use and that the public DNS does not have.
 */
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa|lan|home|corp|intranet|private)$/
const HOST_NAME = /^(?=.{1,253}$)(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/
/** The authority. URL parsers disagree on the host if it contains a backslash or an `@`. */
const AUTHORITY = /^https?:\/\/([^/?]*)/i
/** Parsing a host name of megabytes takes a second. Signed URLs have a few thousand characters. */
const LONGEST_URL = 65_536
const HARMLESS_TEXT = /^[^\x00-\x1f\x7f\\]+$/

/** Public by its range, but serves secrets of the machine: Azure's agent (168.63.129.16). */
const CLOUD_INTERNAL: readonly Network[] = [ipaddr.parseCIDR('168.63.129.16/32')]
/** The range that the registry assigns for the public internet; other IPv6 addresses have no known use. */
const GLOBAL_IPV6: Network = ipaddr.parseCIDR('2000::/3')

/**
 * Reads the operator's list: host names, addresses and CIDRs. Throws a `RangeError` that names an
 * invalid entry.
 */
export function parseOutboundAllow(entries: readonly string[]): OutboundAllow {
  const hosts = new Set<string>()
  const networks: Network[] = []
  for (const entry of entries) {
    const text = entry.trim().toLowerCase()
    const address = text.replace(/^\[(.*)\]$/, '$1')
    if (isStrictCidr(text)) networks.push(ipaddr.parseCIDR(text))
    else if (isStrictAddress(address)) networks.push(networkOf(ipaddr.parse(address)))
    else if (HOST_NAME.test(text) && isCanonicalName(text)) hosts.add(text)
    else {
      throw new RangeError(
        `"${entry.slice(0, 80)}" is neither a host name nor an address nor a CIDR such as 10.1.0.0/16`,
      )
    }
  }
  return { hosts, networks }
}

/**
 * Checks a user's URL without resolving its name. Throws a `GatewayError` 400 if it is not plain http or https, has
 * user-info, or has a private, loopback, link-local or reserved address in any notation (WHATWG parses decimal, octal, hex,
 * short, percent-encoded and full-width notations). `path` is the field of the URL. Names are checked again, by address,
 * when they are called.
 */
export function checkUrl(text: string, allow: OutboundAllow = NOTHING_ALLOWED, path?: string): URL {
  if (text.length > LONGEST_URL) throw badRequest(`The URL is longer than ${LONGEST_URL} characters`, path)
  const authority = AUTHORITY.exec(text)?.[1]
  if (authority === undefined) throw badRequest('The URL must begin with http:// or https://', path)
  if (authority === '') throw badRequest('The URL names no host', path)
  if (authority.includes('@')) throw badRequest('The URL may not contain a user name or a password', path)
  const url = HARMLESS_TEXT.test(text) ? URL.parse(text) : null
  if (url === null) throw badRequest('This is not a valid URL', path)
  checkParsed(url, allow, path)
  if (isAmbiguous(url, authority)) throw refusedHost(path)
  return url
}

/** Parsers disagree on other spellings of a public IPv4 address: 010.0.0.1 is 8.0.0.1 to some and 10.0.0.1 to others. */
const isAmbiguous = ({ hostname }: URL, authority: string): boolean =>
  isIP(hostname) === 4 && isReachable(hostname, NOTHING_ALLOWED) && !isWrittenAs(hostname, authority)

const isWrittenAs = (address: string, authority: string): boolean =>
  authority.startsWith(address) && /^(?:$|[:#])/.test(authority.slice(address.length))

/** True for a host that is private by its name or its number, without resolving it and without exceptions. */
export const isPrivateHost = (url: URL): boolean => {
  const host = hostOf(url)
  return ipaddr.isValid(host) ? !isReachable(host, NOTHING_ALLOWED) : PRIVATE_NAME.test(host)
}

/** `checkUrl` for a URL that was parsed already, such as the target of a redirect. */
export function checkParsed(url: URL, allow: OutboundAllow, path?: string): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw badRequest('The URL must begin with http:// or https://', path)
  }
  if (url.username !== '' || url.password !== '') {
    throw badRequest('The URL may not contain a user name or a password', path)
  }
  const host = hostOf(url)
  if (allow.hosts.has(host)) return
  // A parsed URL has every spelling of an address in its usual form.
  const isAddress = isIP(host) !== 0
  if (isAddress ? isReachable(host, allow) : HOST_NAME.test(host) && !PRIVATE_NAME.test(host)) return
  throw refusedHost(path)
}

/** The host in lower case, without the brackets of IPv6 and without the dot of a rooted name. */
export const hostOf = (url: URL): string =>
  url.hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

/** The message does not contain the resolved address, so that it reveals nothing about the operator's network. */
export const refusedHost = (path?: string): Error =>
  badRequest(
    'The URL leads to a private, local or reserved address, which is not allowed here; ' +
      'the operator can except hosts with SLUICE_OUTBOUND_ALLOW',
    path,
  )

/**
 * True for a public unicast address, and for addresses that the operator allows. Wrapped IPv4 (mapped, NAT64, 6to4,
 * Teredo) is never public: its target depends on the gateway's own network.
 */
export function isReachable(address: string, allow: OutboundAllow): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (allow.networks.some((network) => contains(network, parsed))) return true
  if (parsed.range() !== 'unicast') return false
  if (parsed.kind() === 'ipv6' && !contains(GLOBAL_IPV6, parsed)) return false
  return !CLOUD_INTERNAL.some((network) => contains(network, parsed))
}

function contains([network, prefixLength]: Network, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network.kind() === address.kind() && address.match(network, prefixLength)
}

/** The library also accepts short and octal forms; exceptions must have the full form, which is unambiguous. */
const isStrictAddress = (text: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text))
const isStrictCidr = (text: string): boolean =>
  ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValidCIDR(text))

/** Not a spelling of an address: a URL with this name keeps it. */
const isCanonicalName = (text: string): boolean => URL.parse(`http://${text}/`)?.hostname === text

const networkOf = (address: ipaddr.IPv4 | ipaddr.IPv6): Network => [
  address,
  address.kind() === 'ipv4' ? 32 : 128,
]

/** Proxies whose `X-Forwarded-For` is trusted. */
export type TrustedProxies = readonly Network[]

/** Reads addresses and CIDRs. Throws a `RangeError` that names an invalid entry. */
export const parseTrustedProxies = (entries: readonly string[]): TrustedProxies =>
  entries.map((entry) => {
    const text = entry.trim()
    if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text)
    if (ipaddr.isValid(text)) return networkOf(ipaddr.process(text))
    throw new RangeError(`"${text.slice(0, 80)}" is neither an address nor a CIDR such as 10.1.0.0/16`)
  })

/**
 * The client's address: the peer's own, unless the peer is a trusted proxy. Then it is the last address of
 * `X-Forwarded-For` that is not a trusted proxy: entries before it may be forged.
 */
export function clientAddress(
  peer: string | null,
  forwardedFor: string | null,
  trusted: TrustedProxies,
): string | null {
  if (peer === null || !ipaddr.isValid(peer)) return null
  let current = ipaddr.process(peer)
  const hops = (forwardedFor ?? '').split(',').map((hop) => hop.trim())
  while (trusted.some((network) => contains(network, current))) {
    const hop = hops.pop()
    if (hop === undefined || !ipaddr.isValid(hop)) break
    current = ipaddr.process(hop)
  }
  return current.toString()
}
