/** The same through real sockets, where the server reads the bytes: hosts, framing, large bodies. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createApp } from '../../src/app.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'

let gateway: Gateway
let server: Bun.Server<undefined>

beforeAll(async () => {
  gateway = await startGateway()
  const maxRequestBodySize = 2 ** 40
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, maxRequestBodySize, fetch: createApp(gateway.deps) })
})
afterAll(async () => {
  await server.stop(true)
  await gateway.stop()
})

/** Sends bytes as they are; answers what comes back until the server closes or a whole reply was read. */
function raw(request: string): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  let text = ''
  const socket = connect(server.port ?? 0, '127.0.0.1', () => socket.write(request))
  const finish = () => resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), text })
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
    const [head = '', body] = text.split('\r\n\r\n', 2)
    const length = /content-length: (\d+)/i.exec(head)?.[1]
    if (body !== undefined && length !== undefined && body.length >= Number(length)) socket.end()
  })
  socket.on('close', finish)
  socket.on('error', reject)
  return promise
}
const get = (headers: string): string =>
  `GET /v1/key HTTP/1.1\r\n${headers}\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`
const post = (headers: string, body = ''): string =>
  `POST /v1/keys HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${MANAGEMENT_KEY}\r\n${headers}\r\n\r\n${body}`

test('a Content-Length that is repeated is named as such', async () => {
  const reply = await raw(post('Content-Length: 2\r\nContent-Length: 2', '{}'))
  expect(reply).toMatchObject({ status: 400 })
  expect(reply.text).toContain('The Content-Length header must be sent once')
})

describe('hosts', () => {
  const rows: [headers: string, status: number][] = [
    ['Host: a', 200],
    ['Host: my_service:4141', 200],
    ['Host: [::1]:4141', 200],
    ['Host: a\r\nHost: b', 400],
    ['Host: ', 400],
    ['Host: x/#@evil', 400],
    ['Host: a@b', 400],
    ['Host: x\\y', 400],
    ['X: y', 400],
  ]
  for (const [headers, status] of rows) {
    test(JSON.stringify(headers), async () => {
      expect(await raw(get(headers))).toMatchObject({ status })
    })
  }

  test('a path after a short host reaches no other route', async () => {
    const path = `GET /foo/v1/key HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`
    expect(await raw(path)).toMatchObject({ status: 404 })
  })
})

describe('framing that two servers could read differently is refused', () => {
  const body = '{"name":"a"}'
  const rows: [name: string, request: string][] = [
    ['length and chunks', post('Content-Length: 12\r\nTransfer-Encoding: chunked', body)],
    ['two lengths', post('Content-Length: 12\r\nContent-Length: 13', body)],
    ['a length with a sign', post('Content-Length: +12', body)],
    ['a length in hex', post('Content-Length: 0xc', body)],
    ['an unknown transfer coding', post('Transfer-Encoding: xchunked', body)],
    ['a blank before the colon', post('Content-Length : 12', body)],
    ['a NUL in a header', post('X: a\0b\r\nContent-Length: 12', body)],
  ]
  for (const [name, request] of rows) {
    test(name, async () => {
      expect(await raw(request)).toMatchObject({ status: 400 })
    })
  }
  test('the same body with one length is taken', async () => {
    expect(await raw(post('Content-Length: 12', body))).toMatchObject({ status: 200 })
  })
})

describe('large bodies', () => {
  const send = (path: string, key: string, body: BodyInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body,
    })
  const chunked = (megabytes: number): ReadableStream<Uint8Array> => {
    let left = megabytes
    return new ReadableStream({
      pull(controller) {
        if (left-- > 0) controller.enqueue(new Uint8Array(1_000_000).fill(0x20))
        else controller.close()
      },
    })
  }
  const blanks = (megabytes: number): Blob => new Blob([new Uint8Array(megabytes * 1_000_000).fill(0x20)])

  const rows: [
    name: string,
    path: string,
    key: string,
    body: () => BodyInit,
    status: number,
    words: string,
  ][] = [
    ['2 MB to administration', '/keys', MANAGEMENT_KEY, () => blanks(2), 413, '1 MB'],
    ['2 MB in chunks to administration', '/keys', MANAGEMENT_KEY, () => chunked(2), 413, '1 MB'],
    ['21 MB to inference', '/chat/completions', API_KEY, () => blanks(21), 413, '20 MB'],
    ['21 MB in chunks to inference', '/chat/completions', API_KEY, () => chunked(21), 413, '20 MB'],
    ['19 MB to inference', '/chat/completions', API_KEY, () => blanks(19), 400, 'malformed JSON'],
    ['30 MB without a valid key', '/chat/completions', 'x', () => blanks(30), 401, 'API key'],
    ['30 MB in chunks without a valid key', '/chat/completions', 'x', () => chunked(30), 401, 'API key'],
    ['30 MB to no route', '/nowhere', 'x', () => blanks(30), 404, 'There is no POST'],
  ]
  for (const [name, path, key, body, status, words] of rows) {
    test(name, async () => {
      const response = await send(path, key, body())
      const reply = await response.json()
      expect(reply).toMatchObject({ error: { code: status, message: expect.stringContaining(words) } })
      expect(response.status).toBe(status)
      expect(response.headers.get('x-request-id')).toMatch(/^req-/)
    })
  }

  test('an endless body is answered and not gathered', async () => {
    const before = process.memoryUsage.rss()
    const response = await send('/keys', MANAGEMENT_KEY, chunked(200))
    expect(response.status).toBe(413)
    await response.text()
    expect(process.memoryUsage.rss() - before).toBeLessThan(150_000_000)
  })
})

test('HEAD answers as GET does, without a body', async () => {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/key`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  expect(response.status).toBe(200)
  expect(await response.text()).toBe('')
})
