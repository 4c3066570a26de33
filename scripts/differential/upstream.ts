/** The provider of every case. A case is known by its model's name, `case-00001`, in the address or in the body. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import type { Case, Reply } from './cases.ts'

export const modelOf = (index: number): string => `case-${String(index).padStart(5, '0')}`
const MODEL = /case-(\d{5})/

export interface Upstream {
  readonly port: number
  /** What arrived for each case: address and body of every call. */
  readonly calls: Map<number, string[]>
  stop(): void
}

export async function startUpstream(cases: readonly Case[]): Promise<Upstream> {
  const calls = new Map<number, string[]>()
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const text = await textOf(request)
    const index = Number((MODEL.exec(path) ?? MODEL.exec(text))?.[1] ?? -1)
    const found = cases[index]
    const seen = calls.get(index) ?? []
    calls.set(index, seen)
    seen.push(`${path} ${text}`)
    const reply = found?.replies[Math.min(seen.length, found.replies.length) - 1]
    if (reply) send(reply, response)
    else response.writeHead(404).end('no such case')
  }
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    calls,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Long enough for both builds to read the sent bytes: Bun drops unread bytes when the connection breaks. */
const READ_MS = 80

/** A truncated reply: every byte arrives, then the connection ends inside a chunked body. */
function send({ status, headers, body, isTruncated }: Reply, response: ServerResponse): void {
  response.writeHead(status, headers)
  if (isTruncated !== true) return void response.end(body)
  response.flushHeaders()
  response.write(body)
  setTimeout(() => response.socket?.end(), READ_MS)
}
