/** The public address of this server, and what it implies for cookies and for requests of pages. */

export interface Site {
  /** Scheme, host and path, without a trailing slash; known once the server listens. */
  readonly address: string
}

/** True if the browser connected over https, according to the address or the header of a TLS proxy. */
export function isSecure(request: Request, site: Site): boolean {
  if (site.address.startsWith('https:') || request.url.startsWith('https:')) return true
  // A forged header only makes the cookie `Secure`.
  return request.headers.get('x-forwarded-proto')?.split(',')[0]?.trim().toLowerCase() === 'https'
}

/** The path of cookies: `/`, or the base path. */
export const cookiePath = (site: Site): string => URL.parse(site.address)?.pathname ?? '/'

/**
 * The origin of the page that sent the request: `own`, `foreign`, or `none` if no header shows it (not a browser, or a very
 * old one). A page can forge neither header. `Sec-Fetch-Site` is missing on plain http; then the host of `Origin` decides,
 * because a server behind a proxy does not know the scheme.
 */
export function pageOfOrigin({ headers }: Request, site: Site): 'own' | 'foreign' | 'none' {
  const fetched = headers.get('sec-fetch-site')
  if (fetched !== null) return fetched === 'same-origin' ? 'own' : 'foreign'
  const origin = headers.get('origin')
  if (origin === null) return 'none'
  const { host, origin: normalized } = URL.parse(origin) ?? { host: '', origin: '' }
  if (host === '' || normalized !== origin.toLowerCase()) return 'foreign'
  const isOurs = host === headers.get('host')?.toLowerCase() || normalized === URL.parse(site.address)?.origin
  return isOurs ? 'own' : 'foreign'
}
