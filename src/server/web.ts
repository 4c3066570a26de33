import type { Config } from '../config.ts'
import type { DocumentReader } from '../core/document-reader.ts'
import type { WebAccess } from '../core/web-access.ts'
import type { OutboundAllow } from '../net/address.ts'
import type { Resolve } from '../net/guarded.ts'
import { createWebAccess } from '../tools/web-access.ts'
import { createFetcher } from '../tools/web-fetch/fetch-page.ts'
import { createPagePool } from '../tools/web-fetch/page-pool.ts'
import { configuredEngines } from '../tools/web-search/engines.ts'

interface WebParts {
  readonly config: Config
  readonly documents: DocumentReader
  readonly outboundAllow: OutboundAllow
  readonly resolve?: Resolve | undefined
  now(): number
}

/** The search engines of the settings, and the reader of pages. Starts nothing. */
export function openWeb({ config, documents, outboundAllow, resolve, now }: WebParts): WebAccess {
  const engines = configuredEngines({
    keys: {
      exa: config.exaApiKey,
      parallel: config.parallelApiKey,
      perplexity: config.perplexityApiKey,
      tavily: config.tavilyApiKey,
      brave: config.braveApiKey,
      firecrawl: config.firecrawlApiKey,
    },
    urls: { ...pairs(config.searchUrls), ...(config.searxngUrl && { searxng: config.searxngUrl }) },
    prices: pairs(config.searchPrices),
  })
  const fetcher = createFetcher({
    allow: outboundAllow,
    resolve,
    obeysRobots: config.fetchRobots,
    pool: createPagePool(),
    documents,
    now,
  })
  return createWebAccess({ engines, fetcher, resolve })
}

/** Settings of the form `name=value`. */
const pairs = (entries: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    entries.map((entry) => {
      const equals = entry.indexOf('=')
      return [entry.slice(0, equals), entry.slice(equals + 1)]
    }),
  )
