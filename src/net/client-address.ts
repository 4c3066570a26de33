import ipaddr from 'ipaddr.js'

/** Proxies whose word on the client's address is taken. */
export type TrustedProxies = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[]

/** Reads addresses and CIDRs. Throws a `RangeError` that names the entry that is neither. */
export function parseTrustedProxies(entries: readonly string[]): TrustedProxies {
  return entries.map((entry) => {
    const text = entry.trim()
    if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text)
    if (!ipaddr.isValid(text)) {
      throw new RangeError(`"${text.slice(0, 80)}" is neither an address nor a CIDR such as 10.1.0.0/16`)
    }
    const address = ipaddr.process(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128] as const
  })
}

/**
 * The client's address: the peer's own, unless the peer is a trusted proxy; then what `X-Forwarded-For` says, read
 * from its end as far as the proxies are trusted, since everything before the first stranger may be made up.
 */
export function clientAddress(
  peer: string | null,
  forwardedFor: string | null,
  trusted: TrustedProxies,
): string | null {
  if (peer === null || !ipaddr.isValid(peer)) return null
  let current = ipaddr.process(peer)
  const hops = (forwardedFor ?? '').split(',').map((hop) => hop.trim())
  while (isTrusted(current, trusted)) {
    const hop = hops.pop()
    if (hop === undefined || !ipaddr.isValid(hop)) break
    current = ipaddr.process(hop)
  }
  return current.toString()
}

const isTrusted = (address: ipaddr.IPv4 | ipaddr.IPv6, trusted: TrustedProxies): boolean =>
  trusted.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
