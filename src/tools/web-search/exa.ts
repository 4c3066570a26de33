import { fieldsOf, objectsIn, textsIn } from '../../core/json.ts'
import { filled, resultOf, type SearchEngine } from './engine.ts'

/**
 * Exa: https://exa.ai/docs/reference/search and https://exa.ai/docs/reference/pricing, read in November 2026. Domains may
 * have a path and a leading `*.`. Ten results with their contents are in the price of a search.
 */
export const exa: SearchEngine = {
  name: 'exa',
  title: 'Exa',
  url: 'https://api.exa.ai',
  setting: 'SLUICE_EXA_API_KEY',
  mostResults: 25,
  longestQuery: 2_000,
  modes: ['auto', 'fast', 'instant'],
  price: '0.007+0.001',
  call: (query, { maxResults, includeDomains, excludeDomains, maxCharacters, location, mode }, key) => ({
    path: '/search',
    headers: { 'x-api-key': key ?? '' },
    body: {
      query,
      type: mode ?? 'auto',
      numResults: maxResults,
      includeDomains: filled(includeDomains),
      excludeDomains: filled(excludeDomains),
      userLocation: location?.country?.toUpperCase(),
      contents: { text: { maxCharacters } },
    },
  }),
  read: (answer) =>
    objectsIn(answer['results']).map((result) => {
      const { url, title, text, highlights, publishedDate } = fieldsOf(result)
      return resultOf(url, title, text ?? textsIn(highlights).join('\n'), publishedDate)
    }),
}
