import { fieldsOf, objectsIn, textsIn } from '../../core/json.ts'
import { hostsOf, plainHosts } from '../domains.ts'
import { filled, resultOf, type SearchEngine } from './engine.ts'

/** The most characters of one of `search_queries`. */
const LONGEST_KEYWORDS = 200

/**
 * Parallel: `POST /v1/search`, https://docs.parallel.ai/api-reference/search/search and the vendor's
 * parallel-agent-skills (July 2026), read in November 2026. Limits and filters are in `advanced_settings`.
 */
export const parallel: SearchEngine = {
  name: 'parallel',
  title: 'Parallel',
  url: 'https://api.parallel.ai',
  setting: 'SLUICE_PARALLEL_API_KEY',
  mostResults: 25,
  longestQuery: 5_000,
  modes: ['turbo', 'basic', 'advanced'],
  price: '0.005+0.001',
  call: (query, { maxResults, includeDomains, excludeDomains, maxCharacters, location, mode }, key) => ({
    path: '/v1/search',
    headers: { 'x-api-key': key ?? '' },
    body: {
      objective: query,
      search_queries: [query.slice(0, LONGEST_KEYWORDS)],
      mode: mode ?? 'basic',
      max_chars_total: maxCharacters * maxResults,
      advanced_settings: {
        max_results: maxResults,
        location: location?.country?.toLowerCase(),
        excerpt_settings: { max_chars_per_result: maxCharacters },
        source_policy:
          includeDomains.length + excludeDomains.length === 0
            ? undefined
            : {
                include_domains: filled(hostsOf(includeDomains)),
                exclude_domains: filled(plainHosts(excludeDomains)),
              },
      },
    },
  }),
  read: (answer) =>
    objectsIn(answer['results']).map((result) => {
      const { url, title, excerpts, publish_date } = fieldsOf(result)
      return resultOf(url, title, textsIn(excerpts).join('\n\n'), publish_date)
    }),
}
