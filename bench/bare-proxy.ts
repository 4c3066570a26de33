import { announce } from './child.ts'

/**
 * The reference: what Bun itself costs. Parses and re-encodes unary JSON both ways, passes the bytes of streams
 * through, and does nothing else: no keys, no limits, no ledger, no log.
 */
export function startBareProxy(upstream: string) {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const path = new URL(request.url).pathname
      if (request.method !== 'POST') return new Response('ok')
      const body = await request.json()
      const reply = await fetch(upstream + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (body.stream !== true) return Response.json(await reply.json(), { status: reply.status })
      const type = reply.headers.get('content-type') ?? 'text/event-stream'
      return new Response(reply.body, { status: reply.status, headers: { 'content-type': type } })
    },
  })
}

if (import.meta.main) announce(startBareProxy(process.argv[2] ?? '').port)
