import { createServer, type Socket } from 'node:net'

export interface ScriptedServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  readonly port: number
  /** Requests whose header has come. */
  readonly requests: string[]
  /** Resolves with `performance.now()` when the n-th connection (from 0) is closed. */
  closed(connection?: number): Promise<number>
  stop(): void
}

/**
 * A server that speaks raw bytes, so that it can misbehave. The script runs once per request; `index` counts
 * requests over all connections.
 */
export async function scriptedServer(
  script: (socket: Socket, index: number) => void,
  host = '127.0.0.1',
  port = 0,
): Promise<ScriptedServer> {
  const requests: string[] = []
  const sockets: Socket[] = []
  const closings: PromiseWithResolvers<number>[] = []
  const closingOf = (connection: number): PromiseWithResolvers<number> => {
    closings[connection] ??= Promise.withResolvers<number>()
    return closings[connection]
  }
  const server = createServer((socket) => {
    const connection = sockets.push(socket) - 1
    let received = ''
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => closingOf(connection).resolve(performance.now()))
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      if (!received.includes('\r\n\r\n')) return
      requests.push(received)
      received = ''
      script(socket, requests.length - 1)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://${host}:${bound}`,
    port: bound,
    requests,
    closed: (connection = 0) => closingOf(connection).promise,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

export const CHUNKED_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'

/** One chunk of HTTP/1.1's chunked coding. */
export const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

export const LAST_CHUNK = '0\r\n\r\n'

/** A complete reply with a length. */
export const reply = (body: string, status = '200 OK', headers = ''): string =>
  `HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`
