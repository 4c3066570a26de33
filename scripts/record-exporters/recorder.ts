import { isObject, parseJson } from '../../src/core/json.ts'

export interface Recorded {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON as its value, lines of JSON as a list, other text as text, anything else in base64; all of it inflated. */
  readonly body: unknown
  readonly encoding: 'json' | 'lines' | 'text' | 'base64'
}

/** What an agent of Datadog says of itself: it passes spans of LLM Observability on. */
const AGENT_INFO = { endpoints: ['/v0.4/traces', '/evp_proxy/v2/'], version: '7.70.0' }
/** What Braintrust says to a key: the organization, and where its data goes. */
const organization = (url: string) => ({
  org_info: [{ id: 'o-1', name: 'team', api_url: url, proxy_url: url }],
})
/** Calls that have nothing of the generation. */
const BESIDE =
  /^\/(?:info|v0\.[0-9]\/traces|telemetry|v0\.7|flags|profiling|api\/apikey|version|file\/create|obj\/create)/
/** Headers that say where and when, not what. */
const PASSING =
  /^(?:host|connection|content-length|transfer-encoding|user-agent|accept|accept-encoding|accept-language|sec-fetch-mode|x-fern-.+)$/

/** A server that takes everything, and remembers it. */
export function startRecorder(): { url: string; recorded(): readonly Recorded[]; stop(): Promise<void> } {
  const calls: Recorded[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (pathname === '/info') return Response.json(AGENT_INFO)
      if (pathname === '/api/apikey/login')
        return Response.json(organization(request.url.slice(0, -pathname.length)))
      const bytes = await inflated(request)
      if (!BESIDE.test(pathname)) {
        const headers = [...request.headers].filter(([name]) => !PASSING.test(name)).sort()
        calls.push({
          method: request.method,
          path: pathname + search,
          headers: Object.fromEntries(headers),
          ...read(bytes),
        })
      }
      return Response.json({})
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    recorded: () => calls,
    stop: () => server.stop(true),
  }
}

async function inflated(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await request.bytes()
  return request.headers.get('content-encoding') === 'gzip' ? Bun.gunzipSync(bytes) : bytes
}

function read(bytes: Uint8Array): Pick<Recorded, 'body' | 'encoding'> {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { body: Buffer.from(bytes).toString('base64'), encoding: 'base64' }
  }
  const value = parseJson(text)
  if (isObject(value) || Array.isArray(value)) {
    // One line of JSON is a list of one, as it is with more of them.
    return text.endsWith('\n') ? { body: [value], encoding: 'lines' } : { body: value, encoding: 'json' }
  }
  return { body: text, encoding: 'text' }
}
