import { badRequest } from '../core/errors.ts'
import type { SearchOptions } from './web-search/engine.ts'

/**
 * Patterns of sites, as the API writes them:
 *
 * | Pattern | What it matches |
 * |---|---|
 * | `example.com` | the host and its subdomains |
 * | `*.example.com` | subdomains alone |
 * | `example.com/blog` | pages of the host whose path begins with `/blog` |
 */
const DOMAIN = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]{0,250}[a-z0-9_])?(?:\/[^\s?#]{0,500})?$/
const MOST_DOMAINS = 100

/** The patterns in lower case. Throws a 400 that names the place of an invalid pattern. */
export function readDomains(patterns: readonly string[] | null | undefined, path: string): readonly string[] {
  if (!patterns) return []
  if (patterns.length > MOST_DOMAINS) throw badRequest(`has more than ${MOST_DOMAINS} domains`, path)
  return patterns.map((pattern, i) => {
    const [host = '', ...rest] = pattern.trim().split('/')
    const lower = [host.toLowerCase(), ...rest].join('/')
    if (DOMAIN.test(lower)) return lower
    throw badRequest(
      'must be a domain such as example.com, *.example.com or example.com/blog, without a scheme',
      `${path}[${i}]`,
    )
  })
}

const isHost = (host: string, name: string): boolean => {
  if (name.startsWith('*.')) return host.endsWith(name.slice(1))
  return host === name || host.endsWith(`.${name}`)
}

export function matchesDomain({ hostname, pathname }: URL, pattern: string): boolean {
  const slash = pattern.indexOf('/')
  if (slash === -1) return isHost(hostname.toLowerCase(), pattern)
  if (!isHost(hostname.toLowerCase(), pattern.slice(0, slash))) return false
  const prefix = pattern.slice(slash)
  if (!pathname.startsWith(prefix)) return false
  const next = pathname.charAt(prefix.length)
  return prefix.endsWith('/') || next === '' || next === '/'
}

/** True if a page of this URL may be shown or fetched. An empty list of allowed domains allows all. */
export const isPermitted = (url: URL, allowed: readonly string[], blocked: readonly string[]): boolean =>
  (allowed.length === 0 || allowed.some((pattern) => matchesDomain(url, pattern))) &&
  !blocked.some((pattern) => matchesDomain(url, pattern))

/** For engines that know plain domains alone: a wider filter, which our own filter narrows again. */
export const hostsOf = (patterns: readonly string[]): string[] => [
  ...new Set(patterns.map((pattern) => pattern.replace(/^\*\./, '').split('/', 1)[0] ?? '')),
]

/** The patterns that a plain domain expresses exactly: to exclude the host of any other would exclude too much. */
export const plainHosts = (patterns: readonly string[]): string[] =>
  patterns.filter((pattern) => !pattern.startsWith('*.') && !pattern.includes('/'))

/**
 * The query with `site:` operators, for engines without fields for domains. Operators for which there is no room are left
 * out together: our own filter holds in any case.
 */
export function withSites(
  query: string,
  { includeDomains, excludeDomains }: Pick<SearchOptions, 'includeDomains' | 'excludeDomains'>,
  longest: number,
): string {
  const sites = hostsOf(includeDomains).map((host) => `site:${host}`)
  const wanted = sites.length > 1 ? [`(${sites.join(' OR ')})`] : sites
  const complete = [query, ...wanted, ...plainHosts(excludeDomains).map((host) => `-site:${host}`)].join(' ')
  return complete.length <= longest ? complete : query
}
