import type { EngineName } from '../../../src/tools/web-search/engine.ts'

/**
 * Search engines on loopback, each below a path of its own, strict as the real ones: a wrong key is 401, an unknown field
 * 422. Shapes from the engines' public documentation, November 2026.
 */
export interface EngineServer {
  readonly url: string
  readonly seen: SeenCall[]
  /** Replaces the next answers of an engine; undefined again: its usual one. */
  answer: ((name: string) => Response | undefined) | undefined
  stop(): void
}

interface SeenCall {
  readonly engine: string
  readonly query: string
  readonly body: Record<string, unknown>
  readonly headers: Headers
}

export const KEY_OF_ENGINE = 'key-of-the-engine'
export const NAMES: readonly EngineName[] = [
  'exa',
  'parallel',
  'perplexity',
  'tavily',
  'brave',
  'firecrawl',
  'searxng',
]

interface Spoken {
  readonly method: string
  readonly path: string
  /** Header and value of the key. */
  readonly key: readonly [string, string] | null
  readonly fields: string
  answer(pages: readonly Page[]): unknown
}

interface Page {
  readonly url: string
  readonly title: string
  readonly text: string
}

export const PAGES: readonly Page[] = [
  { url: 'https://news.example.com/first', title: 'First page', text: 'The first text.' },
  { url: 'https://blog.example.org/second', title: 'Second page', text: 'The second text.' },
  { url: 'https://example.net/third?a=1', title: 'Third page', text: 'The third text.' },
]

const BEARER = ['authorization', `Bearer ${KEY_OF_ENGINE}`] as const
const X_API_KEY = ['x-api-key', KEY_OF_ENGINE] as const

const SPOKEN: Readonly<Record<EngineName, Spoken>> = {
  exa: {
    method: 'POST',
    path: '/search',
    key: X_API_KEY,
    fields: 'query type numResults includeDomains excludeDomains userLocation contents',
    answer: (pages) => ({
      requestId: 'b5947044c4b78efa9552a7c89b306d95',
      resolvedSearchType: 'neural',
      results: pages.map(({ url, title, text }) => ({
        id: url,
        url,
        title,
        text,
        publishedDate: '2026-11-01T00:00:00.000Z',
        author: null,
      })),
      costDollars: { total: 0.007 },
    }),
  },
  parallel: {
    method: 'POST',
    path: '/v1/search',
    key: X_API_KEY,
    fields: 'objective search_queries mode max_chars_total advanced_settings',
    answer: (pages) => ({
      search_id: 'search_1',
      results: pages.map(({ url, title, text }) => ({
        url,
        title,
        publish_date: '2026-11-01',
        excerpts: [text],
      })),
      warnings: null,
      usage: [{ name: 'sku_search', count: 1 }],
    }),
  },
  perplexity: {
    method: 'POST',
    path: '/search',
    key: BEARER,
    fields: 'query max_results max_tokens_per_page search_domain_filter country',
    answer: (pages) => ({
      id: 'search-1',
      results: pages.map(({ url, title, text }) => ({
        title,
        url,
        snippet: text,
        date: '2026-11-01',
        last_updated: '2026-11-02',
      })),
    }),
  },
  tavily: {
    method: 'POST',
    path: '/search',
    key: BEARER,
    fields: 'query search_depth max_results include_domains exclude_domains country',
    answer: (pages) => ({
      query: 'q',
      answer: null,
      images: [],
      results: pages.map(({ url, title, text }) => ({
        url,
        title,
        content: text,
        score: 0.9,
        raw_content: null,
      })),
      response_time: 1.09,
      request_id: 'r-1',
    }),
  },
  brave: {
    method: 'GET',
    path: '/res/v1/web/search',
    key: ['x-subscription-token', KEY_OF_ENGINE],
    fields: 'q count extra_snippets text_decorations result_filter country',
    answer: (pages) => ({
      type: 'search',
      query: { original: 'q', more_results_available: true },
      web: {
        type: 'search',
        results: pages.map(({ url, title, text }) => ({
          type: 'search_result',
          url,
          title,
          description: text,
          page_age: '2026-11-01T00:00:00',
          extra_snippets: ['More of it.'],
        })),
      },
    }),
  },
  firecrawl: {
    method: 'POST',
    path: '/v2/search',
    key: BEARER,
    fields: 'query limit sources location',
    answer: (pages) => ({
      success: true,
      data: {
        web: pages.map(({ url, title, text }, i) => ({ url, title, description: text, position: i + 1 })),
      },
      creditsUsed: 2,
    }),
  },
  searxng: {
    method: 'GET',
    path: '/search',
    key: null,
    fields: 'q format categories',
    answer: (pages) => ({
      query: 'q',
      number_of_results: 0,
      results: pages.map(({ url, title, text }) => ({
        url,
        title,
        content: text,
        engine: 'duckduckgo',
        publishedDate: null,
        category: 'general',
      })),
      answers: [],
      unresponsive_engines: [],
    }),
  },
}

const isEngine = (name: string): name is EngineName => name in SPOKEN

export function startEngines(pages: readonly Page[] = PAGES): EngineServer {
  const seen: SeenCall[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const url = new URL(request.url)
      const [, name = '', ...rest] = url.pathname.split('/')
      if (!isEngine(name)) return new Response('no such engine', { status: 404 })
      const spoken = SPOKEN[name]
      const sent: unknown =
        request.method === 'POST' ? await request.json() : Object.fromEntries(url.searchParams)
      const body = Object.fromEntries(Object.entries(sent ?? {}))
      seen.push({
        engine: name,
        query: String(body['query'] ?? body['q'] ?? body['objective']),
        body,
        headers: request.headers,
      })
      const other = handle.answer?.(name)
      if (other) return other
      if (`/${rest.join('/')}` !== spoken.path || request.method !== spoken.method)
        return Response.json({ error: 'not found' }, { status: 404 })
      if (spoken.key && request.headers.get(spoken.key[0]) !== spoken.key[1])
        return Response.json({ error: 'Invalid API key' }, { status: 401 })
      const unknown = Object.keys(body).filter((field) => !spoken.fields.split(' ').includes(field))
      if (unknown.length > 0) return Response.json({ detail: `unknown: ${unknown}` }, { status: 422 })
      return Response.json(spoken.answer(pages))
    },
  })
  const handle: EngineServer = {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    answer: undefined,
    stop: () => void server.stop(true),
  }
  return handle
}
