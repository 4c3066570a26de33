/** A destination on loopback that misbehaves as a test wants. */
import { afterAll } from 'bun:test'

interface Seen {
  readonly path: string
  readonly headers: Headers
  readonly text: string
  /** The ids of the generations, in the order in which they came. */
  readonly ids: readonly string[]
}

type Answer = (seen: Seen) => Response | Promise<Response>

export interface Vendor {
  readonly url: string
  readonly seen: Seen[]
  /** Answers this and every later request. */
  answer(answer: Answer): void
  /** Ids by how often they were accepted with a 2xx. */
  accepted(): Map<string, number>
}

const IDS = /gen-[0-9a-f]{32}/g

export function startVendor(): Vendor {
  const seen: Seen[] = []
  const accepted = new Map<string, number>()
  let answer: Answer = () => new Response()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    error: () => new Response(null, { status: 500 }),
    async fetch(request) {
      const bytes = new Uint8Array(await request.arrayBuffer())
      const isCompressed = request.headers.get('content-encoding') === 'gzip'
      const text = new TextDecoder().decode(isCompressed ? Bun.gunzipSync(bytes) : bytes)
      const one: Seen = {
        text,
        path: new URL(request.url).pathname,
        headers: request.headers,
        ids: [...new Set(text.match(IDS))],
      }
      seen.push(one)
      const response = await answer(one)
      if (response.ok) for (const id of one.ids) accepted.set(id, (accepted.get(id) ?? 0) + 1)
      return response
    },
  })
  afterAll(() => server.stop(true))
  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    answer(next) {
      answer = next
    },
    accepted: () => accepted,
  }
}
