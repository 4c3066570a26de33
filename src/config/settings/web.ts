import { parsePrice } from '../../core/money.ts'
import { ENGINE_NAMES } from '../../tools/web-search/engine.ts'
import * as read from '../readers.ts'
import { optional, type Setting, setting } from '../setting.ts'

const none: readonly string[] = []
const isEngine = (name: string): boolean => ENGINE_NAMES.some((known) => known === name)

const keyOf = (variable: `SLUICE_${string}`, engine: string) =>
  optional({ variable, type: 'text', read: read.opaque, meaning: `Key of the search engine ${engine}.` })

/** `exa=0.007` or `exa=0.007+0.001`; null for anything else. */
function enginePrice(entry: string): string | null {
  const [, name = '', price = ''] = /^([a-z]+)\s*=\s*(\S+)$/.exec(entry) ?? []
  const parts = price.split('+')
  if (!isEngine(name) || parts.length > 2) return null
  try {
    for (const part of parts) parsePrice(part)
    return `${name}=${price}`
  } catch {
    return null
  }
}

/** `firecrawl=http://10.0.0.7:3002`; null for anything else. */
function engineAddress(entry: string): string | null {
  const [, name = '', address = ''] = /^([a-z]+)\s*=\s*(\S+)$/.exec(entry) ?? []
  if (!isEngine(name)) return null
  try {
    return `${name}=${read.webAddress(address)}`
  } catch {
    return null
  }
}

/** Search engines and the fetching of pages, for plugins and server tools. */
export const webSettings = {
  exaApiKey: keyOf('SLUICE_EXA_API_KEY', 'Exa'),
  parallelApiKey: keyOf('SLUICE_PARALLEL_API_KEY', 'Parallel'),
  perplexityApiKey: keyOf('SLUICE_PERPLEXITY_API_KEY', 'Perplexity'),
  tavilyApiKey: keyOf('SLUICE_TAVILY_API_KEY', 'Tavily'),
  braveApiKey: keyOf('SLUICE_BRAVE_API_KEY', 'Brave'),
  firecrawlApiKey: keyOf('SLUICE_FIRECRAWL_API_KEY', 'Firecrawl'),
  searxngUrl: optional({
    variable: 'SLUICE_SEARXNG_URL',
    type: 'URL',
    read: read.webAddress,
    meaning:
      'Address of your own SearXNG. It may be private. `json` must be among `search.formats` of its settings.',
  }),
  searchUrls: setting({
    variable: 'SLUICE_SEARCH_URLS',
    type: 'engine=URL',
    fallback: none,
    read: read.listOf('addresses such as firecrawl=http://10.0.0.7:3002', engineAddress),
    meaning: 'Other addresses of search engines: a server or proxy of your own. They may be private.',
  }),
  searchPrices: setting({
    variable: 'SLUICE_SEARCH_PRICES',
    type: 'engine=USD',
    fallback: none,
    read: read.listOf('prices such as exa=0.007 or exa=0.007+0.001', enginePrice),
    meaning:
      'What you pay for a search, and after `+` for each result beyond ten. Defaults: list prices of November 2026.',
  }),
  fetchRobots: setting({
    variable: 'SLUICE_FETCH_ROBOTS',
    type: '`on`, `off`',
    fallback: true,
    read: read.onOff,
    meaning: 'Fetches of pages obey the robots.txt of the site.',
  }),
} satisfies Record<string, Setting<unknown>>
