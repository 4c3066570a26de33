import { describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { newCancellation } from '../../src/core/cancellation.ts'
import { UpstreamError } from '../../src/core/errors.ts'
import { CHUNKED_HEAD, chunk, LAST_CHUNK, reply } from './scripted.ts'
import { SELF_SIGNED } from './self-signed.ts'
import { failureOf, outcomeOf, PATIENT, send } from './send.ts'
import { upstreamForFile } from './servers.ts'

const { upstream, serve } = upstreamForFile()

interface Fault {
  name: string
  script: (socket: Socket) => void
  /** What was sent before the end. */
  text: string
  /** Null: `send` itself throws. */
  status: number | null
  error: Partial<UpstreamError> | null
}

const CUT = { kind: 'connect', code: 'ECONNRESET' } as const
const BAD_HTTP = { kind: 'connect', code: 'InvalidHTTPResponse' } as const

/** Lets what was written leave before the connection is reset. */
const resetAfter = (socket: Socket, bytes: string): void => {
  socket.write(bytes, () => setImmediate(() => socket.resetAndDestroy()))
}

const FAULTS: Fault[] = [
  {
    name: 'a complete reply with a length',
    script: (socket) => socket.write(reply('hello')),
    text: 'hello',
    status: 200,
    error: null,
  },
  {
    name: 'a complete reply in chunks',
    script: (socket) => socket.write(CHUNKED_HEAD + chunk('hel') + chunk('lo') + LAST_CHUNK),
    text: 'hello',
    status: 200,
    error: null,
  },
  {
    name: 'a body that ends with the connection',
    script: (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nhello'),
    text: 'hello',
    status: 200,
    error: null,
  },
  {
    name: 'an error status with a body',
    script: (socket) => socket.write(reply('{"error":1}', '500 Oops')),
    text: '{"error":1}',
    status: 500,
    error: null,
  },
  {
    name: 'no body',
    script: (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'),
    text: '',
    status: 204,
    error: null,
  },
  { name: 'an empty body', script: (socket) => socket.write(reply('')), text: '', status: 200, error: null },
  {
    name: 'an interim reply first',
    script: (socket) => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${reply('hello')}`),
    text: 'hello',
    status: 200,
    error: null,
  },
  {
    name: 'FIN before the status line',
    script: (socket) => socket.end(),
    text: '',
    status: null,
    error: CUT,
  },
  {
    name: 'RST before the status line',
    script: (socket) => socket.resetAndDestroy(),
    text: '',
    status: null,
    error: CUT,
  },
  {
    name: 'FIN in the headers',
    script: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
    text: '',
    status: null,
    error: CUT,
  },
  {
    name: 'FIN after the headers',
    script: (socket) => socket.end(CHUNKED_HEAD),
    text: '',
    status: 200,
    error: CUT,
  },
  {
    name: 'FIN between chunks',
    script: (socket) => socket.end(CHUNKED_HEAD + chunk('hello')),
    text: 'hello',
    status: 200,
    error: CUT,
  },
  {
    name: 'FIN in a chunk',
    script: (socket) => socket.end(`${CHUNKED_HEAD}${chunk('hello')}5\r\nwor`),
    text: 'hellowor',
    status: 200,
    error: CUT,
  },
  {
    name: 'a content-length that is not reached',
    script: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello'),
    text: 'hello',
    status: 200,
    error: CUT,
  },
  {
    name: 'an invalid chunk size',
    script: (socket) => socket.write(`${CHUNKED_HEAD}ZZ\r\nhello\r\n`),
    text: '',
    status: 200,
    error: BAD_HTTP,
  },
  {
    name: 'invalid gzip, not requested',
    script: (socket) => socket.write(reply('hello', '200 OK', 'content-encoding: gzip\r\n')),
    text: '',
    status: 200,
    error: { kind: 'connect', code: 'ZlibError' },
  },
  ...[300, 301, 302, 303, 304, 307, 308].map((status) => ({
    name: `a ${status}`,
    script: (socket: Socket) =>
      socket.write(
        `HTTP/1.1 ${status} Elsewhere\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n`,
      ),
    text: '',
    status: null,
    error: { kind: 'connect' as const, status },
  })),
]

describe('what a provider does', () => {
  test.each(FAULTS)('$name', async ({ script, text, status, error }) => {
    const server = await serve(script)
    const outcome = await outcomeOf(send(upstream, server.url))
    expect(outcome.status).toBe(status)
    if (error === null) {
      expect(outcome).toMatchObject({ text, error: null })
    } else {
      // Bun's fetch may drop bytes that came in the same instant as the end of the connection.
      expect(text).toStartWith(outcome.text)
      expect(outcome.error).toBeInstanceOf(UpstreamError)
      expect(outcome.error).toMatchObject(error)
    }
    expect(server.requests).toHaveLength(1)
  })

  test.each(FAULTS)('$name, read as text', async ({ script, text, status, error }) => {
    const server = await serve(script)
    const reading = send(upstream, server.url).then((answer) => answer.text())
    if (error === null) expect(await reading).toBe(text)
    else expect(await failureOf(reading)).toMatchObject(status === null ? error : { kind: 'connect' })
  })

  test('what came before a later cut is delivered', async () => {
    const connected = Promise.withResolvers<Socket>()
    const server = await serve((socket) => {
      socket.write(CHUNKED_HEAD + chunk('hello'))
      connected.resolve(socket)
    })
    const answer = await send(upstream, server.url)
    const bytes = answer.bytes[Symbol.asyncIterator]()
    expect(await bytes.next()).toEqual({ done: false, value: Buffer.from('hello') })
    const socket = await connected.promise
    socket.end()
    expect(await failureOf(bytes.next())).toMatchObject(CUT)
  })

  test('RST in the body', async () => {
    const server = await serve((socket) => resetAfter(socket, CHUNKED_HEAD + chunk('hello')))
    const outcome = await outcomeOf(send(upstream, server.url))
    expect(outcome.error).toMatchObject(CUT)
    expect('hello').toStartWith(outcome.text)
  })

  test('gzip, unasked, is read all the same', async () => {
    const body = gzipSync('hello '.repeat(100))
    const server = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`)
      socket.write(body)
    })
    expect((await outcomeOf(send(upstream, server.url))).text).toBe('hello '.repeat(100))
  })

  test('a truncated gzip body is not complete', async () => {
    const body = gzipSync(crypto.getRandomValues(new Uint8Array(5000))).subarray(0, 2000)
    const server = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`)
      socket.write(body)
    })
    expect((await outcomeOf(send(upstream, server.url))).error).toMatchObject({ kind: 'connect' })
  })

  test('a pooled connection that dies is a failure to connect, and the request is not sent twice', async () => {
    const server = await serve((socket, index) => {
      if (index === 0) socket.write(reply('first'))
      else socket.destroy()
    })
    expect((await outcomeOf(send(upstream, server.url))).text).toBe('first')
    const outcome = await outcomeOf(send(upstream, server.url))
    expect(outcome).toMatchObject({ status: null, error: { kind: 'connect', code: 'ECONNRESET' } })
    expect(server.requests).toHaveLength(2)
  })
})

describe('no answer', () => {
  test('a refused connection', async () => {
    const server = await serve(() => undefined)
    server.stop()
    expect(await failureOf(send(upstream, server.url))).toMatchObject({
      kind: 'connect',
      code: 'ECONNREFUSED',
    })
  })

  test('a name that does not resolve, and nothing of the URL in the error', async () => {
    const failure = await failureOf(send(upstream, 'http://sluice-test.invalid/v1?key=secret-in-query'))
    expect(failure).toMatchObject({ kind: 'connect' })
    expect(Bun.inspect(failure)).not.toContain('secret-in-query')
  })

  test('a self-signed certificate', async () => {
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: SELF_SIGNED,
      fetch: () => new Response('no'),
    })
    expect(await failureOf(send(upstream, server.url.href))).toMatchObject({
      kind: 'connect',
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
    await server.stop(true)
  })

  test('a server that does not speak TLS', async () => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('no') })
    const failure = failureOf(send(upstream, `https://127.0.0.1:${server.port}/`))
    expect(await failure).toMatchObject({ kind: 'connect' })
    await server.stop(true)
  })

  const UNSENDABLE = [
    'file:///etc/hostname',
    'data:text/plain,hi',
    'ftp://example.com/',
    's3://a/b',
    'example.com',
    '',
  ]
  test.each(UNSENDABLE)('only http and https leave: %p', async (url) => {
    expect(await failureOf(send(upstream, url))).toMatchObject({ kind: 'connect' })
  })

  test('a header that cannot be sent leaks no value', async () => {
    const call = {
      method: 'GET',
      url: 'http://127.0.0.1:9/',
      headers: { 'x-api-key': 'secret\nvalue' },
      body: undefined,
    } as const
    const options = { group: 'lab', maxInFlight: 1, timeouts: PATIENT, cancellation: newCancellation() }
    const failure = await failureOf(upstream.send(call, options))
    expect(failure).toMatchObject({ kind: 'connect', code: null })
    expect(Bun.inspect(failure)).not.toContain('secret')
  })
})
