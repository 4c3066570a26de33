import { fieldsOf, objectsIn, textOf, textsIn } from '../../core/json.ts'
import type { SearchLocation } from '../../core/web-access.ts'
import { words } from '../../core/words.ts'
import { withSites } from '../domains.ts'
import { resultOf, type SearchEngine } from './engine.ts'

/** The countries of the parameter `country`; any other is an error. */
const COUNTRIES = new Set(
  words(
    'AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US',
  ),
)

/** The most characters of a query, operators included. */
const LONGEST_WITH_SITES = 400

/**
 * Brave: https://api-dashboard.search.brave.com/api-reference/web/search/get, read in November 2026. It has no fields for
 * domains; `site:` in the query does it.
 */
export const brave: SearchEngine = {
  name: 'brave',
  title: 'Brave',
  url: 'https://api.search.brave.com',
  setting: 'SLUICE_BRAVE_API_KEY',
  mostResults: 20,
  longestQuery: 300,
  price: '0.005',
  call: (query, options, key) => {
    const { maxResults, location } = options
    const country = location?.country?.toUpperCase()
    const parameters = new URLSearchParams({
      q: withSites(query, options, LONGEST_WITH_SITES),
      count: String(maxResults),
      extra_snippets: 'true',
      text_decorations: 'false',
      result_filter: 'web',
      ...(country !== undefined && COUNTRIES.has(country) ? { country } : {}),
    })
    return {
      path: `/res/v1/web/search?${parameters}`,
      headers: { accept: 'application/json', 'x-subscription-token': key ?? '', ...placeHeaders(location) },
    }
  },
  read: (answer) =>
    objectsIn(fieldsOf(answer['web'])['results']).map((result) => {
      const { url, title, description, extra_snippets, page_age } = fieldsOf(result)
      return resultOf(url, title, [textOf(description), ...textsIn(extra_snippets)].join('\n'), page_age)
    }),
}

/** Header values are printable ASCII: a place that is not is left out. */
function placeHeaders(location: SearchLocation | undefined): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of [
    ['x-loc-city', location?.city],
    ['x-loc-state-name', location?.region],
    ['x-loc-country', location?.country],
    ['x-loc-timezone', location?.timezone],
  ] as const) {
    if (value !== undefined && /^[\x20-\x7e]{1,100}$/.test(value)) headers[name] = value
  }
  return headers
}
