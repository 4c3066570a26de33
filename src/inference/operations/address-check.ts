import { checkUrl, type OutboundAllow } from '../../net/address.ts'

const SCHEME = /^[a-z][a-z0-9+.-]*:/i

/** Refuses addresses of private networks, as in messages: throws a `GatewayError` 400 that names the field. */
export function checkAddresses(
  addresses: readonly (readonly [url: string, path: string])[],
  allow: OutboundAllow,
): void {
  for (const [url, path] of addresses) {
    // Data URLs and bare base64 hold their content and lead nowhere.
    if (SCHEME.test(url) && !/^data:/i.test(url)) checkUrl(url, allow, path)
  }
}
