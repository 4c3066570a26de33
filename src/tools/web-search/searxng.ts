import { fieldsOf, objectsIn } from '../../core/json.ts'
import { withSites } from '../domains.ts'
import { resultOf, type SearchEngine } from './engine.ts'

/** The query is part of an address. */
const LONGEST_WITH_SITES = 2_000

/**
 * SearXNG, an instance of the operator's: https://docs.searxng.org/dev/search_api, read in November 2026. `json` must be
 * among `search.formats` of its settings.yml: without it, the instance answers 403. It has no field for the number of
 * results.
 */
export const searxng: SearchEngine = {
  name: 'searxng',
  title: 'SearXNG',
  url: null,
  setting: 'SLUICE_SEARXNG_URL',
  mostResults: 25,
  longestQuery: 1_000,
  price: '0',
  call: (query, options) => ({
    path: `/search?${new URLSearchParams({
      q: withSites(query, options, LONGEST_WITH_SITES),
      format: 'json',
      categories: 'general',
    })}`,
    headers: { accept: 'application/json' },
  }),
  read: (answer) =>
    objectsIn(answer['results']).map((result) => {
      const { url, title, content, publishedDate } = fieldsOf(result)
      return resultOf(url, title, content, publishedDate)
    }),
}
