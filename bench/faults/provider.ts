import { createServer, type Server, type Socket } from 'node:net'
import { requestIn } from '../mock-upstream.ts'

/** One request as a scripted provider sees it. `index` counts its requests from 0. */
export interface Call {
  readonly socket: Socket
  readonly model: string
  readonly isStream: boolean
  readonly index: number
}

/** What a provider does with a request: it writes bytes, or breaks the connection, or does nothing. */
export type Behaviour = (call: Call) => void

/** A provider in the bench's own process, so that its changes and the answers have one clock. */
export interface ScriptedProvider {
  readonly port: number
  /** Requests that arrived. */
  calls(): number
  behave(behaviour: Behaviour): void
  stop(): void
}

export async function startProvider(first: Behaviour): Promise<ScriptedProvider> {
  let behaviour = first
  let calls = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    let received: Buffer = Buffer.alloc(0)
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (bytes: Buffer) => {
      received = received.length === 0 ? bytes : Buffer.concat([received, bytes])
      if (received[0] === TLS_HANDSHAKE) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
      const request = requestIn(received)
      if (request === null) return
      const body = received.toString('latin1', request.start, request.end)
      received = received.subarray(request.end)
      const index = calls
      calls += 1
      behaviour({ socket, model: MODEL.exec(body)?.[1] ?? '', isStream: STREAM.test(body), index })
    })
  })
  const port = await listening(server)
  return {
    port,
    calls: () => calls,
    behave(next) {
      behaviour = next
    },
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** The first byte of TLS: these servers speak none. */
const TLS_HANDSHAKE = 0x16
const MODEL = /"model":\s*"([^"]+)"/
const STREAM = /"stream":\s*true/

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (typeof address === 'object' && address !== null) return address.port
  throw new Error('A scripted provider has no port.')
}
