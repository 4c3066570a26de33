import { fieldsOf, objectsIn } from '../../core/json.ts'
import type { SearchLocation } from '../../core/web-access.ts'
import { withSites } from '../domains.ts'
import { resultOf, type SearchEngine } from './engine.ts'

/** The most characters of a query, operators included. */
const LONGEST_WITH_SITES = 500

/**
 * Firecrawl: `POST /v2/search`, https://docs.firecrawl.dev/api-reference/endpoint/search and the types of
 * @mendable/firecrawl-js 3.2.0, read in November 2026. Pages are not scraped: a search costs two credits for ten results
 * (https://docs.firecrawl.dev/billing), each 0.0054 USD in the smallest plan. A server of one's own needs no key.
 */
export const firecrawl: SearchEngine = {
  name: 'firecrawl',
  title: 'Firecrawl',
  url: 'https://api.firecrawl.dev',
  setting: 'SLUICE_FIRECRAWL_API_KEY',
  mostResults: 25,
  longestQuery: 300,
  price: '0.0108+0.00108',
  call: (query, options, key) => ({
    path: '/v2/search',
    headers: keyHeader(key),
    body: {
      query: withSites(query, options, LONGEST_WITH_SITES),
      limit: options.maxResults,
      sources: [{ type: 'web' }],
      location: placeOf(options.location),
    },
  }),
  read: (answer) =>
    objectsIn(fieldsOf(answer['data'])['web']).map((result) => {
      const { url, title, description, markdown } = fieldsOf(result)
      return resultOf(url, title, markdown ?? description, undefined)
    }),
}

function placeOf(location: SearchLocation | undefined): string | undefined {
  const parts = [location?.city, location?.region, location?.country].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(',')
}

const keyHeader = (key: string | null): Record<string, string> =>
  key === null ? {} : { authorization: `Bearer ${key}` }
