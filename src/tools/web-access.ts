import { badRequest } from '../core/errors.ts'
import type { FetchedPage, WantedSearch, WebAccess } from '../core/web-access.ts'
import type { Resolve } from '../net/guarded.ts'
import { readDomains } from './domains.ts'
import type { Fetcher } from './web-fetch/fetch-page.ts'
import { ENGINE_NAMES, type SearchOptions } from './web-search/engine.ts'
import { type ConfiguredEngines, chooseEngine } from './web-search/engines.ts'
import { checkSearch, search, searchCost } from './web-search/search.ts'

export interface WebParts {
  readonly engines: ConfiguredEngines
  readonly fetcher: Fetcher
  readonly resolve?: Resolve | undefined
}

const USUAL_RESULTS = 5
const LONGEST_TEXT = 30_000
/** Characters of one result by `search_context_size`. */
const SIZES: Readonly<Record<string, number>> = { low: 1_500, medium: 4_000, high: 12_000 }
const USUAL_SIZE = 'medium'

export const createWebAccess = ({ engines, fetcher, resolve }: WebParts): WebAccess => ({
  prepareSearch(wanted, place) {
    const chosen = chooseEngine(engineOf(wanted, place), engines, `${place}.engine`)
    const options = optionsOf(wanted, place)
    checkSearch(chosen, options, place)
    const { engine, access } = chosen
    return {
      engine: engine.name,
      maxResults: options.maxResults,
      atMostNanoUsd: searchCost(access.price, options.maxResults),
      async run(query, signal) {
        const { results, counted } = await search(chosen, query, options, { signal, resolve })
        return { results, costNanoUsd: searchCost(access.price, counted) }
      },
    }
  },
  fetchPage: fetchedOnce(fetcher),
  readDomains,
  close: fetcher.close,
})

/** A page that a request has read already is not fetched again. A failure is not kept. */
function fetchedOnce(fetcher: Fetcher): WebAccess['fetchPage'] {
  const runs = new WeakMap<object, Map<string, Promise<FetchedPage>>>()
  return (url, options, signal, run) => {
    const pages = runs.get(run) ?? new Map()
    runs.set(run, pages)
    const known = pages.get(url)
    if (known !== undefined) return known
    const fetching = fetcher.read(url, options, signal)
    pages.set(url, fetching)
    fetching.catch(() => pages.delete(url))
    return fetching
  }
}

function engineOf({ engine = 'auto' }: WantedSearch, place: string) {
  if (engine === 'auto') return engine
  const known = ENGINE_NAMES.find((name) => name === engine)
  if (known === undefined)
    throw badRequest(`must be one of auto, native, ${ENGINE_NAMES.join(', ')}`, `${place}.engine`)
  return known
}

function optionsOf(wanted: WantedSearch, place: string): SearchOptions {
  const { maxResults = USUAL_RESULTS, maxCharacters, contextSize = USUAL_SIZE, location, mode } = wanted
  const usual = SIZES[contextSize]
  if (usual === undefined)
    throw badRequest('must be one of low, medium, high', `${place}.search_context_size`)
  return {
    maxResults,
    includeDomains: readDomains(wanted.includeDomains, `${place}.include_domains`),
    excludeDomains: readDomains(wanted.excludeDomains, `${place}.exclude_domains`),
    maxCharacters: Math.min(maxCharacters ?? usual, LONGEST_TEXT),
    ...(location === undefined ? {} : { location }),
    ...(mode === undefined ? {} : { mode }),
  }
}
