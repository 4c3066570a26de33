import { fieldsOf, objectsIn } from '../../core/json.ts'
import type { SearchLocation } from '../../core/web-access.ts'
import { hostsOf, plainHosts } from '../domains.ts'
import { filled, resultOf, type SearchEngine } from './engine.ts'

/**
 * Tavily: `POST /search`, https://tavily.com/.well-known/openapi.json, read in November 2026. A basic search is one credit
 * of 0.008 USD, whatever the number of results.
 */
export const tavily: SearchEngine = {
  name: 'tavily',
  title: 'Tavily',
  url: 'https://api.tavily.com',
  setting: 'SLUICE_TAVILY_API_KEY',
  mostResults: 20,
  longestQuery: 400,
  price: '0.008',
  call: (query, { maxResults, includeDomains, excludeDomains, location }, key) => ({
    path: '/search',
    headers: { authorization: `Bearer ${key}` },
    body: {
      query,
      search_depth: 'basic',
      max_results: maxResults,
      include_domains: filled(hostsOf(includeDomains)),
      exclude_domains: filled(plainHosts(excludeDomains)),
      country: countryOf(location),
    },
  }),
  read: (answer) =>
    objectsIn(answer['results']).map((result) => {
      const { url, title, content, published_date } = fieldsOf(result)
      return resultOf(url, title, content, published_date)
    }),
}

/** Tavily writes countries as English names in lower case. */
function countryOf(location: SearchLocation | undefined): string | undefined {
  if (!location?.country) return undefined
  try {
    const name = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' }).of(
      location.country.toUpperCase(),
    )
    return name?.toLowerCase()
  } catch {
    return undefined
  }
}
