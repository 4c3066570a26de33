import { afterAll, beforeEach } from 'bun:test'
import { gatewayOfFile } from '../../file-setup.ts'
import { startSite } from '../../tools/web-fetch/page-server.ts'
import { KEY_OF_ENGINE, startEngines } from '../../tools/web-search/engine-server.ts'
import { startUpstream, streamed, unary } from '../../upstream.ts'

/** The answer of the model: it cites the first result, and an invalid address. */
export const ANSWER = 'See [example.com](https://news.example.com/first) and [other](https://evil.example/).'
export const CITED = '[example.com](https://news.example.com/first)'
export const PRICE_OF_SEARCH = 0.007

/** A gateway with Exa and SearXNG on loopback, a site, and a model that answers `ANSWER`. */
export async function webGateway(pages: Parameters<typeof startSite>[0] = {}) {
  const upstream = startUpstream()
  const engines = startEngines()
  const site = startSite(pages)
  const gateway = await gatewayOfFile(
    {
      providers: [
        {
          slug: 'lab',
          dialect: 'chat',
          base_url: upstream.baseUrl,
          models: [{ id: 'tiny', pricing: { prompt: '0.000001', completion: '0.000002' } }],
        },
      ],
      environment: {
        SLUICE_EXA_API_KEY: KEY_OF_ENGINE,
        SLUICE_SEARCH_URLS: `exa=${engines.url}/exa`,
        SLUICE_SEARXNG_URL: `${engines.url}/searxng`,
        SLUICE_OUTBOUND_ALLOW: 'site.example',
      },
      resolve: async (host) => [host === 'site.example' ? '127.0.0.1' : '93.184.215.14'],
    },
    upstream,
  )
  beforeEach(() => {
    upstream.seen.length = 0
    engines.seen.length = 0
    engines.answer = undefined
    upstream.on('tiny', ({ body }, request) =>
      (body['stream'] === true ? streamed(ANSWER.match(/.{1,7}/g) ?? []) : unary(ANSWER))(
        { body, path: '', headers: request.headers },
        request,
      ),
    )
  })
  afterAll(() => {
    engines.stop()
    site.stop()
  })
  /** What the model was sent, as one text. */
  const prompt = (): string => JSON.stringify(upstream.seen.at(-1)?.body['messages'])
  /** The rows of the last request: it, and its steps. */
  const rows = () => gateway.generations()
  return { gateway, upstream, engines, site, prompt, rows }
}

/** One request with the plugins in each API, streamed or not. */
export const REQUESTS: readonly (readonly [path: string, body: Record<string, unknown>])[] = [
  ['/chat/completions', { model: 'tiny', messages: [{ role: 'user', content: 'What is new?' }] }],
  ['/responses', { model: 'tiny', input: 'What is new?' }],
  ['/messages', { model: 'tiny', max_tokens: 99, messages: [{ role: 'user', content: 'What is new?' }] }],
  ['/models/tiny:generateContent', { contents: [{ role: 'user', parts: [{ text: 'What is new?' }] }] }],
]

/** The same request streamed. */
export const streamedRequest = (path: string, body: Record<string, unknown>) =>
  path.includes(':')
    ? ([path.replace('generateContent', 'streamGenerateContent?alt=sse'), body] as const)
    : ([path, { ...body, stream: true }] as const)
