import type { FetchOptions } from '../../../src/core/web-access.ts'
import { parseOutboundAllow } from '../../../src/net/address.ts'
import { createDocumentReader } from '../../../src/tools/documents/reader.ts'
import { createFetcher, type Fetcher, type FetcherOptions } from '../../../src/tools/web-fetch/fetch-page.ts'
import { createPagePool } from '../../../src/tools/web-fetch/page-pool.ts'

/** A site on loopback. `pages` answers by path. */
export function startSite(pages: Readonly<Record<string, (request: Request) => Response>>) {
  const asked: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      asked.push(pathname)
      return pages[pathname]?.(request) ?? new Response('not there', { status: 404 })
    },
  })
  return {
    /** Resolved by `resolve` to loopback, which `allow` permits. */
    url: `http://site.example:${server.port}`,
    port: server.port,
    asked,
    stop: () => void server.stop(true),
  }
}

/** Only the name is excepted: every other way to loopback is refused. */
const ALLOW = parseOutboundAllow(['site.example', 'other.example'])
const resolve = async (host: string): Promise<readonly string[]> =>
  host.endsWith('.example') ? ['127.0.0.1'] : []

export const fetcherOf = (options: Partial<FetcherOptions> = {}): Fetcher =>
  createFetcher({
    allow: ALLOW,
    resolve,
    obeysRobots: true,
    pool: createPagePool(),
    documents: createDocumentReader(),
    now: Date.now,
    ...options,
  })

export const WANTED: FetchOptions = { allowedDomains: [], blockedDomains: [], mostCharacters: 10_000 }

export const html = (text: string | Uint8Array<ArrayBuffer>, type = 'text/html'): Response =>
  new Response(text, { headers: { 'content-type': type } })
