/** Where people reach this server, and what follows from it for cookies and for requests of pages. */

export interface Site {
  /** Scheme, host and path, without a trailing slash; known once the server listens. */
  readonly address: string
}

/** Whether the browser came over https: it says so itself, or the proxy that ended the encryption does. */
export function isSecure(request: Request, site: Site): boolean {
  if (site.address.startsWith('https:') || request.url.startsWith('https:')) return true
  // Who makes this up keeps the cookie from being sent without encryption, no more.
  return request.headers.get('x-forwarded-proto')?.split(',')[0]?.trim().toLowerCase() === 'https'
}

/** Of cookies: `/`, or the path below which everything is served. */
export const cookiePath = (site: Site): string => URL.parse(site.address)?.pathname ?? '/'

/**
 * Whose page sent the request: `own`, `foreign`, or `none` where nothing says so (no browser, or one that is very old).
 * A page can forge neither header. `Sec-Fetch-Site` is missing on plain http; then the `Origin` tells, by its host: the
 * scheme is not known to a server behind a proxy.
 */
export function pageOfOrigin({ headers }: Request, site: Site): 'own' | 'foreign' | 'none' {
  const fetched = headers.get('sec-fetch-site')
  if (fetched !== null) return fetched === 'same-origin' ? 'own' : 'foreign'
  const origin = headers.get('origin')
  if (origin === null) return 'none'
  const { host, origin: whole } = URL.parse(origin) ?? { host: '', origin: '' }
  if (host === '' || whole !== origin.toLowerCase()) return 'foreign'
  const isOurs = host === headers.get('host')?.toLowerCase() || whole === URL.parse(site.address)?.origin
  return isOurs ? 'own' : 'foreign'
}
