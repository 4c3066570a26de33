import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** Stands between the clients and the gateway and writes down what each sends and receives. */
export interface Recorder {
  readonly url: string
  /** The next exchanges belong to this client: they go to a file of its name. */
  begin(client: string): void
  stop(): Promise<void>
}

/** Asks for routing metadata, which names the parameters that were dropped; that a client bears it is tested so too. */
export function startRecorder(gateway: string, folder: string): Recorder {
  mkdirSync(folder, { recursive: true })
  let file = join(folder, 'before.jsonl')
  const write = (line: Record<string, unknown>): void => appendFileSync(file, `${JSON.stringify(line)}\n`)
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 120,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const path = `${pathname}${search}`
      const sent = await request.text()
      const headers = new Headers(request.headers)
      headers.set('x-service-metadata', 'enabled')
      headers.set('accept-encoding', 'identity')
      headers.delete('content-length')
      const reply = await fetch(`${gateway}${path}`, {
        method: request.method,
        headers,
        ...(sent === '' ? {} : { body: sent }),
        redirect: 'manual',
        signal: request.signal,
      })
      const [shown, kept] = reply.body?.tee() ?? [null, null]
      const entry = {
        method: request.method,
        path,
        headers: namesOf(request.headers),
        sent,
        status: reply.status,
      }
      new Response(kept).text().then(
        (received) => write({ ...entry, received }),
        (error: unknown) => write({ ...entry, error: String(error) }),
      )
      return new Response(shown, { status: reply.status, headers: reply.headers })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    begin(client) {
      file = join(folder, `${client.replaceAll(/[^\w.-]+/g, '-')}.jsonl`)
    },
    stop: () => server.stop(true),
  }
}

/** Without the values of credentials. */
const namesOf = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    [...headers].map(([name, value]) => [name, /authorization|api-key|goog-api/.test(name) ? '…' : value]),
  )
