import { fieldsOf, objectsIn } from '../../core/json.ts'
import { estimateTokens } from '../../core/usage.ts'
import { hostsOf, plainHosts } from '../domains.ts'
import { filled, resultOf, type SearchEngine } from './engine.ts'

/** The list of domains has at most this many. */
const MOST_DOMAINS = 20

/**
 * Perplexity's Search API: `POST /search`, https://docs.perplexity.ai/api-reference/search-post, read in November 2026.
 * One list of domains either allows or, with a leading hyphen, denies: our own filter does the other half.
 */
export const perplexity: SearchEngine = {
  name: 'perplexity',
  title: 'Perplexity',
  url: 'https://api.perplexity.ai',
  setting: 'SLUICE_PERPLEXITY_API_KEY',
  mostResults: 20,
  longestQuery: 2_000,
  price: '0.005',
  call: (query, { maxResults, includeDomains, excludeDomains, maxCharacters, location }, key) => {
    const allowed = hostsOf(includeDomains)
    const domains = allowed.length > 0 ? allowed : plainHosts(excludeDomains).map((host) => `-${host}`)
    return {
      path: '/search',
      headers: { authorization: `Bearer ${key}` },
      body: {
        query,
        max_results: maxResults,
        max_tokens_per_page: estimateTokens(maxCharacters),
        // An allow list that is cut would hide results; without it our own filter still holds.
        search_domain_filter:
          domains.length > MOST_DOMAINS && allowed.length > 0
            ? undefined
            : filled(domains.slice(0, MOST_DOMAINS)),
        country: location?.country?.toUpperCase(),
      },
    }
  },
  read: (answer) =>
    objectsIn(answer['results']).map((result) => {
      const { url, title, snippet, date } = fieldsOf(result)
      return resultOf(url, title, snippet, date)
    }),
}
