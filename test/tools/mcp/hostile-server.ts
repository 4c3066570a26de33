/** An MCP server over HTTP that answers as an attack says. */
import { isObject } from '../../../src/core/json.ts'

export const TOOL = { name: 'add', description: 'Adds', inputSchema: { type: 'object' } }

export interface Asked {
  readonly id: unknown
  readonly method: string
  readonly cursor: unknown
}

/** The reply to a request of the protocol; undefined: as a server answers that means no harm. */
export type Attack = (asked: Asked) => Response | undefined

export const result = (id: unknown, fields: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: fields })
export const json = (text: string, headers: Record<string, string> = {}): Response =>
  new Response(text, { headers: { 'content-type': 'application/json', ...headers } })
export const said = (id: unknown, text: string): string => result(id, { content: [{ type: 'text', text }] })
export const event = (text: string): string => `event: message\ndata: ${text}\n\n`

/** A stream of these pieces, again and again, until the client leaves. */
export function endless(piece: string, first = ''): Response {
  const bytes = new TextEncoder().encode(piece.repeat(Math.max(1, Math.floor(16_384 / piece.length))))
  let isFirst = true
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(isFirst && first !== '' ? new TextEncoder().encode(first) : bytes)
      isFirst = false
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

export const stream = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } })

export function startHostileServer() {
  let attack: Attack = () => undefined
  const seen: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text()
      const body: unknown = text === '' ? {} : JSON.parse(text)
      const { id, method, params } = isObject(body) ? body : {}
      const asked = { id, method: String(method), cursor: isObject(params) ? params['cursor'] : undefined }
      seen.push(request.method === 'POST' ? asked.method : request.method)
      return attack(asked) ?? well(asked)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    seen,
    attackWith(next: Attack) {
      attack = next
      seen.length = 0
    },
    stop: () => server.stop(true),
  }
}

function well({ id, method }: Asked): Response {
  if (method === 'initialize')
    return json(result(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} } }), {
      'mcp-session-id': 'session',
    })
  if (method === 'tools/list') return json(result(id, { tools: [TOOL] }))
  if (method === 'tools/call') return json(said(id, 'well'))
  return new Response(null, { status: 202 })
}
