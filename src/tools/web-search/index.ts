import { badRequest } from '../../core/errors.ts'
import { defined, isText, type JsonObject } from '../../core/json.ts'
import type { SearchLocation, WantedSearch } from '../../core/web-access.ts'
import { shownResults } from '../../core/web-text.ts'
import { oneTextTool } from '../description.ts'
import { readDomains } from '../domains.ts'
import { type ParameterReader, readParameters } from '../parameters.ts'
import type { ServerTool } from '../tool.ts'

const MOST_RESULTS = 25
const MOST_IN_ALL = 1_000
const USUAL_IN_ALL = 50
const MOST_USES = 1_000
const MOST_CHARACTERS = 1_000_000
const LONGEST_QUERY = 2_000

/** Searches the web by an engine of the operator's. */
export const webSearch: ServerTool = {
  name: 'web_search',
  describe(parameters, place, { web }) {
    web.prepareSearch(readSearch(parameters, place).wanted, place)
    return oneTextTool(
      'Searches the web and returns the texts of the best pages. Cite a page that you use as a Markdown link to its address: [example.com](https://example.com/page).',
      'query',
      'What to search for, in a few words',
    )
  },
  async run({ query }, { parameters, uses, signal, web, pay }) {
    if (!isText(query)) throw new Error('query must be a text')
    const { wanted, mostUses, mostInAll } = readSearch(parameters, 'parameters')
    if (uses >= mostUses) throw new Error(`no more than ${mostUses} searches are made for this request`)
    const prepared = web.prepareSearch(wanted, 'parameters')
    // Earlier searches count with the most that they could find.
    const left = mostInAll - uses * prepared.maxResults
    if (left <= 0) throw new Error(`no more than ${mostInAll} results are given to this request`)
    const { engine, atMostNanoUsd } = prepared
    const results = await pay(
      { kind: 'tool', name: 'openrouter:web_search', engine, atMostNanoUsd },
      async (ended) => {
        const found = await prepared.run(query.slice(0, LONGEST_QUERY), AbortSignal.any([signal, ended]))
        const shown = found.results.slice(0, left)
        return {
          value: shown,
          costNanoUsd: found.costNanoUsd,
          counts: { searches: 1, searchResults: shown.length, searchEngine: engine },
        }
      },
    )
    const sources = results.map(({ url }) => ({ type: 'url', url }))
    return {
      text: shownResults(results),
      item: { action: { type: 'search', query, sources } },
      sources: results,
    }
  },
}

/** The parameters of the tool's entry. Throws a 400 for one that is wrong or unknown. */
function readSearch(parameters: JsonObject, place: string) {
  const read = readParameters(parameters, place)
  const includeDomains = readDomains(read.texts('allowed_domains'), `${place}.allowed_domains`)
  const excludeDomains = readDomains(read.texts('excluded_domains'), `${place}.excluded_domains`)
  if (includeDomains.length > 0 && excludeDomains.length > 0)
    throw badRequest('allowed_domains and excluded_domains exclude each other: send one of them', place)
  const location = read.object('user_location')
  const wanted: WantedSearch = defined({
    engine: read.text('engine'),
    maxResults: read.integer('max_results', MOST_RESULTS),
    maxCharacters: read.integer('max_characters', MOST_CHARACTERS),
    contextSize: read.text('search_context_size'),
    mode: read.text('mode'),
    includeDomains,
    excludeDomains,
    location: location && locationOf(location),
  })
  const mostUses = read.integer('max_uses', MOST_USES) ?? MOST_USES
  const mostInAll = read.integer('max_total_results', MOST_IN_ALL) ?? USUAL_IN_ALL
  read.end()
  return { wanted, mostUses, mostInAll }
}

function locationOf(read: ParameterReader): SearchLocation {
  read.text('type')
  const location = defined({
    city: read.text('city'),
    region: read.text('region'),
    country: read.text('country'),
    timezone: read.text('timezone'),
  })
  read.end()
  return location
}
